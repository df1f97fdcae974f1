// A slow, obvious evaluator of the float32 operators that the clean-ups touch, for tests: static shapes, constants and
// values as plain arrays. Written from the operators' definitions, independent of the passes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"

namespace gantry::testing {

struct Array {
  std::vector<std::int64_t> dims;
  std::vector<float> elements;
};

/// The outputs of the main region, in order. Throws std::runtime_error for what it does not know, or if a result's
/// shape is not the one that the graph says.
std::vector<Array> evaluate(const Graph& g, const std::map<std::string, Array>& inputs);

}  // namespace gantry::testing
