// Transposes come first: orders are solved to their optimum, and shapes for the orders found. There are many optima of
// the orders, which differ in reshapes: what folding keeps and how ties break is a throw of dice, several throws give
// several optima, and they are mixed operator by operator (joint.hpp).
#include "host/layout/plan.hpp"

#include <algorithm>

#include "host/layout/fold_orders.hpp"
#include "host/layout/joint.hpp"

namespace gantry::layout {
namespace {

/// The first problem, each time with other dice.
class OrderSolver {
 public:
  OrderSolver(const Model& m, const Candidates& c, const EngineOptions& options, const SolverOptions& solver)
      : m_(m), c_(c), options_(options), solver_(solver), max_rank_(options.cost.max_rank) {
    hopes_ = std::ranges::any_of(m.roots, [&](const Root& r) { return static_cast<int>(r.atoms.size()) > max_rank_; });
  }

  /// Orders of the least cost. Where the optimum without a limit on the rank of a transpose keeps to the limit, it is
  /// the optimum.
  Result<Orders> best() {
    if (hopes_) {
      CostModel any_rank = options_.cost;
      any_rank.ranks_bind = false;
      GANTRY_ASSIGN(Orders o, solve(RankLimit::hoped_for, any_rank, 0));
      if (within_rank(o)) return o;
      hopes_ = false;
    }
    return solve(RankLimit::kept, options_.cost, 0);
  }

  /// Others, perhaps dearer.
  Result<Orders> other(std::uint64_t seed) const {
    CostModel cost = options_.cost;
    cost.ranks_bind = !hopes_;
    return solve(hopes_ ? RankLimit::hoped_for : RankLimit::kept, cost, seed);
  }

  /// Every transpose can be written with so many dimensions.
  bool within_rank(const Orders& o) const {
    return std::ranges::all_of(o.copies, [&](const Orders::Copy& copy) {
      const std::vector<Seq>& orders = c_.orders[copy.root];
      return static_cast<int>(runs(orders[o.produced[copy.root]], orders[copy.order])) <= max_rank_;
    });
  }

 private:
  Result<Orders> solve(RankLimit limit, const CostModel& cost, std::uint64_t seed) const {
    const FoldedCandidates folded = fold_candidates(m_, c_, max_rank_, limit, seed);
    GANTRY_ASSIGN(Orders few, solve_orders(m_, folded.left, cost, solver_, seed));
    Orders o = orders_of(m_, c_, options_.cost, folded.of_all(few.choice));
    o.lower_bound = few.lower_bound;
    o.optimal = few.optimal;
    o.solver = std::move(few.solver);
    return o;
  }

  const Model& m_;
  const Candidates& c_;
  const EngineOptions& options_;
  const SolverOptions& solver_;
  int max_rank_;
  bool hopes_;
};

ShapeOptions shape_options(const Graph& g, const EngineOptions& options) {
  ShapeOptions shapes;
  shapes.cost = options.cost;
  shapes.max_rank = [&](NodeId n) {
    const int limit = options.max_rank ? options.max_rank(g.node(n).op) : 0;
    return limit > 0 ? std::min(limit, options.cost.max_rank) : options.cost.max_rank;
  };
  return shapes;
}

/// A good answer is enough for shapes, and it must not depend on a clock.
SolverOptions shape_solver(SolverOptions solver) {
  solver.max_table = std::min<std::uint64_t>(solver.max_table, 20'000);
  solver.nodes = 0;
  solver.highs_library.clear();
  return solver;
}

struct Solvers {
  SolverOptions orders, shapes;
};

Result<Plan> plan_with(const Solvers& solvers, const Graph& g, const Model& m, const Candidates& c,
                       const EngineOptions& options) {
  const ShapeOptions shapes = shape_options(g, options);
  const SolverOptions& solver = solvers.shapes;
  OrderSolver orders(m, c, options, solvers.orders);
  Plan best;
  GANTRY_ASSIGN(best.orders, orders.best());
  GANTRY_ASSIGN(best.shapes, solve_shapes(g, m, c, best.orders, shapes, solver));
  if (best.shapes.reshapes == 0) return best;
  std::vector<Orders> pool{best.orders};
  for (std::size_t seed = 1; seed <= options.ties; ++seed) {
    GANTRY_ASSIGN(Orders o, orders.other(seed));
    const bool known = std::ranges::any_of(pool, [&](const Orders& p) { return p.choice == o.choice; });
    if (!known && o.cost == best.orders.cost && orders.within_rank(o)) pool.push_back(std::move(o));
  }
  if (pool.size() == 1) return best;
  if (std::optional<Orders> mixed = mix_orders(g, m, c, pool, shapes, solver)) pool = {std::move(*mixed)};
  const Plan first = best;
  for (Orders& o : pool) {
    if (o.cost > first.orders.cost || o.choice == first.orders.choice) continue;
    Result<Shapes> cut = solve_shapes(g, m, c, o, shapes, solver);
    if (!cut.ok() || o.cost + cut->cost >= best.cost()) continue;
    o.lower_bound = first.orders.lower_bound;
    o.optimal = first.orders.optimal;
    o.solver = first.orders.solver;
    best = {std::move(o), *std::move(cut)};
  }
  return best;
}

}  // namespace

Result<Plan> make_plan(const Graph& g, const Model& m, const Candidates& c, const EngineOptions& options) {
  GANTRY_ASSIGN(Plan quick, plan_with({options.solver, shape_solver(options.solver)}, g, m, c, options));
  if (!options.thorough) return quick;
  GANTRY_ASSIGN(Plan best, plan_with({*options.thorough, *options.thorough}, g, m, c, options));
  if (best.cost() > quick.cost()) return quick;
  best.won = quick.cost() - best.cost();
  return best;
}

}  // namespace gantry::layout
