// LSTM as one operator of TFLite. How the states get there: host/passes/own_states.cpp, docs/decisions/0002-lstm.md.
#include <algorithm>

#include "recurrent.hpp"

namespace core_ops {
namespace {

/// TFLite's order of gates is i, f, c, o; ONNX's is i, o, f, c.
constexpr std::int64_t kGates[] = {0, 2, 3, 1};
/// Of peepholes i, f, o; ONNX's i, o, f.
constexpr std::int64_t kPeepholes[] = {0, 2, 1};

bool is_constant(const Value& v) { return !v || v.constant(); }

std::string_view fused_name(const CellActivation& f) {
  return f.name == "Tanh" ? "TANH" : f.name == "Relu" ? "RELU" : "";
}

/// Twelve weights, four biases and the (absent) projection, in the places that both operators have them.
void add_direction(const Emit& emit, const CellWeights& w, std::vector<Value>& operands) {
  const std::int64_t n = w.hidden;
  for (const Value& v : {w.w, w.r})
    for (const std::int64_t gate : kGates) operands.push_back(cut(emit, v, 0, gate * n, n));
  for (const std::int64_t at : kPeepholes)
    operands.push_back(w.peephole ? cut(emit, w.peephole, 0, at * n, n) : Value());
  const Value bias =
      w.input_bias ? w.input_bias : emit.constant<float>({4 * n}, std::vector<float>(static_cast<std::size_t>(4 * n)));
  for (const std::int64_t gate : kGates) operands.push_back(cut(emit, bias, 0, gate * n, n));
  operands.insert(operands.end(), 2, Value());
}

Value backward_in_time(const Emit& emit, const Value& x, int axis) {
  return emit.op("REVERSE_V2", {x, emit.i32({axis})});
}

}  // namespace

bool fits_fused_lstm(const std::vector<CellWeights>& directions, const std::vector<std::vector<Value>>& states) {
  const std::string_view function = fused_name(directions[0].activations[1]);
  const auto fits = [&](const CellWeights& w) {
    return w.activations[0].name == "Sigmoid" && fused_name(w.activations[1]) == function &&
           fused_name(w.activations[2]) == function && w.clip == 0 && !w.input_forget && is_constant(w.w) &&
           is_constant(w.r) && is_constant(w.input_bias) && is_constant(w.peephole);
  };
  const auto known = [](const Value& v) { return v.is_static(); };
  return !function.empty() && std::all_of(directions.begin(), directions.end(), fits) &&
         std::all_of(states.begin(), states.end(),
                     [&](const auto& of) { return std::all_of(of.begin(), of.end(), known); });
}

FusedLstm fused_lstm(const Emit& emit, const Value& x, bool time_major, bool backward,
                     const std::vector<CellWeights>& directions, const std::vector<std::vector<Value>>& states) {
  const bool both = directions.size() == 2;
  const int time = time_major ? 0 : 1;
  std::vector<Value> operands{!both && backward ? backward_in_time(emit, x, time) : x};
  for (const CellWeights& w : directions) add_direction(emit, w, operands);
  for (const auto& of : states)
    for (const Value& state : of) operands.push_back(remove_axis(emit, state, 0));
  operands.insert(operands.end(), both ? 9 : 4, Value());  // a second input; normalization of the gates
  Attributes attributes{{"fused_activation_function", fused_name(directions[0].activations[1])},
                        {"cell_clip", 0.0},
                        {"proj_clip", 0.0},
                        {"time_major", time_major},
                        {"asymmetric_quantize_inputs", false}};
  if (both)
    attributes.emplace_back("merge_outputs", true);
  else
    attributes.emplace_back("diagonal_recurrent_tensors", false);
  const std::vector<Value> made = emit.ops(both ? "BIDIRECTIONAL_SEQUENCE_LSTM" : "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                           both ? 5 : 3, operands, attributes);
  FusedLstm result{made[0], {}};
  const Extent steps = extent_of(emit, x, time);
  for (std::size_t d = 0; d < directions.size(); ++d) {
    // The last h stands in the result; the second direction ends where the first begins.
    const Value end = d == 1             ? emit.scalar(DType::int32, 0)
                      : steps.is_known() ? emit.scalar(DType::int32, static_cast<double>(steps.known - 1))
                                         : emit.sub(steps.value, 1);
    const std::int64_t n = directions[d].hidden;
    const Value h = cut(emit, gather(emit, made[0], end, time), 1, static_cast<std::int64_t>(d) * n, n);
    result.last.push_back({insert_axis(emit, h, 0), insert_axis(emit, made[2 + 2 * d], 0)});
  }
  if (!both && backward) result.all = backward_in_time(emit, result.all, time);
  return result;
}

}  // namespace core_ops
