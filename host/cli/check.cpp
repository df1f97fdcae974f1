// gantry check IN: will it convert? Every unsupported operator at once.
#include <algorithm>
#include <set>

#include "host/cli/invocation.hpp"
#include "host/report/render.hpp"

namespace gantry::cli {
namespace {

/// Nodes of one operator that fail for one reason.
struct Finding {
  Diagnostic first;
  std::set<std::string> nodes;
  std::size_t count = 0;
};

bool unsupported(const Diagnostic& d) { return exit_status(d.code) == exit_status(Code::unsupported_op); }

std::vector<Finding> findings(const std::vector<Diagnostic>& diagnostics) {
  std::vector<Finding> all;
  for (const Diagnostic& d : diagnostics) {
    if (!unsupported(d)) continue;
    const auto same = [&](const Finding& f) {
      return f.first.code == d.code && f.first.op == d.op && f.first.message == d.message && f.first.plugin == d.plugin;
    };
    auto it = std::find_if(all.begin(), all.end(), same);
    if (it == all.end()) it = all.insert(all.end(), Finding{d, {}, 0});
    ++it->count;
    if (!d.node.empty()) it->nodes.insert(d.node);
  }
  return all;
}

std::string finding_text(const Finding& f) {
  std::string text = code_text(f.first) + " " + (f.first.op.empty() ? "the model" : f.first.op);
  if (f.count > 1) text += ", " + std::to_string(f.count) + " times";
  text += ": " + f.first.message + "\n";
  if (!f.first.plugin.empty()) text += "  plugin: " + f.first.plugin + "\n";
  if (!f.nodes.empty()) {
    std::string list;
    for (const std::string& node : f.nodes) list += (list.empty() ? "" : ", ") + node;
    text += "  nodes: " + list + "\n";
  }
  if (!f.first.hint.empty()) text += "  try: " + f.first.hint + "\n";
  return text;
}

std::string coverage_text(const Report& report, std::size_t failing) {
  const std::size_t total = std::max(report.source_nodes, failing);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.1f",
                total == 0 ? 100.0 : 100.0 * static_cast<double>(total - failing) / static_cast<double>(total));
  return std::to_string(total - failing) + " of " + count_text(total, "node") + " convert to " + report.to_dialect +
         " (" + percent + " %)";
}

Status run(Invocation& run) {
  const std::filesystem::path input = run.args.get("IN");
  GANTRY_ASSIGN(const PipelineOptions options, run.pipeline_options(input));
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  Status status = check_file(input, options, *plugins, run.report);
  if (run.report.to_dialect.empty()) run.report.to_dialect = options.target;
  if (!status.ok() && !unsupported(status.error())) return status;
  if (!status.ok() && !run.report.has_errors()) run.report.add(status.error());

  std::set<std::string> nodes;
  std::size_t nameless = 0;
  run.findings_shown = true;
  const std::vector<Finding> all = findings(run.report.diagnostics);
  if (!run.args.has("--json"))
    for (const Finding& f : all) run.out(printable(finding_text(f)));
  for (const Finding& f : all) {
    nodes.insert(f.nodes.begin(), f.nodes.end());
    nameless += f.nodes.empty() ? f.count : 0;
  }
  const std::string coverage = coverage_text(run.report, nodes.size() + nameless);
  run.out(run.args.has("--json") ? render_json(run.report) + "\n" : printable(coverage) + "\n");
  run.summary = coverage;
  return {};
}

}  // namespace

Command check_command() {
  const std::vector<Flag> own{
      target_flag(),
      shape_flag(),
      {.name = "--allow-custom", .help = "Count operators without converter as custom operators"},
      {.name = "--json", .help = "Print the report as JSON"},
      report_flag(),
  };
  return {
      .name = "check",
      .help = "Tell whether a model converts, and all that stands in the way",
      .positionals = {{.name = "IN", .help = "The model: .onnx"}},
      .flags = own + plugin_flags() + common_flags(),
      .run = run,
  };
}

}  // namespace gantry::cli
