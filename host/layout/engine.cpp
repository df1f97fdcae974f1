#include "host/layout/engine.hpp"

#include <algorithm>

#include "host/layout/apply.hpp"
#include "host/layout/fold.hpp"
#include "host/layout/joint.hpp"
#include "host/layout/shapes.hpp"

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

/// Both problems solved.
struct Plan {
  Orders orders;
  Shapes shapes;
  std::int64_t cost() const { return orders.cost + shapes.cost; }
};

/// Every transpose can be written with so many dimensions.
bool within_rank(const Candidates& c, const Orders& o, int max_rank) {
  return std::all_of(o.copies.begin(), o.copies.end(), [&](const Orders::Copy& copy) {
    const std::vector<Seq>& orders = c.orders[copy.root];
    return static_cast<int>(runs(orders[o.produced[copy.root]], orders[copy.order])) <= max_rank;
  });
}

/// Candidates that are needed, and the best orders among them. Where the optimum without a limit on the rank of a
/// transpose keeps to the limit, it is the optimum.
Result<Candidates> needed_candidates(const Model& m, const EngineOptions& options, Orders& best) {
  const Candidates all = find_candidates(m);
  const int max_rank = options.cost.max_rank;
  const auto wide = [&](const Root& r) { return static_cast<int>(r.atoms.size()) > max_rank; };
  if (std::any_of(m.roots.begin(), m.roots.end(), wide)) {
    Candidates few = all;
    fold_candidates(m, few, max_rank, RankLimit::hoped_for);
    CostModel any_rank = options.cost;
    any_rank.ranks_bind = false;
    GANTRY_ASSIGN(best, solve_orders(m, few, any_rank, options.solver));
    if (within_rank(few, best, max_rank)) return few;
  }
  Candidates few = all;
  fold_candidates(m, few, max_rank, RankLimit::kept);
  GANTRY_ASSIGN(best, solve_orders(m, few, options.cost, options.solver));
  return few;
}

/// Orders, shapes, and where reshapes are left other optima of the orders and their mixture; the best of all.
Result<Plan> make_plan(const Graph& g, const Model& m, const Candidates& c, Orders orders, const ShapeOptions& shapes,
                       const EngineOptions& options) {
  Plan best;
  best.orders = std::move(orders);
  SolverOptions solver = options.solver;  // a good answer is enough for shapes, and it must not depend on a clock
  if (!options.thorough) {
    solver.max_table = std::min<std::uint64_t>(solver.max_table, 20'000);
    solver.nodes = 0;
    solver.highs_library.clear();
  }
  GANTRY_ASSIGN(best.shapes, solve_shapes(g, m, c, best.orders, shapes, solver));
  if (best.shapes.reshapes == 0 || options.ties == 0) return best;
  std::vector<Orders> pool{best.orders};
  const auto consider = [&](Orders o) -> Status {
    if (o.cost > best.orders.cost) return {};
    o.lower_bound = best.orders.lower_bound;
    o.optimal = best.orders.optimal;
    o.solver = best.orders.solver;
    Result<Shapes> s = solve_shapes(g, m, c, o, shapes, solver);
    if (s.ok() && o.cost + s->cost < best.cost()) best = {std::move(o), *std::move(s)};
    return {};
  };
  for (std::size_t seed = 1; seed <= options.ties; ++seed) {
    GANTRY_ASSIGN(Orders o, solve_orders(m, c, options.cost, options.solver, seed));
    if (o.cost == best.orders.cost) pool.push_back(std::move(o));
  }
  Result<Orders> mixed = mix_orders(g, m, c, pool, shapes, solver);
  if (mixed.ok()) GANTRY_TRY(consider(*std::move(mixed)));
  return best;
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
  Orders first;
  GANTRY_ASSIGN(const Candidates c, needed_candidates(m, options, first));
  ShapeOptions shape_options;
  shape_options.cost = options.cost;
  shape_options.max_rank = [&](NodeId n) {
    const int limit = options.max_rank ? options.max_rank(g.node(n).op) : 0;
    return limit > 0 ? std::min(limit, options.cost.max_rank) : options.cost.max_rank;
  };
  Result<Plan> made = make_plan(g, m, c, std::move(first), shape_options, options);
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
