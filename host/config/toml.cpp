// TOML into a Config: files, and the "key=value" of --set. The only code of this folder that knows toml++.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <toml++/toml.h>

#include "host/config/config.hpp"

namespace gantry {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;  // a configuration is written by hand
constexpr std::string_view kSettingOrigin = "--set";

/// A leaf of a TOML document: plugins."a.b".c has path {plugins, a.b, c}.
struct Leaf {
  std::vector<std::string> path;
  OptionValue value;
  std::string origin;
};

std::string key_text(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) {
    const bool quote = part.empty() || part.find('.') != std::string::npos;
    text += (text.empty() ? "" : ".") + (quote ? '"' + part + '"' : part);
  }
  return text;
}

std::string place(std::string_view file, const toml::source_position& p) {
  return std::string(file) + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
}

Result<OptionValue> leaf_value(const toml::node& node, const std::string& key, const std::string& origin) {
  if (const auto* b = node.as_boolean()) return OptionValue(b->get());
  if (const auto* i = node.as_integer()) return OptionValue(i->get());
  if (const auto* d = node.as_floating_point()) return OptionValue(d->get());
  if (const auto* s = node.as_string()) return OptionValue(s->get());
  if (const auto* list = node.as_array()) {
    std::vector<std::string> words;
    for (const toml::node& element : *list) {
      const auto* word = element.as_string();
      if (!word) return error(Code::config_bad_value, key + " may hold strings only").at(origin);
      words.push_back(word->get());
    }
    return OptionValue(std::move(words));
  }
  return error(Code::config_bad_value, key + " cannot be a date or a time").at(origin);
}

bool is_section(const std::string& name) {
  return std::any_of(host_options().begin(), host_options().end(),
                     [&](const OptionSpec& s) { return s.key.starts_with(name + "."); });
}

/// A table where none may stand: a section that does not exist, or an option written as a section.
Status check_table(const std::vector<std::string>& path, const std::string& origin) {
  const std::string key = key_text(path);
  for (const OptionSpec& spec : host_options())
    if (spec.key == key) return error(Code::config_bad_value, key + " is an option, not a section").at(origin);
  if (is_section(key) || (path.size() == 2 && path[0] == "plugins")) return {};
  if (path.size() > 2 && path[0] == "plugins")
    return error(Code::config_bad_value, key + " cannot be a table")
        .at(origin)
        .try_this("write a plugin's identifier in quotes: [plugins.\"org.example.name\"]");
  std::vector<std::string> sections{"plugins"};
  for (const OptionSpec& spec : host_options())
    for (std::size_t dot = spec.key.find('.'); dot != std::string::npos; dot = spec.key.find('.', dot + 1))
      sections.push_back(spec.key.substr(0, dot));
  Diagnostic d = error(Code::config_unknown_key, "there is no section " + key).at(origin);
  const std::string nearest = nearest_name(key, sections);
  return nearest.empty() ? d : std::move(d).try_this("did you mean " + nearest + "?");
}

/// Depth is bounded by toml++ itself.
Status collect(const toml::table& table, std::string_view file, std::vector<std::string>& path,
               std::vector<Leaf>& leaves) {
  for (const auto& [key, node] : table) {
    path.emplace_back(key.str());
    const std::string origin = place(file, key.source().begin);
    if (const auto* inner = node.as_table()) {
      GANTRY_TRY(check_table(path, origin));
      GANTRY_TRY(collect(*inner, file, path, leaves));
    } else {
      GANTRY_ASSIGN(OptionValue value, leaf_value(node, key_text(path), origin));
      leaves.push_back({path, std::move(value), origin});
    }
    path.pop_back();
  }
  return {};
}

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    return error(Code::config_syntax, std::string(e.description())).at(place(file, e.source().begin));
  } catch (const std::exception& e) {  // toml++ reports a failed allocation and the like so
    return error(Code::config_syntax, e.what()).at(file);
  }
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) {
    return error(Code::config_not_found,
                 "there is no configuration file " + path.string() + (ec ? ": " + ec.message() : ""))
        .at(path.string());
  }
  if (std::filesystem::is_directory(path, ec))
    return error(Code::config_not_found, path.string() + " is a folder, not a configuration file").at(path.string());
  std::ifstream in(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad())
    return error(Code::config_not_found, "cannot read " + path.string() + ": " + std::strerror(errno))
        .at(path.string());
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile)
    return error(Code::config_syntax, path.string() + " is larger than 1 MiB, which no configuration is")
        .at(path.string());
  return text;
}

