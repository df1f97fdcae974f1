// The list of subcommands, and the flags that they share.
#include "host/cli/command.hpp"

namespace gantry::cli {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands{
      convert_command(),      check_command(),       inspect_command(),     verify_command(),
      opt_command(),          plugin_list_command(), plugin_show_command(), plugin_manifest_command(),
      plugin_check_command(), explain_command(),     completion_command(),
  };
  return commands;
}

std::vector<Flag> common_flags() {
  return {
      {.name = "--quiet", .letter = "q", .help = "Print errors and the last line only"},
      {.name = "--verbose", .letter = "v", .help = "Say which plugins are opened and why, and which passes ran"},
      {.name = "--config",
       .value = "FILE",
       .help = "Read options from a TOML file",
       .repeat = true,
       .complete = Complete::file},
      {.name = "--set", .value = "KEY=VALUE", .help = "Set one option, e.g. verify.atol=1e-3", .repeat = true},
      {.name = "--log-file", .value = "FILE", .help = "Write the log to a file too", .complete = Complete::file},
  };
}

std::vector<Flag> plugin_flags() {
  return {
      {.name = "--plugin-path",
       .value = "DIR",
       .help = "Look for plugins here first",
       .repeat = true,
       .complete = Complete::folder},
      {.name = "--no-default-plugins",
       .help = "Look in no other folder: not in GANTRY_PLUGIN_PATH, the user's or the install folder"},
  };
}

Flag target_flag() {
  return {.name = "--to",
          .value = "DIALECT",
          .help = "What to convert to (default: by the output's extension, else tflite); qonnx and qcdq are ONNX",
          .complete = Complete::words,
          .words = {"tflite", "onnx", "qonnx", "qcdq"}};
}

Flag batch_flag() {
  return {.name = "--batch",
          .value = "N",
          .help = "Size of a Keras model's batch where the file leaves it open (default 1), or dynamic"};
}

Flag shape_flag() {
  return {.name = "--shape",
          .value = "NAME=DIMS",
          .help = "Fix the shape of an input, e.g. image=1,3,224,224; DIMS alone if there is one input",
          .repeat = true};
}

Flag signatures_flag() {
  return {.name = "--signatures", .value = "NAMES", .help = "Signatures of a TFLite file, with commas: prefill,decode"};
}

Flag io_layout_flag() {
  return {.name = "--io-layout",
          .value = "LAYOUT",
          .help = "Inputs and outputs as in the source (preserve), channels last (nhwc) or channels first (nchw)",
          .complete = Complete::words,
          .words = {"preserve", "nhwc", "nchw"}};
}

Flag report_flag() {
  return {.name = "--report", .value = "FILE", .help = "Write the report as JSON", .complete = Complete::file};
}

std::vector<Flag> tolerance_flags() {
  return {
      {.name = "--atol", .value = "X", .help = "Absolute tolerance (default: 1e-4)"},
      {.name = "--rtol", .value = "X", .help = "Relative tolerance (default: 0)"},
      {.name = "--seed", .value = "N", .help = "Seed of the random inputs (default: 0)"},
      {.name = "--inputs",
       .value = "FILE",
       .help = "Inputs to compare with: all.npz, or NAME=one.npy for each",
       .repeat = true,
       .complete = Complete::file},
  };
}

std::vector<Flag> operator+(std::vector<Flag> a, std::vector<Flag> b) {
  for (Flag& flag : b) a.push_back(std::move(flag));
  return a;
}

}  // namespace gantry::cli
