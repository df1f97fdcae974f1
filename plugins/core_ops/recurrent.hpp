// RNN, GRU and LSTM: what they share.
#pragma once

#include "loop.hpp"

namespace core_ops {

/// An activation function of a cell, with its parameters.
struct CellActivation {
  std::string name;
  float alpha = 0, beta = 0;
  Value operator()(const Emit& emit, const Value& x) const;
};

/// The activations of all directions, `each` of them for one, from the attributes or `defaults`.
std::vector<CellActivation> cell_activations(const Node& node, std::size_t directions,
                                             const std::vector<std::string>& defaults);

/// x * weights^T + bias, for constant and for runtime weights [n, k].
Value project(const Emit& emit, const Value& x, const Value& weights, const Value& bias);

/// One direction of a layer, in float32.
struct CellWeights {
  std::int64_t hidden = 0;
  Value w, r;         // [gates * hidden, inputs], [gates * hidden, hidden]
  Value input_bias;   // [gates * hidden]: what is added before the recurrent part
  Value hidden_bias;  // of the GRU with linear_before_reset: [hidden]
  Value peephole;     // of the LSTM: [3 * hidden], for the gates i, o, f
  std::vector<CellActivation> activations;
  float clip = 0;  // 0: none
  bool linear_before_reset = false, input_forget = false;
};

/// One step of a cell: `x` [1, batch, gates * hidden] is the input's part with its bias, `state` what it keeps. Returns
/// the new state, the result first.
using CellStep = std::vector<Value> (*)(const Emit& emit, const CellWeights& weights, const Value& x,
                                        const std::vector<Value>& state);
std::vector<Value> rnn_step(const Emit& emit, const CellWeights& w, const Value& x, const std::vector<Value>& state);
std::vector<Value> gru_step(const Emit& emit, const CellWeights& w, const Value& x, const std::vector<Value>& state);
std::vector<Value> lstm_step(const Emit& emit, const CellWeights& w, const Value& x, const std::vector<Value>& state);

/// TFLite's fused LSTM, for constant weights, known sizes of the states, Sigmoid at the gates and one function that it
/// has elsewhere. ONNX's clip is of what goes into the functions, TFLite's of the cell state: it does not fit.
bool fits_fused_lstm(const std::vector<CellWeights>& directions, const std::vector<std::vector<Value>>& states);
struct FusedLstm {
  Value all;                             // x with directions * hidden in the place of the inputs
  std::vector<std::vector<Value>> last;  // of each direction: the states after the last step, [1, batch, hidden]
};
/// x is [time, batch, inputs] or, not `time_major`, [batch, time, inputs]; `states` of each direction: h, c.
FusedLstm fused_lstm(const Emit& emit, const Value& x, bool time_major, bool backward,
                     const std::vector<CellWeights>& directions, const std::vector<std::vector<Value>>& states);

/// v[begin : begin + size] along an axis, of a constant or not.
Value cut(const Emit& emit, const Value& v, int axis, std::int64_t begin, std::int64_t size);

}  // namespace core_ops
