// The cells of RNN, GRU and LSTM, one step each. Formulas: ONNX operator specification; where the clip applies: ONNX
// Runtime, which bounds what goes into the gates' functions, not the cell state.
#include <algorithm>

#include "recurrent.hpp"

namespace core_ops {
namespace {

Value clipped(const Emit& emit, const CellWeights& w, const Value& x) {
  return w.clip > 0 ? emit.maximum(emit.minimum(x, w.clip), -w.clip) : x;
}

std::vector<Value> gates(const Emit& emit, const Value& x, std::int64_t n) {
  return emit.ops("SPLIT", static_cast<std::size_t>(n), {emit.constant<std::int32_t>({}, {x.rank() - 1}), x},
                  {{"num_splits", n}});
}

struct Known {
  std::string_view name;
  bool alpha, beta;
  float default_alpha, default_beta;
};
constexpr Known kKnown[] = {
    {"Relu", false, false, 0, 0},
    {"Tanh", false, false, 0, 0},
    {"Sigmoid", false, false, 0, 0},
    {"Softsign", false, false, 0, 0},
    {"Softplus", false, false, 0, 0},
    {"LeakyRelu", true, false, 0.01f, 0},
    {"ThresholdedRelu", true, false, 1, 0},
    {"Elu", true, false, 1, 0},
    {"Affine", true, true, 1, 0},
    {"ScaledTanh", true, true, 1, 1},
    {"HardSigmoid", true, true, 0.2f, 0.5f},
};

std::string lower(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

Value CellActivation::operator()(const Emit& emit, const Value& x) const {
  if (name == "Relu") return emit.op("RELU", {x});
  if (name == "Tanh") return emit.op("TANH", {x});
  if (name == "Sigmoid") return emit.op("LOGISTIC", {x});
  if (name == "Softsign") return emit.div(x, emit.add(emit.op("ABS", {x}), 1));
  // log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))
  if (name == "Softplus") {
    const Value tail = emit.op("LOG", {emit.add(emit.op("EXP", {emit.op("NEG", {emit.op("ABS", {x})})}), 1)});
    return emit.add(emit.op("RELU", {x}), tail);
  }
  if (name == "LeakyRelu") return emit.op("LEAKY_RELU", {x}, {{"alpha", alpha}});
  if (name == "ThresholdedRelu") {
    const auto [a, zero] = emit.values(emit.scalar(DType::float32, alpha), emit.scalar(DType::float32, 0));
    return emit.op("SELECT_V2", {emit.op("GREATER", {x, a}), x, zero});
  }
  if (name == "Elu") return emit.add(emit.op("RELU", {x}), emit.mul(emit.op("ELU", {emit.minimum(x, 0)}), alpha));
  if (name == "Affine") return emit.add(emit.mul(x, alpha), beta);
  if (name == "ScaledTanh") return emit.mul(emit.op("TANH", {emit.mul(x, beta)}), alpha);
  return emit.maximum(emit.minimum(emit.add(emit.mul(x, alpha), beta), 1), 0);  // HardSigmoid
}

// The lists of alpha and beta have an entry for each function that takes one, in order; where they end, the defaults
// hold.
std::vector<CellActivation> cell_activations(const Node& node, std::size_t directions,
                                             const std::vector<std::string>& defaults) {
  std::vector<std::string> names = node.attr("activations", std::vector<std::string>{});
  if (names.empty())
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  decline_if(names.size() != directions * defaults.size(), names.size(), " activations for ", directions,
             " directions of ", defaults.size());
  const auto alphas = node.attr("activation_alpha", std::vector<float>{}),
             betas = node.attr("activation_beta", std::vector<float>{});
  std::size_t a = 0, b = 0;
  std::vector<CellActivation> all;
  for (const std::string& name : names) {
    const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                     [&](const Known& k) { return lower(k.name) == lower(name); });
    decline_if(known == std::end(kKnown), "the activation ", name);
    CellActivation f{std::string(known->name), known->default_alpha, known->default_beta};
    // Affine and ScaledTanh have no defaults in the specification.
    decline_if(f.name == "ThresholdedRelu" && a >= alphas.size(), "the activation ThresholdedRelu without its alpha");
    decline_if((f.name == "Affine" || f.name == "ScaledTanh") && (a >= alphas.size() || b >= betas.size()),
               "the activation ", f.name, " without its alpha and beta");
    if (known->alpha && a < alphas.size()) f.alpha = alphas[a++];
    if (known->beta && b < betas.size()) f.beta = betas[b++];
    all.push_back(f);
  }
  return all;
}

Value cut(const Emit& emit, const Value& v, int axis, std::int64_t begin, std::int64_t size) {
  Dims dims = v.dims(), starts(dims.size(), 0);
  const auto at = static_cast<std::size_t>(axis);
  if (begin == 0 && dims[at] == size) return v;
  starts[at] = begin;
  dims[at] = size;
  if (v.constant()) return emit.slice_constant(v, starts, Dims(dims.size(), 1), dims);
  return emit.op("SLICE", {v, emit.i32(starts), emit.i32(dims)});
}

Value project(const Emit& emit, const Value& x, const Value& weights, const Value& bias) {
  if (weights.constant() && (!bias || bias.constant())) {
    const std::int64_t n = weights.dim(0);
    const Value zero = bias ? bias : emit.constant<float>({n}, std::vector<float>(static_cast<std::size_t>(n), 0.0f));
    return emit.op("FULLY_CONNECTED", {x, weights, zero},
                   {{"keep_num_dims", true},
                    {"weights_format", "DEFAULT"},
                    {"asymmetric_quantize_inputs", false},
                    no_activation()});
  }
  const Value y =
      emit.op("BATCH_MATMUL", {x, weights}, {{"adj_x", false}, {"adj_y", true}, {"asymmetric_quantize_inputs", false}});
  return bias ? emit.add(y, bias) : y;
}

/// H = f(X W^T + H R^T + b)
std::vector<Value> rnn_step(const Emit& emit, const CellWeights& w, const Value& x, const std::vector<Value>& state) {
  const Value sum = emit.add(x, project(emit, state[0], w.r, {}));
  return {w.activations[0](emit, clipped(emit, w, sum))};
}

/// z = f(X Wz^T + H Rz^T + bz), r likewise; h = g(X Wh^T + (r * H) Rh^T + bh), or with linear_before_reset
/// h = g(X Wh^T + Wbh + r * (H Rh^T + Rbh)); H = (1 - z) * h + z * H, which is h + z * (H - h).
std::vector<Value> gru_step(const Emit& emit, const CellWeights& w, const Value& x, const std::vector<Value>& state) {
  const std::int64_t n = w.hidden;
  const Value h = state[0];
  const std::vector<Value> xs = gates(emit, x, 3);
  std::vector<Value> hs;
  if (w.linear_before_reset) {
    Value bias;
    if (w.hidden_bias && w.hidden_bias.constant()) {
      std::vector<float> b(static_cast<std::size_t>(2 * n), 0.0f);
      const std::vector<float> last = w.hidden_bias.read<float>();
      b.insert(b.end(), last.begin(), last.end());
      bias = emit.constant<float>({3 * n}, b);
    }
    hs = gates(emit, project(emit, h, w.r, bias), 3);
    if (w.hidden_bias && !bias) hs[2] = emit.add(hs[2], w.hidden_bias);
  } else {
    hs = gates(emit, project(emit, h, cut(emit, w.r, 0, 0, 2 * n), {}), 2);
  }
  const Value z = w.activations[0](emit, clipped(emit, w, emit.add(xs[0], hs[0])));
  const Value r = w.activations[0](emit, clipped(emit, w, emit.add(xs[1], hs[1])));
  const Value part =
      w.linear_before_reset ? emit.mul(r, hs[2]) : project(emit, emit.mul(r, h), cut(emit, w.r, 0, 2 * n, n), {});
  const Value candidate = w.activations[1](emit, clipped(emit, w, emit.add(xs[2], part)));
  return {emit.add(candidate, emit.mul(z, emit.sub(h, candidate)))};
}

/// i = f(X Wi^T + H Ri^T + Pi * C + bi), f likewise (or 1 - i), c = g(...) without P; C = f * C + i * c;
/// o = f(... + Po * C); H = o * h(C). The gates' order in the weights is i, o, f, c, in P it is i, o, f.
std::vector<Value> lstm_step(const Emit& emit, const CellWeights& w, const Value& x, const std::vector<Value>& state) {
  const Value h = state[0], c = state[1];
  const std::vector<Value> g = gates(emit, emit.add(x, project(emit, h, w.r, {})), 4);
  const auto gate = [&](std::size_t at, const Value& cell, std::int64_t peephole, std::size_t function) {
    Value sum = g[at];
    if (w.peephole && peephole >= 0)
      sum = emit.add(sum, emit.mul(cell, cut(emit, w.peephole, 0, peephole * w.hidden, w.hidden)));
    return w.activations[function](emit, clipped(emit, w, sum));
  };
  const Value i = gate(0, c, 0, 0);
  const Value f = w.input_forget ? emit.sub(1, i) : gate(2, c, 2, 0);
  const Value cell = emit.add(emit.mul(f, c), emit.mul(i, gate(3, c, -1, 1)));
  const Value o = gate(1, cell, 1, 0);
  return {emit.mul(o, w.activations[2](emit, cell)), cell};
}

}  // namespace core_ops
