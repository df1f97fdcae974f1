// An operator's own numbers (axes, offsets, paddings) in terms of the dimensions it is stored with.
#pragma once

#include "host/ir/graph.hpp"
#include "host/layout/writing.hpp"

namespace gantry::layout {

/// Rewrites the attributes and parameter operands of a node for a writing. `operands` of the node still hold the old
/// values; parameter operands are replaced by new constants.
Status rewrite_attributes(Graph& g, const Writer& writer, const Writing& w);

/// Makes a 1x1 convolution that is not written with its own number of dimensions a FULLY_CONNECTED.
void become_linear(Graph& g, const Writer& writer, const Writing& w);

/// Rewrites constant operands: their pieces in stored order, grouped like the other operands.
Status rewrite_constants(Graph& g, const Writer& writer, const Writing& w);

}  // namespace gantry::layout
