#include "host/layout/engine.hpp"

#include <algorithm>

#include "host/layout/apply.hpp"
#include "host/layout/shapes.hpp"

namespace gantry::layout {
namespace {

/// What the transposes and reshapes of a region cost as they are.
std::int64_t present_cost(const Graph& g, RegionId region, const CostModel& cost) {
  std::int64_t sum = 0;
  for (NodeId n = g.region(region).first; n; n = g.node(n).next) {
    const Node& node = g.node(n);
    const bool transpose = node.op.name == "TRANSPOSE" || node.op.name == "Transpose";
    const bool reshape = node.op.name == "RESHAPE" || node.op.name == "Reshape" || node.op.name == "SQUEEZE" ||
                         node.op.name == "EXPAND_DIMS";
    if (!transpose && !reshape) continue;
    const Type& t = g.value(node.outputs[0]).type;
    std::int64_t bytes = dtype_bits(t.dtype) / 8;
    for (const Dim& d : t.dims) bytes *= d.known() ? d.size : 1;
    sum += cost.node + (transpose ? bytes : static_cast<std::int64_t>(cost.reshape * static_cast<double>(bytes)));
  }
  return sum;
}

/// A RESHAPE can leave one dimension open, so that values with two unknown ones stay as they are.
bool too_open(const Model& m) {
  return std::any_of(m.roots.begin(), m.roots.end(),
                     [](const Root& r) { return std::count(r.atoms.begin(), r.atoms.end(), -1) > 1; });
}

bool moves_io(const Model& m, const Candidates& c, const Orders& o) {
  for (std::size_t i = 0; i < m.operators.size(); ++i) {
    const Operator& op = m.operators[i];
    if (op.channel_axis < 0) continue;
    if (c.orders[op.operands[0].root][c.choices[i][o.choice[i]][0]] != m.placed.at(op.operands[0].value).map)
      return true;
  }
  return false;
}

Status run_region(Graph& g, RegionId region, const EngineOptions& options, Statistics& stats) {
  const std::int64_t before = present_cost(g, region, options.cost);
  stats.cost_before += before;
  const Model m = build_model(g, region, options.model);
  const auto skip = [&]() -> Status {
    ++stats.regions_skipped;
    stats.cost_after += before;
    stats.optimal = stats.optimal && before == 0;
    return {};
  };
  if (m.operators.empty() || too_open(m)) return skip();
  const Candidates c = find_candidates(m);
  GANTRY_ASSIGN(const Orders o, solve_orders(m, c, options.cost, options.solver));
  ShapeOptions shape_options;
  shape_options.cost = options.cost;
  shape_options.max_rank = [&](NodeId n) {
    const int limit = options.max_rank ? options.max_rank(g.node(n).op) : 0;
    return limit > 0 ? std::min(limit, options.cost.max_rank) : options.cost.max_rank;
  };
  GANTRY_ASSIGN(const Shapes s, solve_shapes(g, m, c, o, shape_options, options.solver));
  stats.candidates_dropped += c.dropped + s.dropped;
  stats.by_min_cut += o.solver.by_min_cut;
  stats.by_elimination += o.solver.by_elimination;
  stats.by_integer_program += o.solver.by_integer_program;
  stats.by_search += o.solver.by_search;
  const bool better = o.cost + s.cost <= before || moves_io(m, c, o);
  stats.lower_bound += std::min(before, o.lower_bound);
  if (!better) return skip();
  stats.cost_after += o.cost + s.cost;
  stats.optimal = stats.optimal && o.optimal;
  return apply(g, region, m, c, o, s);
}

}  // namespace

Result<Statistics> run(Graph& g, const EngineOptions& options) {
  Statistics stats;
  for (RegionId r : g.regions()) GANTRY_TRY(run_region(g, r, options, stats));
  return stats;
}

}  // namespace gantry::layout
