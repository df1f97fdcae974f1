// LSTM, GRU, SimpleRNN as ONNX's operators. Keras: [batch, time, features], gates beside each other in the last axis.
#include <map>

#include "common.hpp"

namespace gantry::keras {
namespace {

using Floats = std::vector<float>;

struct Row {
  std::string_view op, onnx;
  std::int64_t gates;
  Dims order;  // Keras' gate for each of ONNX's
};
// Keras: i f c o, z r h. ONNX: i o f c, z r h.
const Row kRows[] = {{"LSTM", "LSTM", 4, {0, 3, 1, 2}}, {"GRU", "GRU", 3, {0, 1, 2}}, {"SimpleRNN", "RNN", 1, {0}}};

/// An activation as ONNX's recurrent operators name it, and the numbers that it takes.
struct Gate {
  std::string name;
  Floats alpha{}, beta{};
};

Gate gate(const Node& node, std::string_view attribute, const char* otherwise) {
  const std::string name = activation_name(node, attribute, otherwise);
  static const std::map<std::string, Gate, std::less<>> kGates = {{"tanh", {"Tanh"}},
                                                                  {"sigmoid", {"Sigmoid"}},
                                                                  {"relu", {"Relu"}},
                                                                  {"softsign", {"Softsign"}},
                                                                  {"softplus", {"Softplus"}},
                                                                  {"linear", {"LeakyRelu", {1}}},
                                                                  {"elu", {"Elu", {1}}},
                                                                  {"leaky_relu", {"LeakyRelu", {0.2F}}},
                                                                  {"hard_sigmoid", {"HardSigmoid", {0.2F}, {0.5F}}}};
  const auto it = kGates.find(name);
  decline_if(it == kGates.end(), "the activation '", name, "' in a recurrent layer");
  Gate g = it->second;
  if (name == "hard_sigmoid" && keras_version(node) >= 3) g.alpha = {1.0F / 6.0F};
  return g;
}

// [rows, gates * units] -> [1, gates * units, rows], gates in ONNX's order.
Value gates_first(const Emit& emit, const Value& w, const Row& row) {
  const Dims d = w.static_dims();
  decline_if(d.size() != 2 || d[1] % row.gates != 0, "a recurrent kernel of shape ", text(d));
  const Floats from = w.read<float>();
  const std::int64_t units = d[1] / row.gates;
  Floats to;
  to.reserve(from.size());
  for (const std::int64_t g : row.order)
    for (std::int64_t u = 0; u < units; ++u)
      for (std::int64_t r = 0; r < d[0]; ++r) to.push_back(from[static_cast<std::size_t>(r * d[1] + g * units + u)]);
  return emit.constant({1, d[1], d[0]}, to);
}

// The input's bias, then the recurrent one, which only GRU with reset_after has.
Value biases(const Emit& emit, const Value& b, const Row& row, std::int64_t units) {
  const Floats from = b.read<float>();
  const auto width = static_cast<std::size_t>(row.gates * units);
  decline_if(from.size() != width && from.size() != 2 * width, "a recurrent bias of shape ", text(b.dims()));
  Floats to;
  for (std::size_t part = 0; part < 2; ++part)
    for (const std::int64_t g : row.order)
      for (std::int64_t u = 0; u < units; ++u) {
        const std::size_t at = part * width + static_cast<std::size_t>(g * units + u);
        to.push_back(at < from.size() ? from[at] : 0.0F);
      }
  return emit.constant({1, static_cast<std::int64_t>(2 * width)}, to);
}

Attributes attributes_of_layer(const Node& node, const Row& row, std::int64_t units, bool backwards, bool reset_after) {
  std::vector<Gate> gates;
  if (row.op != "SimpleRNN") gates.push_back(gate(node, "recurrent_activation", "sigmoid"));
  gates.push_back(gate(node, "activation", "tanh"));
  if (row.op == "LSTM") gates.push_back(gates.back());
  std::vector<std::string> names;
  Floats alpha, beta;
  for (const Gate& g : gates) {
    names.push_back(g.name);
    alpha.insert(alpha.end(), g.alpha.begin(), g.alpha.end());
    beta.insert(beta.end(), g.beta.begin(), g.beta.end());
  }
  Attributes a{{"hidden_size", units}, {"activations", names}, {"direction", backwards ? "reverse" : "forward"}};
  // Each that takes a number takes the next.
  if (!alpha.empty()) a.emplace_back("activation_alpha", alpha);
  if (!beta.empty()) a.emplace_back("activation_beta", beta);
  if (row.op == "GRU") a.emplace_back("linear_before_reset", reset_after);
  return a;
}

Results recurrent(const Node& node, const Emit& emit, const Row& row) {
  std::vector<Value> in = operands(node, 1, row.op == "LSTM" ? 3 : 2, "initial_state");
  const bool backwards = integer(node, "go_backwards", 0) != 0, sequences = integer(node, "return_sequences", 0) != 0;
  decline_if(integer(node, "stateful", 0) != 0,
             "a stateful layer keeps its state from call to call; set stateful to False");
  decline_if(integer(node, "time_major", 0) != 0, "time_major");
  const Value x = emit.cast(in[0], DType::float32);
  decline_if(x.rank() != 3, "a recurrent layer over a tensor of rank ", x.rank());
  const Value kernel = weight(node, 0), again = weight(node, 1);
  const std::int64_t units = again.dim(0);
  const bool bias = integer(node, "use_bias", 1) != 0;
  const bool reset_after = row.op == "GRU" && integer(node, "reset_after", 0) != 0;
  std::vector<Value> inputs{emit.transpose(x, {1, 0, 2}), gates_first(emit, kernel, row), gates_first(emit, again, row),
                            bias ? biases(emit, weight(node, 2), row, units) : Value()};
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (i == 1) inputs.emplace_back();  // lengths
    inputs.push_back(emit.reshape(in[i], {1, in[i].dim(0), in[i].dim(1)}));
  }
  const std::size_t outputs = row.op == "LSTM" ? 3 : 2;
  const std::vector<Value> y =
      emit.ops(row.onnx, outputs, inputs, attributes_of_layer(node, row, units, backwards, reset_after));
  const auto state = [&](const Value& v) {  // [1, batch, units]
    return reshape_rows(emit, emit.transpose(v, {1, 0, 2}), {units});
  };
  std::vector<Value> results{state(y[1])};
  if (sequences) {  // [time, 1, batch, units] -> [batch, time, units], in the order of computation
    const Value all = emit.transpose(y[0], {2, 0, 1, 3});
    results[0] = reshape_rows(emit, all, {x.dim(1) < 0 ? -1 : x.dim(1), units});
    if (backwards != node.has_attr("turn_round"))
      results[0] = emit.op("Slice", {results[0], emit.i64({-1}), emit.i64({INT64_MIN}), emit.i64({1}), emit.i64({-1})});
  }
  for (std::size_t i = 1; i < node.out_count(); ++i) {
    decline_if(i >= outputs, "result ", i, " of ", row.op);
    results.push_back(state(y[i]));
  }
  return results;
}

}  // namespace
}  // namespace gantry::keras

using namespace gantry::keras;
GANTRY_TABLE(keras, kRows, recurrent, to(onnx))
