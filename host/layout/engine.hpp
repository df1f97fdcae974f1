// The layout stage of one graph: orders, then shapes, then the graph rewritten, region by region.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"
#include "host/layout/explain.hpp"
#include "host/layout/model.hpp"
#include "host/layout/orders.hpp"
#include "host/layout/solver.hpp"

namespace gantry::layout {

struct EngineOptions {
  ModelOptions model;
  CostModel cost;
  SolverOptions solver;
  /// A second plan with these budgets, of orders and shapes alike; the better of the two stands (layout.effort =
  /// "best").
  std::optional<SolverOptions> thorough;
  bool leave_unwritable = false;           // a region that cannot be written stays as it is; else that is an error
  std::size_t ties = 4;                    // other optima of the orders that are tried for fewer reshapes
  std::function<int(const Op&)> max_rank;  // of an operator's operands; 0: none known
};

struct Statistics {
  std::int64_t cost_before = 0, cost_after = 0, lower_bound = 0;  // bytes, node costs included
  bool optimal = true;
  bool proved = true;  // the solver's answer is the best of the candidates, though a cap may have kept some out
  std::size_t candidates_dropped = 0;  // by a cap; 0: the optimum is over all that the rules reach
  std::size_t by_min_cut = 0, by_elimination = 0, by_integer_program = 0, by_search = 0;
  std::size_t regions_skipped = 0;  // two dimensions of one value unknown, or the source was better
  std::int64_t won = 0;             // by the second plan against the first, where there was one
  std::int64_t transpose_cost = 0;  // what cost_after has of transposes: lower_bound is theirs alone
  std::size_t candidates = 0;       // orders of all values
  std::vector<Move> moves;          // the transposes and reshapes that were put in
  /// Inputs and outputs of the main region that are stored with their channels elsewhere.
  struct Reordered {
    bool input = false;
    std::size_t position = 0;
    std::vector<std::int64_t> perm;  // axis j is the source's axis perm[j]
  };
  std::vector<Reordered> reordered;
};

/// Errors: those of the rules, and internal.
Result<Statistics> run(Graph& g, const EngineOptions& options);

}  // namespace gantry::layout
