// One runner for all passes: name, off switch, timer, dump before and after, verifier after.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"
#include "host/passes/extensions.hpp"
#include "host/report/report.hpp"

namespace gantry {

/// Settings of the layout pass (`[layout]` of the configuration).
struct LayoutSettings {
  std::string io = "preserve";                    // preserve, nhwc or nchw
  std::map<std::string, std::string> io_by_name;  // single inputs and outputs
  std::int64_t node_cost = 8192;                  // bytes that a node counts for
  double reshape_cost = 0.35;                     // a reshape's bytes against a transpose's
  int max_rank = 6;
  std::string effort = "default";  // or "best"
  std::string highs_library;       // integer programs; empty: none
};

struct PassOptions {
  std::set<std::string, std::less<>> disabled;  // pass names, "pattern:NAME"
  std::set<std::string, std::less<>> dump;      // pass names; "*" = all
  std::function<void(std::string_view title, const Graph&)> on_dump;
  std::function<void(std::string_view stage, std::size_t done, std::size_t total)> on_progress;
  bool verify = true;
  LayoutSettings layout;
};

/// What a pass works with. `source` is the reader's semantics (ONNX); may be null for a graph without a reader.
struct PassContext {
  Graph& graph;
  Report& report;
  Extensions& plugins;
  const Semantics* source = nullptr;
  std::string target;  // dialect that the conversion ends in
  bool allow_custom = false;
  const PassOptions& options;
};

struct Pass {
  std::string_view name;  // as in --passes= and the report, e.g. "fuse_activation"
  std::string_view help;  // one line
  Status (*run)(PassContext&);
};

/// Every pass that `gantry opt` can run, in pipeline order.
std::span<const Pass> all_passes();
const Pass* find_pass(std::string_view name);

/// Runs one pass; records it in the report. A disabled pass is recorded and skipped.
Status run_pass(const Pass& pass, PassContext& context);

}  // namespace gantry
