// Checks every invariant of a graph: use lists, order, ids, unique names, types of constants, regions.
#pragma once

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry {

/// The first broken invariant as an error of code internal_verifier, with the node's name.
Status verify(const Graph& g);

}  // namespace gantry
