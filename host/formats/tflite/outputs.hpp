// What the runtime wants of outputs beyond a correct graph.
#pragma once

#include <cstddef>

#include "host/ir/graph.hpp"

namespace gantry::tflite_format {

/// Gives outputs that LiteRT would not fill a tensor of their own, by a RESHAPE to the same shape: an output of the
/// main region that is one of its inputs, and, in any region, an output whose value is an output already. Returns how
/// many were made. To be called on the finished graph, before the writer.
std::size_t separate_outputs(Graph& g);

}  // namespace gantry::tflite_format
