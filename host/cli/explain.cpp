// gantry explain CODE | gantry explain NODE IN: what a code means; why a transpose or reshape is in what a model
// becomes.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "host/cli/invocation.hpp"
#include "host/report/render.hpp"
#include "host/report/report.hpp"

namespace gantry::cli {
namespace {

constexpr unsigned kLargestCode = 9999;

/// "E0401", "W1001", "401" -> the code, or none.
Code code_from_text(std::string_view text) {
  if (!text.empty() && (std::toupper(static_cast<unsigned char>(text.front())) == 'E' ||
                        std::toupper(static_cast<unsigned char>(text.front())) == 'W'))
    text.remove_prefix(1);
  unsigned number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size() || number > kLargestCode) return Code::none;
  return static_cast<Code>(number);
}

std::string name_of(Code code) {
  Diagnostic d;
  d.code = code;
  d.severity = static_cast<unsigned>(code) < 1000 ? Severity::error : Severity::warning;
  return code_text(d);
}

/// Whether a move is the node, is beside it, or all are wanted.
bool concerns(const MoveRecord& m, const std::string& wanted) {
  const auto is = [&](const MoveSide& s) { return s.node == wanted; };
  return wanted == "*" || m.node == wanted || is(m.producer) || std::any_of(m.consumers.begin(), m.consumers.end(), is);
}

Status no_such_move(const Report& report, const std::string& wanted) {
  std::vector<std::string> names;
  for (const MoveRecord& m : report.layout.moves) {
    names.push_back(m.node);
    names.push_back(m.producer.node);
    for (const MoveSide& s : m.consumers) names.push_back(s.node);
  }
  const std::string nearest = nearest_name(wanted, names);
  return error(Code::usage, "no transpose or reshape of the result is, or is beside, a node '" + wanted + "'")
      .try_this(nearest.empty() ? "gantry explain '*' IN explains all that are left" : "did you mean " + nearest + "?");
}

Status explain_moves(Invocation& run, const std::string& wanted) {
  const std::filesystem::path input = run.args.get("IN");
  GANTRY_ASSIGN(const PipelineOptions options, run.pipeline_options());
  GANTRY_ASSIGN(const auto plugins, run.open_plugins());
  GANTRY_TRY(check_file(input, options, *plugins, run.report));
  const Report& report = run.report;
  if (run.args.has("--json")) {
    run.out(render_json(report) + "\n");
    return {};
  }
  std::string text;
  std::size_t told = 0;
  for (const MoveRecord& m : report.layout.moves) {
    if (!concerns(m, wanted)) continue;
    text += (told++ ? "\n" : "") + render_move(m);
  }
  if (told == 0 && wanted != "*") return no_such_move(report, wanted);
  if (told == 0) text = "no transpose and no reshape is left\n";
  run.out(printable(text));
  return {};
}

Status run(Invocation& run) {
  const std::string& wanted = run.args.get("NODE|CODE");
  if (run.args.has("IN")) return explain_moves(run, wanted);
  if (wanted.empty()) {
    for (unsigned n = 1; n <= kLargestCode; ++n) {
      const Code code = static_cast<Code>(n);
      if (!explain(code).empty()) run.out(name_of(code) + "  " + std::string(explain(code)) + "\n");
    }
    return {};
  }
  const Code code = code_from_text(wanted);
  const std::string_view text = code == Code::none ? std::string_view{} : explain(code);
  if (text.empty())
    return error(Code::usage, "there is no code " + wanted)
        .try_this("gantry explain lists them all; to explain a node, name the model too: gantry explain " + wanted +
                  " IN");
  run.out(name_of(code) + "  " + std::string(text) + "\n");
  if (exit_status(code) != 0) run.out("Exit status " + std::to_string(exit_status(code)) + ".\n");
  return {};
}

}  // namespace

Command explain_command() {
  const std::vector<Flag> own{
      {.name = "--json", .help = "Print the whole report as JSON"},
      {.name = "--output",
       .letter = "o",
       .value = "OUT",
       .help = "As if this were written: its extension says the target",
       .complete = Complete::file},
      target_flag(),
      shape_flag(),
      io_layout_flag(),
      {.name = "--allow-custom", .help = "Leave operators that have no converter as custom operators"},
      report_flag(),
  };
  return {
      .name = "explain",
      .help = "Explain a diagnostic code, or why a transpose or reshape is left",
      .usage = "[CODE] | NODE IN [options]",
      .positionals = {{.name = "NODE|CODE",
                       .help = "E0401, for instance; with IN the name of a node, '*' for all",
                       .required = false,
                       .complete = Complete::none},
                      {.name = "IN", .help = "The model: it is converted, and not written", .required = false}},
      .flags = own + plugin_flags() + common_flags(),
      .run = run,
      .config_with = "IN",
      .ends_with_line = false,
  };
}

}  // namespace gantry::cli
