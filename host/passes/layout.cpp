// The layout engine as a pass: rules from the plugins, settings from the options, what came out into the report.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "host/layout/engine.hpp"
#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

constexpr int kOnnxRank = 64;  // ONNX has no limit

/// Rules of operators, each parsed once.
class Rules {
 public:
  explicit Rules(const Extensions& plugins) : plugins_(plugins) {}

  const layout::Rule* find(const Op& op) {
    const std::string_view text = plugins_.layout_rule(op);
    if (text.empty()) return nullptr;
    const auto it = rules_.find(text);
    if (it != rules_.end()) return it->second ? &*it->second : nullptr;
    Result<layout::Rule> rule = layout::parse_rule(text);
    auto& slot = rules_[std::string(text)];
    if (rule.ok())
      slot = *std::move(rule);
    else if (!error_)
      error_ = rule.take_error();
    return slot ? &*slot : nullptr;
  }
  std::optional<Diagnostic> error() const { return error_; }

 private:
  const Extensions& plugins_;
  std::map<std::string, std::optional<layout::Rule>, std::less<>> rules_;
  std::optional<Diagnostic> error_;
};

layout::IoLayout io_layout(const std::string& name) {
  return name == "nhwc" ? layout::IoLayout::nhwc : name == "nchw" ? layout::IoLayout::nchw : layout::IoLayout::preserve;
}

}  // namespace

Status layout(PassContext& c) {
  const auto start = std::chrono::steady_clock::now();
  const LayoutSettings& settings = c.options.layout;
  Rules rules(c.plugins);
  layout::EngineOptions options;
  options.model.rule = [&](const Op& op) { return rules.find(op); };
  options.model.io = io_layout(settings.io);
  for (const auto& [name, io] : settings.io_by_name) options.model.io_by_name[name] = io_layout(io);
  options.cost.node = settings.node_cost;
  options.cost.reshape = settings.reshape_cost;
  options.leave_unwritable = c.target == "onnx";  // whatever a valid model holds
  options.cost.max_rank = c.target == "onnx" ? std::max(settings.max_rank, kOnnxRank) : settings.max_rank;
  options.solver.highs_library = settings.highs_library;
  if (settings.effort == "best") {
    layout::SolverOptions& longer = options.thorough.emplace(options.solver);
    longer.max_table = 50'000'000;
    longer.relax_work = 600'000'000;
    longer.search_work = 200'000'000;
    longer.time_limit = 60;
  }
  options.max_rank = [&](const Op& op) {
    const Limits* limits = c.plugins.limits(op);
    return limits ? limits->max_rank : 0;
  };
  GANTRY_ASSIGN(const layout::Statistics stats, layout::run(c.graph, options));
  if (const auto error = rules.error()) return *error;
  LayoutRecord& r = c.report.layout;
  r.ran = true;
  r.io = settings.io;
  r.cost_before += stats.cost_before;
  r.cost_after = stats.cost_after;
  r.transpose_cost = stats.transpose_cost;
  if (options.thorough) r.won = stats.won;
  r.candidates = stats.candidates;
  r.regions_skipped = stats.regions_skipped;
  r.lower_bound = stats.lower_bound;
  r.optimal = stats.optimal;
  r.proved = stats.proved;
  r.candidates_dropped = stats.candidates_dropped;
  r.by_min_cut = stats.by_min_cut;
  r.by_elimination = stats.by_elimination;
  r.by_integer_program = stats.by_integer_program;
  r.by_search = stats.by_search;
  const auto side = [](const layout::Side& s) { return MoveSide{s.op, s.name, s.order}; };
  for (const layout::Move& m : stats.moves) {
    const Node& n = c.graph.node(m.node);
    MoveRecord record{m.node.index,
                      std::string(n.op.name),
                      std::string(n.name),
                      static_cast<std::uint64_t>(m.bytes),
                      side(m.producer),
                      {},
                      m.needs};
    for (const layout::Side& s : m.consumers) record.consumers.push_back(side(s));
    r.moves.push_back(std::move(record));
  }
  for (const auto& io : stats.reordered) r.reordered.push_back({io.input, io.position, io.perm});
  r.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

}  // namespace gantry::passes
