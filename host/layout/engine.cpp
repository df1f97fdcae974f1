#include "host/layout/engine.hpp"

#include <algorithm>

#include "host/layout/apply.hpp"
#include "host/layout/plan.hpp"

namespace gantry::layout {
namespace {

struct PresentCost {
  std::int64_t transposes = 0, reshapes = 0;
  std::int64_t all() const { return transposes + reshapes; }
};

/// What the transposes and reshapes of a region cost as they are.
PresentCost present_cost(const Graph& g, RegionId region, const CostModel& cost) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // no file holds more
  PresentCost sum;
  for (NodeId n = g.region(region).first; n; n = g.node(n).next) {
    const Node& node = g.node(n);
    const bool transpose = is_transpose(node), reshape = is_reshape(node);
    if (!transpose && !reshape) continue;
    const Type& t = g.value(node.outputs[0]).type;
    std::int64_t bytes = dtype_bits(t.dtype) / 8;
    for (const Dim& d : t.dims)
      bytes = !d.known() ? bytes : d.size > kMost / std::max<std::int64_t>(bytes, 1) ? kMost : bytes * d.size;
    if (transpose)
      sum.transposes += cost.node + bytes;
    else
      sum.reshapes += cost.node + static_cast<std::int64_t>(cost.reshape * static_cast<double>(bytes));
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
  const PresentCost before = present_cost(g, region, options.cost);
  stats.cost_before += before.all();
  const Model m = build_model(g, region, options.model);
  const auto skip = [&](std::int64_t lower_bound) -> Status {
    ++stats.regions_skipped;
    stats.cost_after += before.all();
    stats.transpose_cost += before.transposes;
    stats.lower_bound += std::min(before.transposes, lower_bound);
    stats.proved = stats.proved && before.transposes <= lower_bound;
    stats.optimal = stats.optimal && before.transposes <= lower_bound;
    return {};
  };
  if (m.operators.empty() || too_open(m) || too_wide(m) || has_unranked_input(g, region)) return skip(0);
  const Candidates c = find_candidates(m);
  Result<Plan> made = make_plan(g, m, c, options);
  if (!made.ok() && options.leave_unwritable) return skip(0);
  if (!made.ok()) return made.take_error();
  const Plan plan = *std::move(made);
  const Orders& o = plan.orders;
  stats.candidates_dropped += c.dropped;
  for (const auto& orders : c.orders) stats.candidates += orders.size();
  stats.by_min_cut += o.solver.by_min_cut;
  stats.by_elimination += o.solver.by_elimination;
  stats.by_integer_program += o.solver.by_integer_program;
  stats.by_search += o.solver.by_search;
  if (plan.cost() > before.all() && !moves_io(m, c, o)) return skip(c.dropped == 0 ? o.lower_bound : 0);
  stats.lower_bound += o.lower_bound;
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
