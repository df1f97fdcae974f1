// What each code means, for `gantry explain`. docs/cli.md lists the same.
#include "host/report/report.hpp"

namespace gantry {

std::string_view explain(Code code) {
  switch (code) {
    case Code::none:
      return {};
    case Code::internal:
      return "A bug in Gantry: something that always holds does not. Please report it with the model, if you can.";
    case Code::internal_verifier:
      return "A bug in Gantry or in a plugin: the graph is broken after a pass. Please report it; passes.disable may "
             "help.";
    case Code::usage:
      return "The command line is wrong: `gantry COMMAND --help` tells what it takes.";
    case Code::config_syntax:
      return "A configuration file is not valid TOML; the message has line and column.";
    case Code::config_unknown_key:
      return "There is no such option; the message names the nearest one.";
    case Code::config_bad_value:
      return "The value of an option has the wrong type or is out of range.";
    case Code::config_not_found:
      return "A configuration file that was named does not exist or cannot be read.";
    case Code::input_not_found:
      return "The input file does not exist or cannot be read.";
    case Code::input_format:
      return "The input is in none of the formats that Gantry reads.";
    case Code::input_malformed:
      return "The input is broken: cut off, with wrong sizes or with invalid fields.";
    case Code::input_graph:
      return "The model's graph is wrong: it has a cycle, a value that nothing defines, or a name that is defined "
             "twice.";
    case Code::input_external_data:
      return "Weights that the model keeps in another file are missing, too short, or outside the model's folder.";
    case Code::input_opset:
      return "The model uses an opset or an IR version that this build of Gantry does not know.";
    case Code::input_type:
      return "Shapes or element types contradict each other.";
    case Code::input_too_large:
      return "A size in the input is beyond what can be handled.";
    case Code::unsupported_op:
      return "No plugin on the search path converts this operator; a plugin that does, or --allow-custom, would help.";
    case Code::declined:
      return "A plugin converts this operator, but not in this form; the message has the reason.";
    case Code::unsupported_type:
      return "The target cannot hold this element type, and no cast around it is exact.";
    case Code::target_limit:
      return "The target's kernel does not take this rank, type or size.";
    case Code::unsupported_dynamic:
      return "The conversion needs a dimension that is not known; --shape NAME=DIMS fixes the shape of an input.";
    case Code::verify_mismatch:
      return "The two models give different numbers, by more than --atol and --rtol allow, or have different outputs.";
    case Code::verify_runtime:
      return "A runtime could not load or run a model, or crashed on it; the message has its own words.";
    case Code::verify_no_runtime:
      return "The library of ONNX Runtime or LiteRT was not found: set GANTRY_RUNTIMES, verify.onnxruntime or "
             "verify.litert.";
    case Code::plugin_manifest:
      return "The manifest of a plugin (*.gantry.toml) is wrong.";
    case Code::plugin_load:
      return "The library of a plugin cannot be opened.";
    case Code::plugin_abi:
      return "A plugin was built for another version of the plugin interface, or its descriptor is broken.";
    case Code::plugin_mismatch:
      return "A plugin registers other things than its manifest says; `gantry plugin manifest` writes a new one.";
    case Code::plugin_conflict:
      return "Two plugins claim the same thing with equal priority; remove one or change a priority.";
    case Code::plugin_failed:
      return "A call into a plugin failed: a bug in the plugin.";
    case Code::plugin_missing:
      return "A plugin that another one depends on is not on the search path.";
    case Code::output_not_written:
      return "The output could not be written: no such folder, no permission, or a full disk. Nothing is left behind.";
    case Code::output_format:
      return "The output's extension or --to names no format that Gantry writes, or it cannot hold this.";
    case Code::output_too_large:
      return "The output would be beyond what its format can hold.";
    case Code::warn_precision:
      return "Something is computed in another type than the source says.";
    case Code::warn_custom:
      return "A custom operator is left in the output: the runtime needs an implementation of it.";
    case Code::warn_ignored:
      return "Something in the source has no meaning in the target and was left out.";
    case Code::warn_plugin:
      return "A plugin or its manifest was left out, or a plugin warns of something; the message has its words.";
  }
  return {};
}

}  // namespace gantry
