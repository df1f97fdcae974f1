// Options from TOML files and the command line: one declared table, merged in a fixed order, each value with where it
// came from. Order, later wins: built-in default, configs/default.toml, the user's file (XDG), --config files in order,
// --set key=value in order, options of their own (--io-layout...).
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/ir/result.hpp"
#include "host/report/nearest.hpp"  // nearest_name

namespace gantry {

using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct OptionSpec {
  std::string key;                                             // dotted, e.g. "verify.atol"
  OptionValue default_value;                                   // also fixes the type
  std::string help;                                            // one line
  std::vector<std::string> choices{};                          // for strings; empty = any
  double at_least = -std::numeric_limits<double>::infinity();  // for numbers
  bool is_path = false;  // a relative path in a file is relative to that file's folder
};

/// The host's own options. A plugin's are declared in its descriptor and live under [plugins."ID"].
const std::vector<OptionSpec>& host_options();

class Config {
 public:
  Config();  // the built-in defaults

  /// Errors: config_not_found, config_syntax (file:line:column), config_unknown_key with the nearest name,
  /// config_bad_value. Keys under plugins."ID" are kept unchecked until the plugin is known.
  Status merge_file(const std::filesystem::path& path);
  /// "key=value" of --set; the value is TOML, or a bare word taken as a string (for a list: words with commas between).
  /// A plugin's option is plugins.ID.OPTION, the identifier with or without quotes.
  Status merge_setting(std::string_view setting);
  Status set(std::string_view key, OptionValue value, std::string_view origin);

  bool get_bool(std::string_view key) const;
  std::int64_t get_int(std::string_view key) const;
  double get_float(std::string_view key) const;
  const std::string& get_string(std::string_view key) const;
  const std::vector<std::string>& get_strings(std::string_view key) const;
  /// "default", "FILE:LINE:COL", "--set", "--verify"...
  std::string origin(std::string_view key) const;

  /// Settings of one plugin: option -> (value, origin).
  struct PluginSetting {
    OptionValue value;
    std::string origin;
  };
  const std::map<std::string, PluginSetting, std::less<>>& plugin_settings(std::string_view plugin_id) const;
  /// Plugin identifiers that have settings (to report one that no manifest knows).
  std::vector<std::string> configured_plugins() const;

  /// ("key=value" as TOML, origin) of everything that is not default, for the report.
  std::vector<std::pair<std::string, std::string>> changed() const;

 private:
  struct Entry {
    OptionValue value;
    std::string origin;
  };
  std::map<std::string, Entry, std::less<>> values_;
  std::map<std::string, std::map<std::string, PluginSetting, std::less<>>, std::less<>> plugins_;
};

}  // namespace gantry
