// Activations. Operators: ONNX operator specification, ai.onnx.
#include <cmath>
#include <limits>

#include "integers.hpp"

namespace core_ops {
namespace {

struct Row {
  std::string_view op, target;
};
Results unary(const Node& node, const Emit& emit, const Row& row) { return emit.op(row.target, {node.in(0)}); }
constexpr Row kSame[] = {
    {"Relu", "RELU"},
    {"Tanh", "TANH"},
    {"Sigmoid", "LOGISTIC"},
    {"HardSwish", "HARD_SWISH"},
};
GANTRY_TABLE(onnx, kSame, unary, since(6), to(tflite))

/// The value at infinity of a missing bound, so that one comparison serves.
double bound(const Value& v, double missing) { return v ? v.scalar<double>() : missing; }

Value clamp(const Emit& emit, const Value& x, double lo, double hi) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (x.dtype() == DType::float32) {
    if (lo == 0 && hi == inf) return emit.op("RELU", {x});
    if (lo == 0 && hi == 6) return emit.op("RELU6", {x});
    if (lo == -1 && hi == 1) return emit.op("RELU_N1_TO_1", {x});
    if (lo == 0 && hi == 1) return emit.op("RELU_0_TO_1", {x});
  }
  Value y = x;
  if (lo > -inf) y = emit.maximum(y, lo);
  if (hi < inf) y = emit.minimum(y, hi);
  return y;
}

/// Where a float bound is at the end of its type it bounds nothing; infinities pass through either way.
double open_end(double b, DType t) {
  constexpr double inf = std::numeric_limits<double>::infinity(), top = std::numeric_limits<float>::max();
  if (t == DType::float32 && b >= top) return inf;
  if (t == DType::float32 && b <= -top) return -inf;
  return b;
}

}  // namespace

GANTRY_CONVERT(onnx, "Clip", since(11), to(tflite)) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Value x = node.in(0), lo = node.in(1), hi = node.in(2);
  if (is_float(x.dtype()) && (!lo || lo.constant()) && (!hi || hi.constant()))
    return clamp(emit, x, open_end(bound(lo, -inf), x.dtype()), open_end(bound(hi, inf), x.dtype()));
  const bool integers = is_integer(x.dtype());
  const auto key = [&](const Value& v) { return integers ? order_key(emit, v) : v; };
  Value y = key(x);
  if (lo) y = emit.maximum(y, key(lo));
  if (hi) y = emit.minimum(y, key(hi));
  return integers ? from_order_key(emit, y, x.dtype()) : y;
}

GANTRY_CONVERT(onnx, "LeakyRelu", since(6), to(tflite)) {
  return emit.op("LEAKY_RELU", {node.in(0)}, {{"alpha", node.attr("alpha", 0.01f)}});
}

/// Elu(x) = x > 0 ? x : alpha * (exp(x) - 1); TFLite's has alpha = 1.
GANTRY_CONVERT(onnx, "Elu", since(6), to(tflite)) {
  const float alpha = node.attr("alpha", 1.0f);
  const Value x = node.in(0);
  if (alpha == 1) return emit.op("ELU", {x});
  const Value negative = emit.mul(emit.op("ELU", {emit.minimum(x, 0)}), alpha);
  return emit.add(emit.op("RELU", {x}), negative);
}

/// HardSigmoid(x) = max(0, min(1, alpha * x + beta)). The usual 1/6 and 0.5 are RELU6(x + 3) / 6.
GANTRY_CONVERT(onnx, "HardSigmoid", since(6), to(tflite)) {
  const float alpha = node.attr("alpha", 0.2f), beta = node.attr("beta", 0.5f);
  const Value x = node.in(0);
  if (std::fabs(alpha * 6.0f - 1.0f) < 1e-6f && beta == 0.5f)
    return emit.mul(emit.op("RELU6", {emit.add(x, 3)}), 1.0 / 6.0);
  return emit.op("RELU_0_TO_1", {emit.add(emit.mul(x, alpha), beta)});
}

/// PRelu(x) = x < 0 ? slope * x : x, slope broadcast to x in one direction.
GANTRY_CONVERT(onnx, "PRelu", since(7), to(tflite)) {
  const Value x = node.in(0), slope = node.in(1);
  if (x.rank() <= 4) return emit.op("PRELU", {x, slope});
  return emit.add(emit.op("RELU", {x}), emit.mul(emit.minimum(x, 0), slope));
}

/// Softplus(x) = log(1 + exp(x)), written so that exp does not overflow.
GANTRY_CONVERT(onnx, "Softplus", since(1), to(tflite)) {
  const Value x = node.in(0);
  const Value tail = emit.op("LOG", {emit.add(emit.op("EXP", {emit.op("NEG", {emit.op("ABS", {x})})}), 1)});
  return emit.add(emit.op("RELU", {x}), tail);
}

GANTRY_CONVERT(onnx, "Softsign", since(1), to(tflite)) {
  const Value x = node.in(0);
  return emit.div(x, emit.add(emit.op("ABS", {x}), 1));
}

/// Gelu, exact or by tanh; TFLite's kernel is the same formula.
GANTRY_CONVERT(onnx, "Gelu", since(20), to(tflite)) {
  return emit.op("GELU", {node.in(0)}, {{"approximate", node.attr("approximate", "none") == "tanh"}});
}

namespace {

/// TFLite normalises over the last axis; another axis is brought there and back.
Results last_axis(const Node& node, const Emit& emit, const Row& row) {
  const Value x = node.in(0);
  if (x.rank() == 0) return emit.reshape(emit.op(row.target, {emit.reshape(x, {1})}), {});
  const int axis = normalize_axis(node.attr("axis", -1), x.rank());
  const Dims perm = swap_with_last(axis, x.rank());
  const Attributes attributes = row.target == "SOFTMAX" ? Attributes{{"beta", 1.0}} : Attributes{};
  return emit.transpose(emit.op(row.target, {emit.transpose(x, perm)}, attributes), perm);
}
constexpr Row kLastAxis[] = {{"Softmax", "SOFTMAX"}, {"LogSoftmax", "LOG_SOFTMAX"}};
GANTRY_TABLE(onnx, kLastAxis, last_axis, since(13), to(tflite))

}  // namespace
}  // namespace core_ops
