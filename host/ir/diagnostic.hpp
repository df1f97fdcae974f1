// A diagnostic is one thing that a person must know: what, where, and what to try. Data only; the report draws it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gantry {

enum class Severity : std::uint8_t { note, warning, error };

/// Stable diagnostic codes. A code is written E or W, then four digits; the first two digits of an error are the exit
/// status of the program (DESIGN.md section 10): 01 internal, 02 usage or configuration, 03 input, 04 unsupported,
/// 05 verification, 06 plugin, 07 output. Numbers are never reused.
enum class Code : std::uint16_t {
  none = 0,
  internal = 101,             // a bug in Gantry: an invariant of the graph or of a pass does not hold
  internal_verifier = 102,    // the graph verifier found a broken graph after a pass
  usage = 201,                // wrong command line
  config_syntax = 202,        // a TOML file does not parse
  config_unknown_key = 203,   // no such option
  config_bad_value = 204,     // the value of an option has the wrong type or is out of range
  config_not_found = 205,     // a configuration file that was named does not exist
  input_not_found = 301,      // the input file does not exist or cannot be read
  input_format = 302,         // the input is of no known format
  input_malformed = 303,      // the input is of a known format, but broken (truncated, wrong sizes, invalid fields)
  input_graph = 304,          // the graph is wrong: cycle, a value never defined, a name defined twice
  input_external_data = 305,  // external data is missing, too short, or outside the model's folder
  input_opset = 306,          // an opset or IR version that this build does not know
  input_type = 307,           // shapes or element types contradict each other
  input_too_large = 308,      // a size is beyond what can be handled
  unsupported_op = 401,       // no converter for an operator
  declined = 402,             // a converter exists, but declined this node, with the reason
  unsupported_type = 403,     // the target cannot hold an element type
  target_limit = 404,         // a limit of the target's kernel (rank, type) is not met
  unsupported_dynamic = 405,  // needs a shape that is not known
  verify_mismatch = 501,      // outputs differ by more than the tolerance
  verify_runtime = 502,       // a runtime could not load or run a model
  verify_no_runtime = 503,    // a runtime library was not found
  plugin_manifest = 601,      // a manifest is wrong
  plugin_load = 602,          // a plugin library cannot be opened
  plugin_abi = 603,           // a plugin is of another ABI version or its descriptor is broken
  plugin_mismatch = 604,      // what a plugin registers differs from its manifest
  plugin_conflict = 605,      // two plugins claim one key with equal priority
  plugin_failed = 606,        // a call into a plugin failed (not declined)
  plugin_missing = 607,       // a dependency of a plugin is not on the search path
  output_not_written = 701,   // the output could not be written (folder missing, disk full, no permission)
  output_format = 702,        // the extension or --to names no format that can be written
  output_too_large = 703,     // the output is beyond what the format can hold
  warn_precision = 1001,      // computed in another type than the source says
  warn_custom = 1002,         // a custom operator is left in the output
  warn_ignored = 1003,        // something of the source has no meaning in the target and was dropped
  warn_plugin = 1004,         // a plugin or manifest was skipped, a plugin that options name is missing, or one warns
};

struct Diagnostic {
  Code code = Code::internal;
  Severity severity = Severity::error;
  std::string message;  // one sentence, says what is wrong
  std::string place;    // file, file:line:column, or option; may be empty
  std::string node;     // source name of the node; may be empty
  std::string op;       // operator, "domain::Name" or "Name"; may be empty
  std::string plugin;   // plugin identifier; may be empty
  std::string hint;     // what to try; may be empty

  // Setters that chain, so that an error can be made and returned in one expression.
  Diagnostic&& at(std::string_view p) && {
    place = p;
    return std::move(*this);
  }
  Diagnostic&& on_node(std::string_view n) && {
    node = n;
    return std::move(*this);
  }
  Diagnostic&& on_op(std::string_view o) && {
    op = o;
    return std::move(*this);
  }
  Diagnostic&& from_plugin(std::string_view p) && {
    plugin = p;
    return std::move(*this);
  }
  Diagnostic&& try_this(std::string_view h) && {
    hint = h;
    return std::move(*this);
  }
};

/// An error of the given code. `message` is one sentence without a final full stop.
inline Diagnostic error(Code code, std::string message) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  return d;
}

inline Diagnostic warning(Code code, std::string message) {
  Diagnostic d = error(code, std::move(message));
  d.severity = Severity::warning;
  return d;
}

inline Diagnostic note(std::string message) {
  Diagnostic d = error(Code::none, std::move(message));
  d.severity = Severity::note;
  return d;
}

}  // namespace gantry
