// gantry completion SHELL: prints the script, made from the table of commands.
#include <algorithm>
#include <functional>

#include "host/cli/invocation.hpp"

namespace gantry::cli {
namespace {

/// First words of the commands, each once; for a group its second words.
std::vector<std::string> names_in(std::string_view group) {
  std::vector<std::string> names;
  for (const Command& c : all_commands()) {
    const std::size_t space = c.name.find(' ');
    std::string name;
    if (group.empty())
      name = c.name.substr(0, space);
    else if (c.name.starts_with(std::string(group) + " "))
      name = c.name.substr(space + 1);
    if (!name.empty() && (names.empty() || names.back() != name)) names.push_back(name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator = " ") {
  std::string text;
  for (const std::string& w : words) text.append(text.empty() ? "" : separator).append(w);
  return text;
}

std::vector<std::string> spellings(const Flag& f) {
  return f.letter.empty() ? std::vector{f.name} : std::vector{"-" + f.letter, f.name};
}

const std::vector<std::string> kHelp{"-h", "--help"};

// ---- bash ----

std::string bash_command(const Command& c) {
  std::vector<std::string> words = kHelp;
  std::string values;
  for (const Flag& f : c.flags) {
    for (const std::string& s : spellings(f)) words.push_back(s);
    if (f.value.empty()) continue;
    std::string action = ":";
    if (f.complete == Complete::file) action = "COMPREPLY=($(compgen -f -- \"$cur\"))";
    if (f.complete == Complete::folder) action = "COMPREPLY=($(compgen -d -- \"$cur\"))";
    if (f.complete == Complete::words) action = "COMPREPLY=($(compgen -W '" + joined(f.words) + "' -- \"$cur\"))";
    values += "        " + joined(spellings(f), "|") + ") " + action + "; return ;;\n";
  }
  std::string operands;
  for (const Positional& p : c.positionals) {
    if (p.complete == Complete::file) operands = "COMPREPLY=($(compgen -f -- \"$cur\"))";
    if (p.complete == Complete::words) operands = "COMPREPLY=($(compgen -W '" + joined(p.words) + "' -- \"$cur\"))";
  }
  std::string text = "    '" + c.name + "')\n";
  if (!values.empty()) text += "      case \"$prev\" in\n" + values + "      esac\n";
  text += "      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '" + joined(words) + "' -- \"$cur\"))\n";
  if (!operands.empty()) text += "      else " + operands + "\n";
  return text + "      fi ;;\n";
}

std::string bash_script() {
  std::string text =
      "# bash completion of gantry: source <(gantry completion bash)\n"
      "_gantry() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '" +
      joined(names_in("")) +
      " --help --version' -- \"$cur\")); return\n"
      "  fi\n"
      "  local command=${COMP_WORDS[1]}\n"
      "  if [[ $command == plugin ]]; then\n"
      "    if ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W '" +
      joined(names_in("plugin")) +
      "' -- \"$cur\")); return; fi\n"
      "    command=\"plugin ${COMP_WORDS[2]}\"\n"
      "  fi\n"
      "  case \"$command\" in\n";
  for (const Command& c : all_commands()) text += bash_command(c);
  return text + "  esac\n}\ncomplete -o filenames -F _gantry gantry\n";
}

// ---- zsh ----

std::string zsh_text(std::string_view s) {  // within '...' and [...] of _arguments
  std::string text;
  for (const char c : s) {
    if (c == '\'')
      text += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      text += std::string("\\") + c;
    else
      text += c;
  }
  return text;
}

std::string zsh_action(Complete complete, const std::vector<std::string>& words) {
  switch (complete) {
    case Complete::file:
      return "_files";
    case Complete::folder:
      return "_files -/";
    case Complete::words:
      return "(" + joined(words) + ")";
    case Complete::none:
      break;
  }
  return " ";
}

std::string zsh_command(const Command& c) {
  std::string text = "    '" + c.name + "') _arguments '(- *)'{-h,--help}'[Print this help]'";
  for (const Flag& f : c.flags) {
    const std::string value = f.value.empty() ? "" : ":" + f.value + ":" + zsh_action(f.complete, f.words);
    for (const std::string& s : spellings(f))
      text += " \\\n      '" + std::string(f.repeat ? "*" : "") + s + "[" + zsh_text(f.help) + "]" + value + "'";
  }
  for (const Positional& p : c.positionals)
    text += std::string(" \\\n      '") + (p.repeat ? "*" : "") + ":" + (p.required ? "" : ":") + p.name + ":" +
            zsh_action(p.complete, p.words) + "'";
  return text + " ;;\n";
}

std::string zsh_script() {
  std::string text =
      "#compdef gantry\n"
      "# zsh completion of gantry: gantry completion zsh > a folder of $fpath, as _gantry\n"
      "_gantry() {\n"
      "  if ((CURRENT == 2)); then compadd -- " +
      joined(names_in("")) +
      " --help --version; return; fi\n"
      "  local command=$words[2]\n"
      "  if [[ $command == plugin ]]; then\n"
      "    if ((CURRENT == 3)); then compadd -- " +
      joined(names_in("plugin")) +
      "; return; fi\n"
      "    command=\"plugin $words[3]\"\n"
      "    shift words; ((CURRENT--))\n"
      "  fi\n"
      "  shift words; ((CURRENT--))\n"
      "  case $command in\n";
  for (const Command& c : all_commands()) text += zsh_command(c);
  // As a file of $fpath its first call is the completion itself; sourced, it only registers.
  return text + "  esac\n}\nif [[ $funcstack[1] == _gantry ]]; then _gantry \"$@\"; else compdef _gantry gantry; fi\n";
}

// ---- fish ----

std::string fish_text(std::string_view s) {
  std::string text = "'";
  for (const char c : s) text += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return text + "'";
}

std::string fish_command(const Command& c) {
  const std::size_t space = c.name.find(' ');
  std::string condition = "__fish_seen_subcommand_from " + c.name.substr(0, space);
  if (space != std::string::npos) condition += "; and __fish_seen_subcommand_from " + c.name.substr(space + 1);
  const std::string start = "complete -c gantry -n " + fish_text(condition);
  std::string text;
  for (const Flag& f : c.flags) {
    text += start + (f.letter.empty() ? "" : " -s " + f.letter) + " -l " + f.name.substr(2);
    if (!f.value.empty()) text += f.complete == Complete::file ? " -rF" : " -x";
    if (f.complete == Complete::folder) text += " -a '(__fish_complete_directories)'";
    if (f.complete == Complete::words) text += " -a " + fish_text(joined(f.words));
    text += " -d " + fish_text(f.help) + "\n";
  }
  for (const Positional& p : c.positionals) {
    if (p.complete == Complete::file) text += start + " -F\n";
    if (p.complete == Complete::words) text += start + " -a " + fish_text(joined(p.words)) + "\n";
  }
  return text;
}

std::string fish_script() {
  std::string text =
      "# fish completion of gantry: gantry completion fish > ~/.config/fish/completions/gantry.fish\ncomplete -c "
      "gantry -f\n";
  for (const Command& c : all_commands()) {
    const std::size_t space = c.name.find(' ');
    const std::string word = c.name.substr(space == std::string::npos ? 0 : space + 1);
    const std::string condition =
        space == std::string::npos
            ? "__fish_use_subcommand"
            : "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from " + joined(names_in("plugin"));
    text += "complete -c gantry -n " + fish_text(condition) + " -a " + word + " -d " + fish_text(c.help) + "\n";
  }
  text += "complete -c gantry -n __fish_use_subcommand -a plugin -d 'Look at plugins'\n";
  for (const Command& c : all_commands()) text += fish_command(c);
  return text;
}

Status run(Invocation& run) {
  const std::string& shell = run.args.get("SHELL");
  if (shell == "bash")
    run.out(bash_script());
  else if (shell == "zsh")
    run.out(zsh_script());
  else if (shell == "fish")
    run.out(fish_script());
  else
    return error(Code::usage, "no completion for the shell " + shell).try_this("bash, zsh or fish");
  return {};
}

}  // namespace

Command completion_command() {
  return {
      .name = "completion",
      .help = "Print the completion script of a shell",
      .positionals = {{.name = "SHELL",
                       .help = "bash, zsh or fish",
                       .complete = Complete::words,
                       .words = {"bash", "zsh", "fish"}}},
      .flags = {},
      .run = run,
      .uses_config = false,
      .ends_with_line = false,
  };
}

}  // namespace gantry::cli
