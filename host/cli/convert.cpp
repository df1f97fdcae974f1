// gantry convert IN... -o OUT
#include "host/cli/invocation.hpp"
#include "host/cli/verification.hpp"

namespace gantry::cli {
namespace {

/// The signatures that the inputs become. One model alone needs no name.
Result<std::vector<SignatureSource>> signature_sources(Invocation& run, const std::vector<std::string>& inputs) {
  const std::string& text = run.args.get("--signatures");
  if (run.args.has("--signatures") && text.empty()) return error(Code::usage, "--signatures: a name is empty");
  GANTRY_ASSIGN(const std::vector<std::string> names, parse_signatures(text));
  if (names.empty() && inputs.size() > 1)
    return error(Code::usage, count_text(inputs.size(), "model") + " need --signatures")
        .try_this("name one for each, with commas: --signatures prefill,decode");
  if (!names.empty() && names.size() != inputs.size())
    return error(Code::usage, count_text(inputs.size(), "model") + " for " + count_text(names.size(), "signature"))
        .at("--signatures")
        .try_this("name one for each, with commas");
  std::vector<SignatureSource> sources;
  for (std::size_t i = 0; i < inputs.size(); ++i) sources.push_back({inputs[i], names.empty() ? "" : names[i]});
  return sources;
}

Status convert(Invocation& run, const std::vector<std::string>& inputs, const std::filesystem::path& output,
               const std::vector<SignatureSource>& sources) {
  GANTRY_ASSIGN(PipelineOptions options, run.pipeline_options());
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  if (inputs.size() > 1) return convert_files(sources, output, options, *plugins, run.report);
  if (run.args.has("--signatures")) {
    if (options.target != "tflite") return error(Code::usage, "only TFLite files have signatures").at("--signatures");
    options.signature = sources.front().name;
  }
  return convert_file(inputs.front(), output, options, *plugins, run.report);
}

Status run(Invocation& run) {
  const std::vector<std::string>& inputs = run.args.all("IN");
  const std::filesystem::path output = run.args.get("--output");
  const bool dry_run = run.args.has("--dry-run"), verify = run.config.get_bool("convert.verify");
  if (output.empty() && !dry_run)
    return error(Code::usage, "gantry convert needs -o OUT")
        .try_this("gantry convert " + inputs[0] + " -o " + std::filesystem::path(inputs[0]).stem().string() +
                  ".tflite");
  if (run.args.has("--verify") && dry_run)
    return error(Code::usage, "--verify needs the output that --dry-run does not write")
        .try_this("leave one of them out");

  GANTRY_ASSIGN(const std::vector<SignatureSource> sources, signature_sources(run, inputs));
  GANTRY_ASSIGN(const VerifyRequest comparison, verify_request(run));
  GANTRY_TRY(convert(run, inputs, output, sources));
  if (!verify || dry_run) return {};

  std::vector<Comparison> all{{inputs.front(), output, "", ""}};
  if (inputs.size() > 1) all.clear();
  for (std::size_t i = 0; i < inputs.size() && inputs.size() > 1; ++i)
    all.push_back({sources[i].input, output, "", sources[i].name});
  Status same = compare_models(run, comparison, all);
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
      signatures_flag(),
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
      .usage = "IN... -o OUT [options]",
      .positionals = {{.name = "IN",
                       .help = "The model: .onnx, Keras' .keras, .h5 or .json, or .tflite to clean it up; several "
                               "become signatures of one .tflite",
                       .repeat = true}},
      .flags = own + tolerance_flags() + plugin_flags() + common_flags(),
      .run = run,
      .ends_with_table = true,
  };
}

}  // namespace gantry::cli
