// Activations: as layers of their own, and as part of others. Formulas are those of keras.activations.
#include <cmath>
#include <map>

#include "../json.hpp"
#include "common.hpp"

namespace gantry::keras {
namespace {

Value clip(const Emit& emit, const Value& x, double low, double high) {
  return emit.op("Clip", {x, emit.scalar(DType::float32, low), emit.scalar(DType::float32, high)});
}

// Keras 2: clip(0.2 x + 0.5, 0, 1). Keras 3: relu6(x + 3) / 6.
Value hard_sigmoid(const Emit& emit, const Value& x, int version) {
  if (version < 3) return emit.op("HardSigmoid", {x}, {{"alpha", 0.2F}, {"beta", 0.5F}});
  return emit.div(clip(emit, emit.add(x, 3), 0, 6), 6);
}

// 0 up to -1, x from 1, ((x + 1) / 2)^2 between.
Value sparse_plus(const Emit& emit, const Value& x) {
  const Value half = emit.mul(emit.add(emit.op("Max", {x, emit.scalar(DType::float32, -1)}), 1), 0.5);
  return emit.op("Where", {emit.op("Less", {x, emit.scalar(DType::float32, 1)}), square(emit, half), x});
}

// max(x - t, 0); with z = x sorted, s its running sums, and k the number of i for which i zi + 1 > si:
// t = (s1 + ... + sk - 1) / k. That is what Keras computes; sparsemax (A. Martins, R. Astudillo, 2016) has sk alone.
Value sparsemax(const Emit& emit, const Value& x) {
  const std::int64_t n = x.dim(x.rank() - 1);
  decline_if(n < 1 || n > 65536, "sparsemax over an axis of unknown size");
  std::vector<float> counts(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<float>(i + 1);
  const Value z = emit.ops("TopK", 2, {x, emit.i64({n})}, {{"axis", -1}})[0];
  const Value sums = emit.op("CumSum", {z, emit.scalar(DType::int64, x.rank() - 1)});
  const Value inside = emit.op("Greater", {emit.add(emit.mul(z, emit.constant({n}, counts)), 1), sums});
  const Value support = emit.cast(inside, DType::float32), axis = emit.i64({-1});
  const Value k = emit.op("ReduceSum", {support, axis}, {{"keepdims", 1}});
  const Value t = emit.div(emit.sub(emit.op("ReduceSum", {emit.mul(sums, support), axis}, {{"keepdims", 1}}), 1), k);
  return emit.op("Relu", {emit.sub(x, t)});
}

// a sigmoid(b), a and b the halves of the last axis
Value glu(const Emit& emit, const Value& x) {
  const std::int64_t n = x.dim(x.rank() - 1);
  decline_if(n < 2 || n % 2 != 0, "glu over an axis of ", n);
  const std::vector<Value> halves = emit.ops("Split", 2, {x, emit.i64({n / 2, n / 2})}, {{"axis", -1}});
  return emit.mul(halves[0], emit.op("Sigmoid", {halves[1]}));
}

// Kinds that are one ONNX operator.
const std::map<std::string, std::string, std::less<>> kPlain = {
    {"relu", "Relu"},         {"elu", "Elu"},   {"selu", "Selu"},       {"softplus", "Softplus"},
    {"softsign", "Softsign"}, {"tanh", "Tanh"}, {"sigmoid", "Sigmoid"}, {"exponential", "Exp"}};

}  // namespace

Value activation_by_name(const Emit& emit, const std::string& name, const Value& x, int version) {
  if (name.empty() || name == "linear") return x;
  if (const auto it = kPlain.find(name); it != kPlain.end()) return emit.op(it->second, {x});
  if (name == "softmax" || name == "log_softmax")
    return emit.op(name == "softmax" ? "Softmax" : "LogSoftmax", {x}, {{"axis", -1}});
  if (name == "hard_sigmoid") return hard_sigmoid(emit, x, version);
  if (name == "swish" || name == "silu") return emit.mul(x, emit.op("Sigmoid", {x}));
  if (name == "hard_silu" || name == "hard_swish") return emit.mul(x, hard_sigmoid(emit, x, 3));
  if (name == "hard_tanh") return clip(emit, x, -1, 1);
  if (name == "relu6") return clip(emit, x, 0, 6);
  if (name == "leaky_relu") return emit.op("LeakyRelu", {x}, {{"alpha", 0.2F}});
  if (name == "mish") return emit.mul(x, emit.op("Tanh", {emit.op("Softplus", {x})}));
  if (name == "log_sigmoid") return emit.op("Neg", {emit.op("Softplus", {emit.op("Neg", {x})})});
  if (name == "gelu")  // exact: x / 2 * (1 + erf(x / sqrt 2))
    return emit.mul(emit.mul(x, 0.5), emit.add(emit.op("Erf", {emit.mul(x, std::sqrt(0.5))}), 1));
  if (name == "tanh_shrink") return emit.sub(x, emit.op("Tanh", {x}));
  if (name == "hard_shrink") return emit.op("Shrink", {x}, {{"lambd", 0.5F}, {"bias", 0.0F}});
  if (name == "soft_shrink") return emit.op("Shrink", {x}, {{"lambd", 0.5F}, {"bias", 0.5F}});
  if (name == "squareplus")  // (x + sqrt(x^2 + 4)) / 2
    return emit.div(emit.add(x, emit.op("Sqrt", {emit.add(square(emit, x), 4)})), 2);
  if (name == "sparse_sigmoid") return clip(emit, emit.mul(emit.add(x, 1), 0.5), 0, 1);
  if (name == "sparse_plus") return sparse_plus(emit, x);
  if (name == "sparsemax") return sparsemax(emit, x);
  if (name == "glu") return glu(emit, x);
  if (name == "celu") return emit.op("Celu", {x}, {{"alpha", 1.0F}});
  decline("the activation '", name, "' is not known");
}

std::string activation_name(const Node& node, std::string_view attribute, const char* otherwise) {
  std::string text = node.attr<std::string>(attribute, otherwise);
  if (!text.starts_with("{")) return text;
  const Json j = parse_json(text, attribute);  // {"class_name": "ReLU", ...} or a registered function
  const Json& config = member(j, "config");
  if (config.is_string()) return config.get<std::string>();
  decline("the activation ", text.substr(0, 200), " is not known");
}

Value activation(const Node& node, const Emit& emit, const Value& x) {
  return activation_by_name(emit, activation_name(node, "activation", "linear"), x, keras_version(node));
}

}  // namespace gantry::keras

using namespace gantry::keras;

GANTRY_CONVERT(keras, "Activation", to(onnx)) { return activation(node, emit, float_operand(node, emit)); }

// f(x) = max_value for x >= max_value, x for threshold < x < max_value, slope * (x - threshold) below.
GANTRY_CONVERT(keras, "ReLU", to(onnx)) {
  const Value x = float_operand(node, emit);
  const double threshold = number(node, "threshold", 0), slope = number(node, "negative_slope", 0);
  const bool bounded = node.has_attr("max_value");
  if (threshold == 0 && slope == 0)
    return bounded ? clip(emit, x, 0, number(node, "max_value", 0)) : emit.op("Relu", {x});
  Value y;
  if (threshold != 0) {
    const Value above = emit.op("Greater", {x, emit.scalar(DType::float32, threshold)});
    y = emit.op("Where", {above, x, emit.mul(emit.sub(x, threshold), slope)});
  } else {
    y = emit.op("LeakyRelu", {x}, {{"alpha", static_cast<float>(slope)}});
  }
  return bounded ? emit.minimum(y, number(node, "max_value", 0)) : y;
}

GANTRY_CONVERT(keras, "LeakyReLU", to(onnx)) {
  const double slope = number(node, node.has_attr("negative_slope") ? "negative_slope" : "alpha", 0.3);
  return emit.op("LeakyRelu", {float_operand(node, emit)}, {{"alpha", static_cast<float>(slope)}});
}

GANTRY_CONVERT(keras, "ELU", to(onnx)) {
  return emit.op("Elu", {float_operand(node, emit)}, {{"alpha", static_cast<float>(number(node, "alpha", 1))}});
}

// x where x > theta, else 0
GANTRY_CONVERT(keras, "ThresholdedReLU", to(onnx)) {
  return emit.op("ThresholdedRelu", {float_operand(node, emit)},
                 {{"alpha", static_cast<float>(number(node, "theta", 1))}});
}

// max(x, 0) + alpha min(x, 0)
GANTRY_CONVERT(keras, "PReLU", to(onnx)) { return emit.op("PRelu", {float_operand(node, emit), weight(node, 0)}); }

GANTRY_CONVERT(keras, "Softmax", to(onnx)) {
  const Value x = float_operand(node, emit);
  const Dims axes = axes_in(node, "axis", x.rank());
  if (axes.size() == 1) return emit.op("Softmax", {x}, {{"axis", axes[0]}});
  const Value which = emit.i64(axes);  // exp(x - m) / sum
  const Value e = emit.op("Exp", {emit.sub(x, emit.op("ReduceMax", {x, which}, {{"keepdims", 1}}))});
  return emit.div(e, emit.op("ReduceSum", {e, which}, {{"keepdims", 1}}));
}
