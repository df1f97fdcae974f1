#include "host/layout/engine.hpp"

#include <algorithm>

#include "host/layout/apply.hpp"
#include "host/layout/plan.hpp"

namespace gantry::layout {
namespace {

/// What the transposes and reshapes of a region cost as they are.
std::int64_t present_cost(const Graph& g, RegionId region, const CostModel& cost) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // no file holds more
  std::int64_t sum = 0;
  for (NodeId n = g.region(region).first; n; n = g.node(n).next) {
    const Node& node = g.node(n);
    const bool transpose = is_transpose(node), reshape = is_reshape(node);
    if (!transpose && !reshape) continue;
    const Type& t = g.value(node.outputs[0]).type;
    std::int64_t bytes = dtype_bits(t.dtype) / 8;
    for (const Dim& d : t.dims)
      bytes = !d.known() ? bytes : d.size > kMost / std::max<std::int64_t>(bytes, 1) ? kMost : bytes * d.size;
    sum += cost.node + (transpose ? bytes : static_cast<std::int64_t>(cost.reshape * static_cast<double>(bytes)));
  }
  return sum;
}

/// A RESHAPE can leave one dimension open, so that values with two unknown ones stay as they are.
bool too_open(const Model& m) {
  return std::any_of(m.roots.begin(), m.roots.end(),
                     [](const Root& r) { return std::count(r.atoms.begin(), r.atoms.end(), -1) > 1; });
}

/// Choices of an operator are joined operand by operand, recursively.
bool too_wide(const Model& m) {
  constexpr std::size_t kMostOperands = 4096;
  return std::ranges::any_of(m.operators, [](const Operator& o) { return o.operands.size() > kMostOperands; });
}

/// An input of unknown rank has no order.
bool has_unranked_input(const Graph& g, RegionId region) {
  return std::ranges::any_of(g.region(region).inputs, [&](ValueId v) { return !g.value(v).type.ranked; });
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

std::vector<Statistics::Reordered> reordered_io(const Model& m, const Candidates& c, const Orders& o) {
  std::vector<Statistics::Reordered> all;
  for (std::size_t i = 0; i < m.operators.size(); ++i) {
    const Operator& op = m.operators[i];
    if (op.channel_axis < 0) continue;
    const Operand& operand = op.operands[0];
    const auto parsed = parse_order(op, operand, c.orders[operand.root][c.choices[i][o.choice[i]][0]]);
    if (!parsed || parsed->alternative != 0) continue;
    std::vector<std::int64_t> perm;
    for (std::size_t a = 0; a < m.placed.at(operand.value).dims.size(); ++a)
      perm.push_back(static_cast<std::int64_t>(a));
    perm.erase(perm.begin() + op.channel_axis);
    perm.insert(op.channel_axis == 1 ? perm.end() : perm.begin() + 1, op.channel_axis);
    all.push_back({op.kind == Operator::Kind::input, operand.position, std::move(perm)});
  }
  return all;
}

Status run_region(Graph& g, RegionId region, const EngineOptions& options, Statistics& stats) {
  const std::int64_t before = present_cost(g, region, options.cost);
  stats.cost_before += before;
  const Model m = build_model(g, region, options.model);
  const auto skip = [&]() -> Status {
    ++stats.regions_skipped;
    stats.cost_after += before;
    stats.optimal = stats.optimal && before == 0;
    stats.proved = stats.optimal;
    return {};
  };
  if (m.operators.empty() || too_open(m) || too_wide(m) || has_unranked_input(g, region)) return skip();
  const Candidates c = find_candidates(m);
  Result<Plan> made = make_plan(g, m, c, options);
  if (!made.ok() && options.leave_unwritable) return skip();
  if (!made.ok()) return made.take_error();
  const Plan plan = *std::move(made);
  const Orders& o = plan.orders;
  stats.candidates_dropped += c.dropped;
  for (const auto& orders : c.orders) stats.candidates += orders.size();
  stats.by_min_cut += o.solver.by_min_cut;
  stats.by_elimination += o.solver.by_elimination;
  stats.by_integer_program += o.solver.by_integer_program;
  stats.by_search += o.solver.by_search;
  const bool better = plan.cost() <= before || moves_io(m, c, o);
  stats.lower_bound += std::min(before, o.lower_bound);
  if (!better) return skip();
  stats.cost_after += plan.cost();
  stats.won += plan.won;
  stats.transpose_cost += o.cost;
  stats.optimal = stats.optimal && o.optimal;
  stats.proved = stats.proved && o.lower_bound >= o.cost;
  if (region == g.main()) stats.reordered = reordered_io(m, c, o);
  GANTRY_ASSIGN(const std::vector<EmittedMove> emitted, apply(g, region, m, c, o, plan.shapes));
  for (Move& move : explain_moves(g, m, c, o, plan.shapes, options.model, options.cost, emitted))
    stats.moves.push_back(std::move(move));
  return {};
}

}  // namespace

Result<Statistics> run(Graph& g, const EngineOptions& options) {
  Statistics stats;
  for (RegionId r : g.regions()) GANTRY_TRY(run_region(g, r, options, stats));
  return stats;
}

}  // namespace gantry::layout
