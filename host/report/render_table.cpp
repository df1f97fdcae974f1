// The table at the end of `gantry convert`: a label and a text a line, at most ten lines.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "host/report/render.hpp"
#include "host/report/text.hpp"

namespace gantry {

namespace {

constexpr std::size_t kLabelWidth = 12;
constexpr std::size_t kMaxName = 60;   // bytes of a name in the table
constexpr std::size_t kMaxListed = 5;  // operators, passes
constexpr std::size_t kMaxPorts = 3;   // inputs or outputs

std::string file_name(const std::string& path) {
  return one_line(std::filesystem::path(path).filename().string(), kMaxName);
}

std::string file_text(const std::string& path, const std::string& dialect, std::uint64_t bytes) {
  std::string text = file_name(path);
  const std::string size = bytes ? size_text(bytes) : "";
  const std::string details = dialect + (dialect.empty() || size.empty() ? "" : ", ") + size;
  if (!details.empty()) text += " (" + details + ")";
  return text;
}

std::string conversion(const Report& r) {
  std::string text = file_text(r.input, r.from_dialect, r.input_bytes);
  if (r.to_dialect.empty() && r.output.empty()) return text;
  if (r.output_bytes) return text + " -> " + file_text(r.output, r.to_dialect, r.output_bytes);
  return text + " -> " + (r.to_dialect.empty() ? file_name(r.output) : r.to_dialect) + " (not written)";
}

/// The most frequent ones: "20 CONV_2D, 8 ADD and 3 more kinds".
std::string most_frequent(const std::map<std::string, std::size_t>& ops) {
  std::vector<std::pair<std::string, std::size_t>> sorted(ops.begin(), ops.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxListed); ++i) {
    text += (i ? ", " : "") + std::to_string(sorted[i].second) + " " + one_line(sorted[i].first, kMaxName);
  }
  if (sorted.size() > kMaxListed) text += " and " + count_text(sorted.size() - kMaxListed, "kind") + " more";
  return text;
}

std::string operators(const Report& r) {
  if (r.target_nodes == 0) return std::to_string(r.source_nodes) + ": " + most_frequent(r.source_ops);
  return std::to_string(r.source_nodes) + " -> " + std::to_string(r.target_nodes) + ": " + most_frequent(r.target_ops);
}

/// What moves data without computing: the price of the layout.
std::string moves(const Report& r) {
  std::string text;
  if (r.transposes) text = std::to_string(r.transposes) + " TRANSPOSE of " + size_text(r.transpose_bytes);
  if (r.reshapes)
    text += (text.empty() ? "" : ", ") + std::to_string(r.reshapes) + " RESHAPE of " + size_text(r.reshape_bytes);
  return text.empty() ? "no TRANSPOSE, no RESHAPE" : text;
}

/// The lower bound is that of the transposes: reshapes are few, but not proved to be the fewest.
std::string layout(const LayoutRecord& l) {
  if (!l.ran) return {};
  const auto size = [](std::int64_t n) { return size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, n))); };
  std::string text = "cost " + size(l.cost_before) + " -> " + size(l.cost_after) + ", transposes " +
                     size(l.transpose_cost) + " (lower bound " + size(l.lower_bound) + "), ";
  if (l.optimal)
    text += "optimal";
  else if (l.proved)
    text += "optimal among " + std::to_string(l.candidates) + " candidates";
  else
    text += "perhaps not optimal";
  if (l.won) text += *l.won > 0 ? ", best effort won " + size(*l.won) : ", best effort won nothing";
  return text + ", " + duration_text(l.seconds);
}

std::string ports(const std::vector<TensorRecord>& all) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMaxPorts); ++i) {
    const TensorRecord& t = all[i];
    text += (i ? ", " : "") + one_line(t.name, kMaxName) + " " + one_line(t.type, kMaxName);
    if (!t.layout.empty() && t.layout != "as in the source") text += " (layout " + one_line(t.layout, kMaxName) + ")";
  }
  if (all.size() > kMaxPorts) text += " and " + std::to_string(all.size() - kMaxPorts) + " more";
  return text;
}

std::string plugins(const Report& r) {
  std::string text;
  for (std::size_t i = 0; i < std::min(r.plugins.size(), kMaxPorts); ++i) {
    text += (i ? ", " : "") + one_line(r.plugins[i].id, kMaxName) + " " + one_line(r.plugins[i].version, kMaxName);
  }
  if (r.plugins.size() > kMaxPorts) text += " and " + std::to_string(r.plugins.size() - kMaxPorts) + " more";
  return text.empty() ? "none opened" : text;
}

