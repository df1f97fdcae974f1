#include "host/cli/parse.hpp"

#include <deque>

#include <CLI/CLI.hpp>

#include "host/config/config.hpp"
#include "host/plugins/abi_version.hpp"
#include "host/version.hpp"

namespace gantry::cli {
namespace {

/// A command as CLI11 sees it. The deques do not move what CLI11 writes into.
struct Bound {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::deque<std::pair<const Flag*, CLI::Option*>> flags;
  std::deque<std::pair<const Positional*, CLI::Option*>> positionals;
};

std::string version_text() {
  std::string build = "release";
#ifndef NDEBUG
  build = "debug";
#endif
#ifdef __SANITIZE_ADDRESS__
  build += " with sanitizers";
#endif
  return "gantry " + std::string(kVersion) + " (plugin ABI " + abi_version() + ", " + build + " build)\n";
}

/// CLI11's help, with a usage line that says what one types.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }

 private:
  std::string usage_;
};

std::string usage_of(const Command& command) {
  if (!command.usage.empty()) return "gantry " + command.name + " " + command.usage;
  std::string text = "gantry " + command.name;
  for (const Positional& p : command.positionals)
    text += (p.required ? " " + p.name : " [" + p.name + "]") + (p.repeat ? "..." : "");
  return text + (command.flags.empty() ? "" : " [options]");
}

CLI::App* subcommand(CLI::App& parent, const std::string& name, const std::string& help) {
  for (CLI::App* known : parent.get_subcommands([&](const CLI::App* a) { return a->get_name() == name; })) return known;
  CLI::App* app = parent.add_subcommand(name, help);
  app->allow_extras();
  app->require_subcommand(0, 1);
  app->set_help_flag("-h,--help", "Print this help");
  return app;
}

/// Every value stays a string: what it must look like is for the command to say, in its own words.
void bind(Bound& bound) {
  bound.app->formatter(std::make_shared<HelpFormatter>(usage_of(*bound.command)));
  for (const Positional& p : bound.command->positionals) {
    CLI::Option* option = bound.app->add_option(p.name, p.help)->type_size(1)->expected(1)->type_name(" ");
    if (p.repeat) {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(true);
    }
    bound.positionals.emplace_back(&p, option);
  }
  for (const Flag& f : bound.command->flags) {
    const std::string names = f.letter.empty() ? f.name : "-" + f.letter + "," + f.name;
    CLI::Option* option = nullptr;
    if (f.value.empty()) {
      option = bound.app->add_flag(names, f.help);
    } else {
      option = bound.app->add_option(names, f.help)->type_size(1)->type_name(f.value)->allow_extra_args(false);
      option->expected(1);
      option->multi_option_policy(f.repeat ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::Throw);
      if (f.repeat) option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
    }
    bound.flags.emplace_back(&f, option);
  }
}

std::vector<Bound> build(CLI::App& root, const std::vector<Command>& commands) {
  root.allow_extras();
  root.require_subcommand(0, 1);
  root.set_help_flag("-h,--help", "Print this help");
  root.formatter(std::make_shared<HelpFormatter>("gantry COMMAND ...      gantry COMMAND --help"));
  root.set_version_flag("--version", version_text(), "Print the version and that of the plugin ABI");
  std::vector<Bound> all;
  for (const Command& command : commands) {
    const std::size_t space = command.name.find(' ');
    CLI::App* parent = &root;
    if (space != std::string::npos) {
      const std::string group = command.name.substr(0, space);
      parent = subcommand(root, group, "Look at plugins");
      parent->formatter(std::make_shared<HelpFormatter>("gantry " + group + " COMMAND ..."));
    }
    Bound bound;
    bound.command = &command;
    bound.app = subcommand(*parent, command.name.substr(space == std::string::npos ? 0 : space + 1), command.help);
    all.push_back(std::move(bound));
  }
  for (Bound& bound : all) bind(bound);
  return all;
}

const Bound* chosen(const std::vector<Bound>& all) {
  for (const Bound& bound : all)
    if (bound.app->parsed() && bound.app->get_parent()->parsed()) return &bound;
  return nullptr;
}

Diagnostic with_nearest(Diagnostic d, std::string_view wanted, const std::vector<std::string>& names,
                        std::string otherwise) {
  const std::string nearest = nearest_name(wanted, names);
  return std::move(d).try_this(nearest.empty() ? std::move(otherwise) : "did you mean " + nearest + "?");
}

Diagnostic unknown_argument(const Command& command, const std::vector<std::string>& extras) {
  const std::string help = "gantry " + command.name + " --help lists the options";
  for (const std::string& extra : extras) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string> names;
    for (const Flag& f : command.flags) names.push_back(f.name);
    return with_nearest(error(Code::usage, "gantry " + command.name + " has no option " + name), name, names, help);
  }
  return error(Code::usage, "gantry " + command.name + " does not know what to do with \"" + extras.front() + "\"")
      .try_this(help);
}

Diagnostic no_command(const std::vector<Command>& commands, const std::vector<std::string>& extras,
                      const std::string& group) {
  std::vector<std::string> names;
  std::string list;
  for (const Command& c : commands) {
    const std::size_t space = c.name.find(' ');
    if (!group.empty() && !c.name.starts_with(group + " ")) continue;
    const std::string name = group.empty() ? c.name.substr(0, space) : c.name.substr(space + 1);
    if (!names.empty() && names.back() == name) continue;
    names.push_back(name);
    list += (list.empty() ? "" : ", ") + name;
  }
  const std::string prefix = group.empty() ? "gantry" : "gantry " + group;
  const std::string help = "the commands of " + prefix + " are " + list;
  if (extras.empty()) return error(Code::usage, prefix + " needs a command").try_this(help);
  const std::string kind = extras.front().starts_with("-") ? "option " : "command ";
  return with_nearest(error(Code::usage, prefix + " has no " + kind + extras.front()), extras.front(), names, help);
}

Result<ParsedLine> collect(const Bound& bound) {
  ParsedLine line;
  line.command = bound.command;
  for (const auto& [flag, option] : bound.flags)
    for (const std::string& value : option->results()) line.arguments.add(flag->name, value);
  for (const auto& [positional, option] : bound.positionals) {
    for (const std::string& value : option->results()) line.arguments.add(positional->name, value);
    if (positional->required && option->count() == 0)
      return error(Code::usage, "gantry " + bound.command->name + " needs " + positional->name)
          .try_this("gantry " + bound.command->name + " --help shows how");
  }
  return line;
}

}  // namespace

Result<ParsedLine> parse_line(const std::vector<Command>& commands, int argc, const char* const* argv) {
  CLI::App root{"Converts neural networks: ONNX to TFLite", "gantry"};
  const std::vector<Bound> all = build(root, commands);
  ParsedLine line;
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.text = root.help();
    return line;
  } catch (const CLI::CallForVersion& e) {
    line.text = e.what();
    return line;
  } catch (const CLI::ParseError& e) {
    return error(Code::usage, e.what()).try_this("gantry --help");
  }
  const std::vector<std::string> extras = root.remaining(true);
  const Bound* bound = chosen(all);
  if (!bound) {
    const CLI::App* group = root.get_subcommands().empty() ? nullptr : root.get_subcommands().front();
    return no_command(commands, extras, group ? group->get_name() : std::string{});
  }
  if (!extras.empty()) return unknown_argument(*bound->command, extras);
  return collect(*bound);
}

}  // namespace gantry::cli
