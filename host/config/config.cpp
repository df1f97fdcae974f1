// The merged values: types, choices, where each came from. Reading TOML is in toml.cpp.
#include "host/config/config.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gantry {
namespace {

const OptionSpec* find_spec(std::string_view key) {
  for (const OptionSpec& spec : host_options())
    if (spec.key == key) return &spec;
  return nullptr;
}

std::string_view type_text(const OptionValue& v) {
  switch (v.index()) {
    case 0:
      return "true or false";
    case 1:
      return "an integer";
    case 2:
      return "a number";
    case 3:
      return "a string";
    default:
      return "a list of strings";
  }
}

std::string in_quotes(std::string_view s) {
  std::string r = "\"";
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      r += '\\';
      r += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view digits = "0123456789abcdef";
      r += "\\u00";
      r += digits[byte >> 4];
      r += digits[byte & 15];
    } else {
      r += c;
    }
  }
  return r + '"';
}

std::string number_text(double d) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, d).ptr;
  std::string text(buffer, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(const OptionValue& v) {
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&v)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&v)) return number_text(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return in_quotes(*s);
  std::string text;
  for (const std::string& s : std::get<std::vector<std::string>>(v)) text += (text.empty() ? "" : ", ") + in_quotes(s);
  return "[" + text + "]";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

Diagnostic bad_value(const OptionSpec& spec, std::string what, std::string_view origin) {
  return error(Code::config_bad_value, spec.key + " must be " + std::move(what)).at(origin);
}

Status check_range(const OptionSpec& spec, const OptionValue& value, std::string_view origin) {
  const auto* d = std::get_if<double>(&value);
  const auto* i = std::get_if<std::int64_t>(&value);
  if (!d && !i) return {};
  const double number = d ? *d : static_cast<double>(*i);
  if (std::isfinite(spec.at_least) && !(std::isfinite(number) && number >= spec.at_least))
    return bad_value(spec,
                     std::string(type_text(value)) + ", at least " + std::to_string(std::llround(spec.at_least)) +
                         ", not " + toml_text(value),
                     origin);
  return {};
}

}  // namespace

Config::Config() {
  for (const OptionSpec& spec : host_options()) values_[spec.key] = {spec.default_value, "default"};
}

Status Config::set(std::string_view key, OptionValue value, std::string_view origin) {
  const OptionSpec* spec = find_spec(key);
  if (!spec) {
    std::vector<std::string> keys;
    for (const OptionSpec& s : host_options()) keys.push_back(s.key);
    Diagnostic d = error(Code::config_unknown_key, "there is no option " + std::string(key)).at(origin);
    const std::string nearest = nearest_name(key, keys);
    return std::move(d).try_this(nearest.empty() ? "docs/cli.md and configs/default.toml list the options"
                                                 : "did you mean " + nearest + "?");
  }
  if (std::holds_alternative<double>(spec->default_value) && std::holds_alternative<std::int64_t>(value))
    value = static_cast<double>(std::get<std::int64_t>(value));
  if (value.index() != spec->default_value.index())
    return bad_value(*spec, std::string(type_text(spec->default_value)) + ", not " + toml_text(value), origin);
  if (!spec->choices.empty()) {
    const std::string& word = std::get<std::string>(value);
    if (std::find(spec->choices.begin(), spec->choices.end(), word) == spec->choices.end()) {
      const std::string nearest = nearest_name(word, spec->choices);
      Diagnostic d = bad_value(
          *spec, (spec->choices.size() > 1 ? "one of " : "") + joined(spec->choices) + ", not " + in_quotes(word),
          origin);
      return nearest.empty() ? d : std::move(d).try_this("did you mean " + nearest + "?");
    }
  }
  GANTRY_TRY(check_range(*spec, value, origin));
  values_[spec->key] = {std::move(value), std::string(origin)};
  return {};
}

bool Config::get_bool(std::string_view key) const { return std::get<bool>(values_.find(key)->second.value); }
std::int64_t Config::get_int(std::string_view key) const {
  return std::get<std::int64_t>(values_.find(key)->second.value);
}
double Config::get_float(std::string_view key) const { return std::get<double>(values_.find(key)->second.value); }
const std::string& Config::get_string(std::string_view key) const {
  return std::get<std::string>(values_.find(key)->second.value);
}
const std::vector<std::string>& Config::get_strings(std::string_view key) const {
  return std::get<std::vector<std::string>>(values_.find(key)->second.value);
}

std::string Config::origin(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? std::string{} : it->second.origin;
}

const std::map<std::string, Config::PluginSetting, std::less<>>& Config::plugin_settings(
    std::string_view plugin_id) const {
  static const std::map<std::string, PluginSetting, std::less<>> none;
  const auto it = plugins_.find(plugin_id);
  return it == plugins_.end() ? none : it->second;
}

std::vector<std::string> Config::configured_plugins() const {
  std::vector<std::string> ids;
  for (const auto& [id, settings] : plugins_) ids.push_back(id);
  return ids;
}

std::vector<std::pair<std::string, std::string>> Config::changed() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [key, entry] : values_)
    if (entry.origin != "default") rows.emplace_back(key + "=" + toml_text(entry.value), entry.origin);
  for (const auto& [id, settings] : plugins_)
    for (const auto& [name, setting] : settings)
      rows.emplace_back("plugins.\"" + id + "\"." + name + "=" + toml_text(setting.value), setting.origin);
  return rows;
}

}  // namespace gantry
