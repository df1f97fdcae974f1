// TFLite's fused LSTM. Their states are plain operands here, and the states after them further results
// (host/passes/states.hpp). Limits: LiteRT, tflite/kernels/{uni,bi}directional_sequence_lstm.cc.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

/// Result 0 is x with `units` in the place of the inputs.
void set_sequence(const Node& node, const Infer& infer, std::size_t result, std::int64_t units) {
  Dims dims = node.in(0).dims();
  decline_if(dims.size() != 3, node.op(), " takes rank 3");
  dims.back() = units;
  infer.set(result, node.in(0).dtype(), dims);
}
void set_states(const Node& node, const Infer& infer, std::size_t results, std::size_t first) {
  for (std::size_t i = results; i < node.out_count(); ++i) infer.set(i, node.in(first + i - results).type());
}

/// Operand 6: recurrent weights [units, units]; 18 and 19: states.
void infer_lstm(const Node& node, const Infer& infer) {
  set_sequence(node, infer, 0, node.in(6).dim(1));
  set_states(node, infer, 1, 18);
}

/// Operands 6 and 23: recurrent weights of both directions; 35 to 38: states.
void infer_bidirectional_lstm(const Node& node, const Infer& infer) {
  const std::int64_t forward = node.in(6).dim(1), backward = node.in(23).dim(1);
  const bool merged = node.attr("merge_outputs", 0) != 0;
  set_sequence(node, infer, 0, merged ? forward + backward : forward);
  if (!merged) set_sequence(node, infer, 1, backward);
  set_states(node, infer, merged ? 1 : 2, 35);
}

}  // namespace

GANTRY_DEFINE(tflite, "UNIDIRECTIONAL_SEQUENCE_LSTM", layout("fixed: time and batch have their places"),
              infer(infer_lstm), limits(types(DType::float32)),
              note("states are operands; the pass own_states makes variables of them"))
GANTRY_DEFINE(tflite, "BIDIRECTIONAL_SEQUENCE_LSTM", layout("fixed: time and batch have their places"),
              infer(infer_bidirectional_lstm), limits(types(DType::float32)),
              note("states are operands; the pass own_states makes variables of them"))
