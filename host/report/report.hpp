// One Report collects what happened in a run; the terminal table and the JSON are drawn from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/ir/diagnostic.hpp"

namespace gantry {

struct PassRecord {
  std::string name;
  double seconds = 0;
  std::size_t nodes_before = 0, nodes_after = 0;
  bool enabled = true;
};

struct PluginRecord {
  std::string id, version, library;  // library without folder
  std::string reason;                // which operators or patterns asked for it, e.g. "onnx.Conv, onnx.Relu and 5 more"
  double seconds = 0;                // to open it
};

struct TensorRecord {
  std::string name, type, layout;    // type as Type::str(); layout: "as in the source", or what it was before
  std::vector<std::int64_t> perm{};  // axis j is the source's axis perm[j]; empty: as in the source
};

struct OutputComparison {
  std::string name;
  double max_abs = 0, max_rel = 0;
  bool ok = false;
  std::string note;  // shapes differ, NaN, ...
};

struct VerifyRecord {
  bool ran = false, ok = false;
  std::string reference, candidate;  // runtime names and versions
  double atol = 0, rtol = 0, seconds = 0;
  std::vector<OutputComparison> outputs;
  std::vector<std::string> unused_shapes;  // names of shapes given that are no input's
};

/// An operator, input or output at one side of a transpose or reshape.
struct MoveSide {
  std::string op, node;  // "CONV_2D", "/stem/Conv"; "input", "x"
  std::string order;     // of axes, or shape, that it makes or wants
};

/// A transpose or reshape that stays in the target, and why.
struct MoveRecord {
  std::uint32_t id = 0;  // of the node in the graph
  std::string op, node;
  std::uint64_t bytes = 0;
  MoveSide producer;
  std::vector<MoveSide> consumers;
  std::string needs;  // what removing it would take
};

/// An input or output that is stored in another order: axis j is the source's axis perm[j].
struct IoRecord {
  bool input = false;
  std::size_t position = 0;
  std::vector<std::int64_t> perm;
};

/// What the layout engine did; costs in bytes, node costs included.
struct LayoutRecord {
  bool ran = false, optimal = false;
  bool proved = false;  // the best of the candidates, though a cap may have kept some out
  std::string io;       // preserve, nhwc, nchw
  std::int64_t cost_before = 0, cost_after = 0;
  std::optional<std::int64_t> won;                   // by layout.effort = "best", against the default effort
  std::int64_t transpose_cost = 0, lower_bound = 0;  // of the transposes alone: reshapes have no bound
  std::size_t candidates = 0;                        // orders that were chosen from
  std::size_t candidates_dropped = 0;                // by a cap: then "optimal" is among the others
  std::size_t regions_skipped = 0;                   // left as they were
  double seconds = 0;
  std::vector<MoveRecord> moves;
  std::vector<IoRecord> reordered;
  std::size_t by_min_cut = 0, by_elimination = 0, by_integer_program = 0, by_search = 0;
};

class Report {
 public:
  void add(Diagnostic d) { diagnostics.push_back(std::move(d)); }
  bool has_errors() const;
  /// The first error, which decides the exit status; null if none.
  const Diagnostic* first_error() const;

  std::string gantry_version, input, output, from_dialect, to_dialect;
  std::uint64_t input_bytes = 0, output_bytes = 0, weight_bytes = 0;
  std::size_t source_nodes = 0, target_nodes = 0;
  std::size_t unconverted_nodes = 0;                          // that errors of code unsupported stand for
  std::map<std::string, std::size_t> source_ops, target_ops;  // operator -> how many
  std::size_t transposes = 0, reshapes = 0;
  std::uint64_t transpose_bytes = 0, reshape_bytes = 0;  // moved by such operators that stay in the target
  std::vector<TensorRecord> inputs, outputs;
  std::vector<PassRecord> passes;
  std::vector<PluginRecord> plugins;
  std::vector<std::pair<std::string, std::string>> options;  // key=value and where the value came from
  std::vector<Diagnostic> diagnostics;
  LayoutRecord layout;
  VerifyRecord verify;
  double seconds = 0;
  std::string signature;           // that this model becomes, if it is one of several
  std::vector<Report> signatures;  // where several models became one file; above are the sums
};

/// "E0401" for an error, "W1001" for a warning.
std::string code_text(const Diagnostic& d);
/// Exit status of the program for an error (DESIGN.md section 10); 0 for notes and warnings.
int exit_status(Code code);
/// One line that explains a code, for `gantry explain CODE`; empty if there is no such code.
std::string_view explain(Code code);
/// One or more lines for people: code, place, node, operator, plugin, message, "try: ...".
std::string format(const Diagnostic& d);

}  // namespace gantry
