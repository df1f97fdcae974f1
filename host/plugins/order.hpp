// What is computed before what. Private to host/plugins.
#pragma once

#include "host/ir/graph.hpp"

namespace gantry::plugins {

/// Whether `v` may be an operand of a node placed right before `at`: a constant, an input of a region around, or a
/// result of a node before. Takes time in proportion to the distance between the two nodes.
bool available_before(const Graph& g, ValueId v, NodeId at);
/// The same for the end of a region.
bool available_at_end(const Graph& g, ValueId v, RegionId r);

}  // namespace gantry::plugins
