// Both layout problems of a region solved: an order for every value, and how each is cut into dimensions.
#pragma once

#include "host/layout/engine.hpp"
#include "host/layout/shapes.hpp"

namespace gantry::layout {

struct Plan {
  Orders orders;
  Shapes shapes;
  std::int64_t won = 0;  // against the plan of the default effort, where a longer search was asked for
  std::int64_t cost() const { return orders.cost + shapes.cost; }
};

/// Orders of the least cost, and among those the ones found that leave the fewest reshapes. Errors: as solve_orders and
/// solve_shapes.
Result<Plan> make_plan(const Graph& g, const Model& m, const Candidates& c, const EngineOptions& options);

}  // namespace gantry::layout
