// One runner for all passes: name, off switch, timer, dump before and after, verifier after.
#pragma once

#include <functional>
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

struct PassOptions {
  std::set<std::string, std::less<>> disabled;   // pass names, "pattern:NAME"
  std::set<std::string, std::less<>> dump;       // pass names; "*" = all
  std::function<void(std::string_view title, const Graph&)> on_dump;
  std::function<void(std::string_view stage, std::size_t done, std::size_t total)> on_progress;
  bool verify = true;
};

/// What a pass works with. `source` is the reader's semantics (ONNX); may be null for a graph without a reader.
struct PassContext {
  Graph& graph;
  Report& report;
  Extensions& plugins;
  const Semantics* source = nullptr;
  std::string target;                            // dialect that the conversion ends in
  bool allow_custom = false;
  const PassOptions& options;
};

struct Pass {
  std::string_view name;                         // as in --passes= and the report, e.g. "fuse_activation"
  std::string_view help;                         // one line
  Status (*run)(PassContext&);
};

/// Every pass that `gantry opt` can run, in pipeline order.
std::span<const Pass> all_passes();
const Pass* find_pass(std::string_view name);

/// Runs one pass; records it in the report. A disabled pass is recorded and skipped.
Status run_pass(const Pass& pass, PassContext& context);

}  // namespace gantry
