// QSimpleRNN, QLSTM, QGRU, step by step: the state quantizer works on the state that enters a step, which no recurrent
// operator of ONNX has.
#include <algorithm>

#include "layers.hpp"

namespace gantry::quant {
namespace {

constexpr std::int64_t kMostSteps = 1024;

struct Row {
  std::string_view op;
  std::size_t gates;
};
constexpr Row kRows[] = {{"QSimpleRNN", 1}, {"QLSTM", 4}, {"QGRU", 3}};

/// A function of a tensor: a quantizer, one of QKeras' functions, or a plain activation.
class Function {
 public:
  Function(const Node& node, const Emit& emit, std::string_view attribute, const char* otherwise)
      : emit_(emit), q_(parse_quantizer(node.attr<std::string>(attribute, otherwise))) {}
  Value operator()(const Value& x) const {
    if (!q_) return x;
    if (is_qkeras(*q_)) return emit_activation(emit_, x, *q_);
    if (q_->name == "tanh") return emit_.op("Tanh", {x});
    if (q_->name == "sigmoid") return emit_.op("Sigmoid", {x});
    if (q_->name == "relu") return emit_.op("Relu", {x});
    decline("the activation '", q_->name, "' in a recurrent layer");
  }

 private:
  const Emit& emit_;
  std::optional<Quantizer> q_;
};

Value quantized(const Node& node, const Emit& emit, const Value& w, std::string_view attribute) {
  const auto q = quantizer_in(node, attribute);
  return q ? emit_weight(emit, w, *q) : w;
}

class Layer {
 public:
  Layer(const Node& node, const Emit& emit, const Row& row)
      : node_(node),
        emit_(emit),
        row_(row),
        activation_(node, emit, "activation", "quantized_tanh(8)"),
        recurrent_activation_(node, emit, "recurrent_activation", "hard_sigmoid"),
        state_(node, emit, "state_quantizer", "") {
    const auto n = static_cast<std::size_t>(node.attr<std::int64_t>("operand_count", 1));
    const std::size_t states = row.op == "QLSTM" ? 2 : 1;
    decline_if(n != 1 && n != 1 + states, "it is called with ", n, " tensors");
    if (n > 1) h_ = node.in(1), c_ = node.in(n - 1);
    decline_if(flag("stateful"), "a stateful layer keeps its state from call to call; set stateful to False");
    kernel_ = quantized(node, emit, node.in(n), "kernel_quantizer");
    again_ = quantized(node, emit, node.in(n + 1), "recurrent_quantizer");
    units_ = node.in(n + 1).dim(0);
    // QKeras 0.9.0 takes the kernel where QGRU has no recurrent_quantizer.
    if (row.op == "QGRU" && node.attr<std::int64_t>("keras_version", 2) < 3 &&
        !quantizer_in(node, "recurrent_quantizer")) {
      decline_if(node.in(n).dims() != node.in(n + 1).dims(),
                 "QGRU without recurrent_quantizer: QKeras 0.9.0 cannot run it");
      again_ = node.in(n);
      emit.call().warn(
          "QGRU of QKeras 0.9.0 without recurrent_quantizer multiplies the state by its kernel, and so does this");
    }
    if (node.attr<std::int64_t>("use_bias", 1) == 0) return;
    bias_ = quantized(node, emit, node.in(n + 2), "bias_quantizer");
    if (flag("reset_after")) {  // [2, gates * units]: of the input, of the state
      const std::vector<Value> rows = emit.ops("Split", 2, {bias_, emit.i64({1, 1})}, {{"axis", 0}});
      bias_ = rows[0], again_bias_ = rows[1];
    }
  }

