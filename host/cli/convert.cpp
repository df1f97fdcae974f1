// gantry convert IN -o OUT
#include "host/cli/invocation.hpp"
#include "host/cli/verification.hpp"

namespace gantry::cli {
namespace {

Status run(Invocation& run) {
  const std::filesystem::path input = run.args.get("IN"), output = run.args.get("--output");
  const bool dry_run = run.args.has("--dry-run"), verify = run.config.get_bool("convert.verify");
  if (output.empty() && !dry_run)
    return error(Code::usage, "gantry convert needs -o OUT")
        .try_this("gantry convert " + input.string() + " -o " + input.stem().string() + ".tflite");
  if (run.args.has("--verify") && dry_run)
    return error(Code::usage, "--verify needs the output that --dry-run does not write")
        .try_this("leave one of them out");

  GANTRY_ASSIGN(const PipelineOptions options, run.pipeline_options());
  GANTRY_ASSIGN(VerifyRequest comparison, verify_request(run));
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  GANTRY_TRY(convert_file(input, output, options, *plugins, run.report));
  if (!verify || dry_run) return {};

  comparison.reference = input;
  comparison.candidate = output;
  Status same = compare_models(run, std::move(comparison));
  if (same.ok()) return {};
  Diagnostic d = same.take_error();
  d.hint = output.string() + " was written and stays" + (d.hint.empty() ? "" : "; " + d.hint);
  return d;
}

}  // namespace

Command convert_command() {
  const Flag out{.name = "--output",
                 .letter = "o",
                 .value = "OUT",
                 .help = "The file to write; it appears whole or not at all",
                 .complete = Complete::file};
  const std::vector<Flag> own{
      out,
      target_flag(),
      batch_flag(),
      shape_flag(),
      {.name = "--allow-custom", .help = "Leave operators that have no converter as custom operators"},
      {.name = "--allow-random", .help = "Map random operators to the target's own random numbers"},
      {.name = "--strict-types", .help = "Refuse what would be computed in fewer digits, as float64 in float32"},
      {.name = "--dry-run", .help = "Do everything but write"},
      io_layout_flag(),
      {.name = "--verify",
       .help = "Run input and output and compare the numbers; beyond the tolerance is exit status 5"},
      report_flag(),
  };
  return {
      .name = "convert",
      .help = "Convert a model",
      .usage = "IN -o OUT [options]",
      .positionals = {{.name = "IN",
                       .help = "The model: .onnx, Keras' .keras, .h5 or .json, or .tflite to clean it up"}},
      .flags = own + tolerance_flags() + plugin_flags() + common_flags(),
      .run = run,
      .ends_with_table = true,
  };
}

}  // namespace gantry::cli
