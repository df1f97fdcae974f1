// The host's own options: one row each. configs/default.toml lists the same, and a test compares the two.
#include "host/config/config.hpp"

namespace gantry {
namespace {

using Strings = std::vector<std::string>;

OptionSpec option(std::string key, OptionValue value, std::string help) {
  return {.key = std::move(key), .default_value = std::move(value), .help = std::move(help)};
}

OptionSpec choice(std::string key, std::string value, Strings choices, std::string help) {
  OptionSpec spec = option(std::move(key), std::move(value), std::move(help));
  spec.choices = std::move(choices);
  return spec;
}

OptionSpec not_negative(std::string key, OptionValue value, std::string help) {
  OptionSpec spec = option(std::move(key), std::move(value), std::move(help));
  spec.at_least = 0;
  return spec;
}

OptionSpec path(std::string key, OptionValue value, std::string help) {
  OptionSpec spec = option(std::move(key), std::move(value), std::move(help));
  spec.is_path = true;
  return spec;
}

std::vector<OptionSpec> make_options() {
  return {
      choice("convert.target", "auto", {"auto", "tflite", "onnx"},
             "Dialect of the output (--to); auto is by its extension, else tflite"),
      option("convert.allow_custom", false,
             "Leave operators that have no converter as custom operators (--allow-custom)"),
      option(
          "convert.strict_types", false,
          "Refuse what would be computed in fewer digits than the source says, as float64 in float32 (--strict-types)"),
      option("convert.verify", false, "Compare input and output in both runtimes after converting (--verify)"),
      not_negative("layout.cost.node", std::int64_t{8192},
                   "Bytes that a TRANSPOSE or RESHAPE counts for, besides what it moves"),
      not_negative("layout.cost.reshape", 0.35,
                   "What a byte moved by a RESHAPE counts for against one moved by a TRANSPOSE"),
      choice("layout.effort", "default", {"default", "best"}, "best looks longer for the optimum where that is hard"),
      path("layout.highs", std::string{},
           "HiGHS library for integer programs or its folder; empty means GANTRY_RUNTIMES, then beside Gantry"),
      choice("layout.io", "preserve", {"preserve", "nhwc", "nchw"},
             "Order of inputs and outputs: the source's, channels last, channels first (--io-layout)"),
      option("layout.io_by_name", Strings{}, "The same for single inputs and outputs: \"NAME=nhwc\""),
      choice("log.level", "warning", {"error", "warning", "info", "debug"},
             "What the log on stderr and in the file holds (-q is error, -v is info)"),
      path("log.file", std::string{}, "Write the log to this file too, with times (--log-file)"),
      option("onnx.external_data", false,
             "Write the weights of an ONNX model beside it, in OUT.data, also where one file could hold them"),
      option("passes.disable", Strings{}, "Passes to leave out; \"pattern:NAME\" leaves out one pattern"),
      option("passes.dump", Strings{}, "Passes before and after which the graph is printed on stderr; \"*\" is all"),
      option("passes.verify", false, "Check the graph after every pass; debug builds always do"),
      path("plugins.path", Strings{}, "Folders to look for plugins in, after those of --plugin-path"),
      option("plugins.defaults", true,
             "Look in GANTRY_PLUGIN_PATH, the user's and the install folder (--no-default-plugins)"),
      not_negative("verify.atol", 1e-4, "Absolute tolerance, as numpy.allclose (--atol)"),
      not_negative("verify.rtol", 0.0, "Relative tolerance, as numpy.allclose (--rtol)"),
      not_negative("verify.seed", std::int64_t{0}, "Seed of the random inputs (--seed)"),
      not_negative("verify.timeout", 600.0, "Seconds that each of the two runs may take; 0 is no limit"),
      path("verify.onnxruntime", std::string{},
           "ONNX Runtime library or its folder; empty means GANTRY_RUNTIMES, then beside Gantry"),
      path("verify.litert", std::string{},
           "LiteRT library or its folder; empty means GANTRY_RUNTIMES, then beside Gantry"),
  };
}

}  // namespace

const std::vector<OptionSpec>& host_options() {
  static const std::vector<OptionSpec> options = make_options();
  return options;
}

}  // namespace gantry
