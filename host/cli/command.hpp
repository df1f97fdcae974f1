// What a subcommand declares: its arguments, as data, and the function that runs it. The parser, the help and the
// completion scripts are all drawn from this.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry::cli {

class Invocation;

enum class Complete { none, file, folder, words };

struct Flag {
  std::string name;      // "--plugin-path"; the key in Arguments
  std::string letter{};  // "o" for -o; may be empty
  std::string value{};   // name of its value in the help; empty = a switch without value
  std::string help;
  bool repeat = false;
  Complete complete = Complete::none;
  std::vector<std::string> words{};
};

struct Positional {
  std::string name;  // "IN"; the key in Arguments
  std::string help;
  bool required = true;
  bool repeat = false;  // one or more
  Complete complete = Complete::file;
  std::vector<std::string> words{};
};

struct Command {
  std::string name;  // "convert", "plugin list"
  std::string help;
  std::string usage{};  // after the name, in the help; empty = the positionals
  std::vector<Positional> positionals;
  std::vector<Flag> flags;
  Status (*run)(Invocation&);
  bool uses_config = true;       // reads the configuration files before it runs
  std::string config_with{};     // only if this is given
  bool ends_with_line = true;    // "gantry: ok ..." on stderr also when all is well
  bool ends_with_table = false;  // the report's table on stdout
};

/// What was typed, by name of the flag or positional.
class Arguments {
 public:
  void add(std::string_view name, std::string value) { values_[std::string(name)].push_back(std::move(value)); }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// The value, "" if it was not given.
  const std::string& get(std::string_view name) const {
    static const std::string none;
    const auto it = values_.find(name);
    return it == values_.end() ? none : it->second.back();
  }
  /// Every value, in order.
  const std::vector<std::string>& all(std::string_view name) const {
    static const std::vector<std::string> none;
    const auto it = values_.find(name);
    return it == values_.end() ? none : it->second;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// Every subcommand, in the order of the help.
const std::vector<Command>& all_commands();

Command convert_command();
Command check_command();
Command inspect_command();
Command opt_command();
Command verify_command();
Command plugin_list_command();
Command plugin_show_command();
Command plugin_manifest_command();
Command plugin_check_command();
Command explain_command();
Command completion_command();

// Flags that several subcommands share.
std::vector<Flag> common_flags();     // -q -v --config --set --log-file
std::vector<Flag> plugin_flags();     // --plugin-path --no-default-plugins
Flag target_flag();                   // --to
Flag batch_flag();                    // --batch
Flag shape_flag();                    // --shape
Flag signatures_flag();               // --signatures
Flag io_layout_flag();                // --io-layout
Flag report_flag();                   // --report
std::vector<Flag> tolerance_flags();  // --atol --rtol --seed --inputs
std::vector<Flag> operator+(std::vector<Flag> a, std::vector<Flag> b);

}  // namespace gantry::cli
