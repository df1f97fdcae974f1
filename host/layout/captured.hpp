// Values of outer regions that a region uses without taking them as inputs (ONNX's subgraphs do so).
#pragma once

#include <set>
#include <vector>

#include "host/ir/graph.hpp"

namespace gantry::layout {

/// The region in which a value is made; none for constants.
RegionId home_of(const Graph& g, ValueId v);
/// The regions of a node, and those of the nodes within.
std::set<RegionId> regions_within(const Graph& g, NodeId n);
/// Values from outside that the regions of a node use, each once, in order of id. Constants are none.
std::vector<ValueId> captured_by(const Graph& g, NodeId n);
/// Values from outside that the nodes of a region use, those in nested regions included; likewise.
std::vector<ValueId> captured_by(const Graph& g, RegionId r);
/// Inside the regions of `n`, `to` takes the place of `from`.
void replace_within(Graph& g, NodeId n, ValueId from, ValueId to);

}  // namespace gantry::layout
