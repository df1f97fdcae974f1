// gantry check IN: will it convert? Every unsupported operator at once.
#include <algorithm>

#include "host/cli/invocation.hpp"
#include "host/report/render.hpp"

namespace gantry::cli {
namespace {

bool unsupported(const Diagnostic& d) {
  return d.severity == Severity::error && exit_status(d.code) == exit_status(Code::unsupported_op);
}

/// One operator that does not convert, why, and what would help.
std::string finding_text(const Diagnostic& d) {
  std::string text =
      code_text(d) + " " + (d.op.empty() ? "" : one_line(d.op) + ": ") + one_line(d.message, 2000) + "\n";
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text.append("  ").append(label).append(": ").append(one_line(value, 1000)).append("\n");
  };
  line("node", d.node);
  line("plugin", d.plugin);
  line("try", d.hint);
  return text;
}

std::string coverage_text(const Report& r) {
  const std::size_t total = std::max(r.source_nodes, r.unconverted_nodes);
  const std::size_t good = total - r.unconverted_nodes;
  const double percent = total == 0 ? 100.0 : 100.0 * static_cast<double>(good) / static_cast<double>(total);
  return std::to_string(good) + " of " + count_text(total, "node") + " convert to " + r.to_dialect + " (" +
         number_text(percent) + " %)";
}

Status run(Invocation& run) {
  const std::filesystem::path input = run.args.get("IN");
  GANTRY_ASSIGN(const PipelineOptions options, run.pipeline_options());
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  Report& report = run.report;
  Status status = check_file(input, options, *plugins, report);
  if (!status.ok() && !unsupported(status.error())) {
    if (run.args.has("--json")) run.out(render_json(report) + "\n");
    return status;
  }

  run.findings_shown = true;
  run.summary = coverage_text(report);
  if (run.args.has("--json")) {
    run.out(render_json(report) + "\n");
    return status;
  }
  for (const Diagnostic& d : report.diagnostics)
    if (unsupported(d)) run.out(finding_text(d));
  run.out(run.summary + "\n");
  return status;
}

}  // namespace

Command check_command() {
  const std::vector<Flag> own{
      target_flag(),
      batch_flag(),
      shape_flag(),
      {.name = "--allow-custom", .help = "Count operators without converter as custom operators"},
      {.name = "--allow-random", .help = "Map random operators to the target's own random numbers"},
      {.name = "--strict-types", .help = "Refuse what would be computed in fewer digits, as float64 in float32"},
      {.name = "--json", .help = "Print the report as JSON"},
      report_flag(),
  };
  return {
      .name = "check",
      .help = "Tell whether a model converts, and all that stands in the way",
      .positionals = {{.name = "IN", .help = "The model: .onnx or .tflite"}},
      .flags = own + plugin_flags() + common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