  std::vector<Value> run() {
    const Value x = node_.in(0);
    decline_if(x.rank() != 3, "a recurrent layer over a tensor of rank ", x.rank());
    const std::int64_t steps = x.dim(1), batch = x.dim(0);
    decline_if(steps < 1 || steps > kMostSteps, "a quantized recurrent layer over ",
               steps < 0 ? "an unknown number of" : "too many", " steps cannot be written step by step");
    decline_if(batch < 0, "a quantized recurrent layer with an open batch; give --batch");
    const Value zero =
        emit_.constant({batch, units_}, std::vector<float>(static_cast<std::size_t>(batch * units_), 0.0F));
    if (!h_) h_ = c_ = zero;
    const bool backwards = flag("go_backwards");
    std::vector<Value> all;
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t t = backwards ? steps - 1 - i : i;
      step(emit_.op("Gather", {x, emit_.scalar(DType::int64, static_cast<double>(t))}, {{"axis", 1}}));
      all.push_back(h_);
    }
    if (node_.has_attr("turn_round")) std::ranges::reverse(all);
    std::vector<Value> results{flag("return_sequences") ? sequence(all, batch) : h_};
    for (std::size_t i = 1; i < node_.out_count(); ++i) {
      decline_if(i > (row_.op == "QLSTM" ? 2U : 1U), "result ", i, " of ", row_.op);
      results.push_back(i == 1 ? h_ : c_);
    }
    return results;
  }

 private:
  bool flag(std::string_view name) const { return node_.attr<std::int64_t>(name, 0) != 0; }

  Value sequence(const std::vector<Value>& all, std::int64_t batch) const {
    std::vector<Value> rows;
    for (const Value& v : all) rows.push_back(emit_.reshape(v, {batch, 1, units_}));
    return rows.size() == 1 ? rows[0] : emit_.op("Concat", rows, {{"axis", 1}});
  }
  std::vector<Value> split(const Value& z, std::size_t parts) const {
    if (parts == 1) return {z};
    const Dims sizes(parts, units_);
    return emit_.ops("Split", parts, {z, emit_.i64(sizes)}, {{"axis", -1}});
  }
  Value with_bias(const Value& z) const { return bias_ ? emit_.add(z, bias_) : z; }

  void step(const Value& x) {
    const Value h = state_(h_);
    const Value from_x = emit_.op("MatMul", {x, kernel_});
    if (row_.op == "QGRU") {
      gru(with_bias(from_x), h);
      return;
    }
    if (row_.op == "QSimpleRNN") {  // act(x K + b + h R)
      h_ = activation_(emit_.add(with_bias(from_x), emit_.op("MatMul", {h, again_})));
      return;
    }
    const Value c = state_(c_);
    const auto g = split(with_bias(emit_.add(from_x, emit_.op("MatMul", {h, again_}))), 4);  // i f c o
    const Value i = recurrent_activation_(g[0]), f = recurrent_activation_(g[1]);
    c_ = emit_.add(emit_.mul(f, c), emit_.mul(i, activation_(g[2])));
    h_ = emit_.mul(recurrent_activation_(g[3]), activation_(c_));
  }

  // z, r from x and h; hh from x and r h, or r (h R + b) with reset_after; h' = z h + (1 - z) hh
  void gru(const Value& from_x, const Value& h) {
    if (!again_z_) {
      const auto parts = split(again_, 3);
      again_z_ = parts[0], again_r_ = parts[1], again_h_ = parts[2];
      if (again_bias_) again_biases_ = split(again_bias_, 3);
    }
    const auto x = split(from_x, 3);
    const auto state = [&](const Value& s, const Value& kernel, std::size_t gate) {
      const Value y = emit_.op("MatMul", {s, kernel});
      return again_biases_.empty() ? y : emit_.add(y, again_biases_[gate]);
    };
    const Value z = recurrent_activation_(emit_.add(x[0], state(h, again_z_, 0)));
    const Value r = recurrent_activation_(emit_.add(x[1], state(h, again_r_, 1)));
    const Value last = flag("reset_after") ? emit_.mul(r, state(h, again_h_, 2)) : state(emit_.mul(r, h), again_h_, 2);
    const Value hh = activation_(emit_.add(x[2], last));
    h_ = emit_.add(emit_.mul(z, h), emit_.mul(emit_.sub(emit_.scalar(DType::float32, 1), z), hh));
  }

  const Node& node_;
  const Emit& emit_;
  const Row& row_;
  Function activation_, recurrent_activation_, state_;
  std::vector<Value> again_biases_;
  Value kernel_, again_, bias_, again_bias_, again_z_, again_r_, again_h_, h_, c_;
  std::int64_t units_ = 0;
};

Results recurrent(const Node& node, const Emit& emit, const Row& row) { return Layer(node, emit, row).run(); }
GANTRY_TABLE(qkeras, kRows, recurrent, to(onnx))

}  // namespace
}  // namespace gantry::quant
