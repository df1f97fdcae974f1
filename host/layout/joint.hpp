// Orders have many tied optima, and the ties differ in reshapes: several are tried, and mixed.
#pragma once

#include <optional>
#include <vector>

#include "host/layout/shapes.hpp"

namespace gantry::layout {

/// From several optimal choices of orders, a mixture that needs fewer reshapes, operator by operator; its transposes
/// may be counted too high where copies are shared, so the caller compares the result. Nothing if that problem would be
/// too large, or has no solution.
std::optional<Orders> mix_orders(const Graph& g, const Model& m, const Candidates& c, const std::vector<Orders>& pool,
                                 const ShapeOptions& options, const SolverOptions& solver);

}  // namespace gantry::layout