/// Paths of a file are relative to its folder.
void resolve_paths(Leaf& leaf, const std::filesystem::path& folder) {
  const std::string key = key_text(leaf.path);
  const auto& options = host_options();
  const auto spec = std::find_if(options.begin(), options.end(), [&](const OptionSpec& s) { return s.key == key; });
  if (spec == options.end() || !spec->is_path) return;
  const auto resolve = [&](std::string& p) {
    if (!p.empty()) p = (folder / p).lexically_normal().string();
  };
  if (auto* one = std::get_if<std::string>(&leaf.value)) resolve(*one);
  if (auto* many = std::get_if<std::vector<std::string>>(&leaf.value))
    std::for_each(many->begin(), many->end(), resolve);
}

/// The option table's own key, or {plugins, identifier, option}, from what was typed before "=".
std::vector<std::string> split_key(std::string_view key) {
  constexpr std::string_view section = "plugins.";
  const bool host =
      std::any_of(host_options().begin(), host_options().end(), [&](const OptionSpec& s) { return s.key == key; });
  const std::size_t last = key.rfind('.');
  if (host || !key.starts_with(section) || last < section.size()) return {std::string(key)};
  std::string_view id = key.substr(section.size(), last - section.size());
  if (id.size() >= 2 && id.front() == id.back() && (id.front() == '"' || id.front() == '\''))
    id = id.substr(1, id.size() - 2);
  return {"plugins", std::string(id), std::string(key.substr(last + 1))};
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (comma != 0) words.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return words;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// The text after "=": TOML if it reads as one value, else the bare word itself.
Result<OptionValue> setting_value(std::string_view text, const std::string& key, bool wants_string, bool wants_list) {
  const bool bracketed = !text.empty() && std::string_view("\"'[{").find(text.front()) != std::string_view::npos;
  auto document = parse_toml("v = " + std::string(text), std::string(kSettingOrigin));
  const bool one_value = document.ok() && document->size() == 1 && document->contains("v");
  if (!one_value && bracketed)
    return error(Code::config_syntax, "the value of " + key + " is not TOML: " +
                                          (document.ok() ? "more than one value" : document.error().message))
        .at(kSettingOrigin);
  if (!bracketed && wants_list) return OptionValue(split_words(text));
  if (!one_value || (!bracketed && wants_string)) return OptionValue(std::string(text));
  const toml::node& node = *document->get("v");
  if (node.is_table()) return error(Code::config_bad_value, key + " cannot be a table").at(kSettingOrigin);
  if (node.is_date() || node.is_time() || node.is_date_time()) return OptionValue(std::string(text));
  return leaf_value(node, key, std::string(kSettingOrigin));
}

}  // namespace

Status Config::merge_file(const std::filesystem::path& path) {
  GANTRY_ASSIGN(const std::string text, read_file(path));
  GANTRY_ASSIGN(const toml::table table, parse_toml(text, path.string()));
  std::vector<std::string> prefix;
  std::vector<Leaf> leaves;
  GANTRY_TRY(collect(table, path.string(), prefix, leaves));
  for (Leaf& leaf : leaves) {
    if (leaf.path.size() == 3 && leaf.path[0] == "plugins") {
      plugins_[leaf.path[1]][leaf.path[2]] = {std::move(leaf.value), std::move(leaf.origin)};
      continue;
    }
    resolve_paths(leaf, path.parent_path());
    GANTRY_TRY(set(key_text(leaf.path), std::move(leaf.value), leaf.origin));
  }
  return {};
}

Status Config::merge_setting(std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return error(Code::config_syntax, "--set wants key=value, not \"" + std::string(setting) + "\"")
        .at(kSettingOrigin)
        .try_this("for instance --set verify.atol=1e-3");
  const std::string key(trim(setting.substr(0, equals)));
  const std::vector<std::string> path = split_key(key);
  const auto entry = values_.find(key);
  const bool wants_string = entry != values_.end() && std::holds_alternative<std::string>(entry->second.value);
  const bool wants_list =
      entry != values_.end() && std::holds_alternative<std::vector<std::string>>(entry->second.value);
  GANTRY_ASSIGN(OptionValue value, setting_value(trim(setting.substr(equals + 1)), key, wants_string, wants_list));
  if (path.size() == 3) {
    plugins_[path[1]][path[2]] = {std::move(value), std::string(kSettingOrigin)};
    return {};
  }
  return set(key, std::move(value), kSettingOrigin);
}

}  // namespace gantry
