// TFLite's operators that change some of their operands: the states of recurrent layers. LiteRT takes only "variable"
// tensors there, which live on from one run of a model to the next. In the graph such an operand is a value like every
// other: the state before. The states after, in the same order, are further results, behind those of the format. The
// pass own_states brings a node to the form that the format has, in which no state outlives a run.
#pragma once

#include <cstddef>
#include <span>

#include "host/ir/graph.hpp"

namespace gantry {

struct States {
  std::span<const std::size_t> operands;  // empty for every other operator
  std::size_t results = 0;                // that the format has
};

inline States states_of(const Op& op, const Attrs& attrs) {
  static constexpr std::size_t kOne[] = {18, 19}, kTwo[] = {35, 36, 37, 38};
  if (op.is("tflite", "UNIDIRECTIONAL_SEQUENCE_LSTM")) return {kOne, 1};
  if (!op.is("tflite", "BIDIRECTIONAL_SEQUENCE_LSTM")) return {};
  for (const auto& [name, value] : attrs) {
    const auto* on = std::get_if<std::int64_t>(&value);
    if (name == "merge_outputs" && on && *on != 0) return {kTwo, 1};
  }
  return {kTwo, 2};
}
inline States states_of(const Node& n) { return states_of(n.op, n.attrs); }

}  // namespace gantry
