// Rewrites the graph to the chosen orders and shapes: operators in place, transposes and reshapes where a copy differs.
#pragma once

#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"
#include "host/layout/explain.hpp"
#include "host/layout/shapes.hpp"

namespace gantry::layout {

/// Gives the transposes and reshapes that it put in. Afterwards the views of the model are gone, and the types,
/// attributes and constants of its operators are in storage order. The logical meaning of inputs and outputs is as
/// before; those stored with channels moved have their new types. Errors: internal, naming the node; the graph is then
/// not to be used.
Result<std::vector<EmittedMove>> apply(Graph& g, RegionId region, const Model& m, const Candidates& c, const Orders& o,
                                       const Shapes& s);

}  // namespace gantry::layout