/// The stages that took longest.
std::string times(const Report& r) {
  std::vector<PassRecord> sorted;
  for (const PassRecord& p : r.passes) {
    if (p.enabled) sorted.push_back(p);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  std::string text = duration_text(r.seconds);
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxListed); ++i) {
    text += (i ? ", " : ": ") + one_line(sorted[i].name, kMaxName) + " " + duration_text(sorted[i].seconds);
  }
  return text;
}

std::string verification(const VerifyRecord& v) {
  std::size_t bad = 0;
  const OutputComparison* worst = nullptr;
  for (const OutputComparison& o : v.outputs) {
    bad += !o.ok;
    if (!worst || o.max_abs > worst->max_abs) worst = &o;
  }
  std::string tolerance = number_text(v.atol);
  if (v.rtol != 0) tolerance += " + " + number_text(v.rtol) + " x";
  std::string text =
      v.ok ? "ok, " + count_text(v.outputs.size(), "output") + " within " + tolerance
           : std::to_string(bad) + " of " + count_text(v.outputs.size(), "output") + " beyond " + tolerance;
  if (worst) text += ", largest difference " + number_text(worst->max_abs);
  return text + " (" + one_line(v.reference, kMaxName) + ", " + one_line(v.candidate, kMaxName) + ", " +
         duration_text(v.seconds) + ")";
}

std::string problems(const Report& r) {
  std::size_t errors = 0, warnings = 0;
  for (const Diagnostic& d : r.diagnostics) {
    errors += d.severity == Severity::error;
    warnings += d.severity == Severity::warning;
  }
  std::string text = errors ? count_text(errors, "error") : "";
  if (warnings) text += (text.empty() ? "" : ", ") + count_text(warnings, "warning");
  return text;
}

}  // namespace

std::string render_table(const Report& r) {
  std::string table;
  const auto row = [&](std::string_view label, const std::string& text) {
    if (text.empty()) return;
    table += label;
    table.append(kLabelWidth - label.size(), ' ');
    table += text + '\n';
  };
  row("model", conversion(r));
  if (r.source_nodes) row("operators", operators(r));
  if (r.weight_bytes) row("weights", size_text(r.weight_bytes));
  if (r.target_nodes) row("moved", moves(r));
  row("layout", layout(r.layout));
  row("inputs", ports(r.inputs));
  row("outputs", ports(r.outputs));
  row("plugins", plugins(r));
  row("time", times(r));
  if (r.verify.ran) row("verify", verification(r.verify));
  row("problems", problems(r));
  return table;
}

std::string render_move(const MoveRecord& m) {
  const auto named = [](const MoveSide& s) {
    return one_line(s.op, kMaxName) + (s.node.empty() ? "" : " '" + one_line(s.node, 200) + "'");
  };
  std::string text = one_line(m.op, kMaxName) + (m.node.empty() ? "" : " '" + one_line(m.node, 200) + "'") +
                     ": moves " + size_text(m.bytes) + "\n";
  text += "  made by   " + named(m.producer) + " as " + m.producer.order + "\n";
  for (const MoveSide& s : m.consumers) text += "  wanted by " + named(s) + " as " + s.order + "\n";
  return text + "  removing  " + m.needs + "\n";
}

std::string last_line(const Report& r) {
  if (const Diagnostic* d = r.first_error()) {
    const auto errors = std::count_if(r.diagnostics.begin(), r.diagnostics.end(),
                                      [](const Diagnostic& o) { return o.severity == Severity::error; });
    std::string text = "gantry: failed " + code_text(*d) + " " + one_line(d->message, 200);
    if (errors > 1) text += " (and " + count_text(static_cast<std::size_t>(errors) - 1, "error") + " more)";
    return text;
  }
  std::string text = "gantry: ok";
  if (!r.output.empty()) text += " " + one_line(r.output, 200);
  std::string details = r.output_bytes ? size_text(r.output_bytes) : "";
  if (r.verify.ran) details += (details.empty() ? "" : ", ") + std::string("verified");
  if (r.seconds > 0) details += (details.empty() ? "" : ", ") + duration_text(r.seconds);
  if (!details.empty()) text += " (" + details + ")";
  return text;
}

}  // namespace gantry
