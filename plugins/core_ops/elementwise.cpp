// Element by element with numpy's broadcasting: mostly rows. Operators: ONNX operator specification, ai.onnx.
#include <cmath>

#include "integers.hpp"

namespace core_ops {
namespace {

struct Row {
  std::string_view op;      // ONNX
  std::string_view target;  // TFLite
};

std::vector<Value> widened(const Node& node, const Emit& emit) {
  std::vector<Value> operands;
  for (const Value& v : node.ins()) operands.push_back(emit.cast(v, computed_in(v.dtype())));
  return operands;
}

/// Results of the operands' type.
Results arithmetic(const Node& node, const Emit& emit, const Row& row) {
  return emit.cast(emit.op(row.target, widened(node, emit)), node.in(0).dtype());
}
constexpr Row kUnary[] = {
    {"Neg", "NEG"}, {"Exp", "EXP"},   {"Log", "LOG"},     {"Sqrt", "SQRT"},   {"Sin", "SIN"},
    {"Cos", "COS"}, {"Ceil", "CEIL"}, {"Floor", "FLOOR"}, {"Round", "ROUND"},
};
GANTRY_TABLE(onnx, kUnary, arithmetic, since(6), to(tflite))
constexpr Row kBinary[] = {{"Add", "ADD"}, {"Sub", "SUB"}, {"Mul", "MUL"}};
GANTRY_TABLE(onnx, kBinary, arithmetic, since(7), to(tflite))

/// Results of another type, or no arithmetic. Integers are compared where their order is that of int32 or int64.
Results comparison(const Node& node, const Emit& emit, const Row& row) {
  std::vector<Value> operands = node.ins();
  if (is_integer(node.in(0).dtype()))
    for (Value& v : operands) v = order_key(emit, v);
  return emit.op(row.target, operands);
}
constexpr Row kComparisons[] = {
    {"Equal", "EQUAL"},     {"Less", "LESS"},
    {"Greater", "GREATER"}, {"LessOrEqual", "LESS_EQUAL"},
    {"Xor", "NOT_EQUAL"},   {"GreaterOrEqual", "GREATER_EQUAL"},
    {"And", "LOGICAL_AND"}, {"Or", "LOGICAL_OR"},
};
GANTRY_TABLE(onnx, kComparisons, comparison, since(7), to(tflite))
GANTRY_ELEMENTWISE(onnx, "Not", to(tflite), "LOGICAL_NOT")
GANTRY_ELEMENTWISE(onnx, "Where", to(tflite), "SELECT_V2")

/// Any number of operands, by a chain of a binary operator.
Results fold_left(const Node& node, const Emit& emit, const Row& row) {
  const DType t = node.in(0).dtype();
  const bool by_order = is_integer(t) && row.target != "ADD";
  Value result;
  for (const Value& v : node.ins()) {
    const Value next = by_order ? order_key(emit, v) : emit.cast(v, computed_in(t));
    result = result ? emit.op(row.target, {result, next}) : next;
  }
  return by_order ? from_order_key(emit, result, t) : emit.cast(result, t);
}
constexpr Row kVariadic[] = {{"Max", "MAXIMUM"}, {"Min", "MINIMUM"}, {"Sum", "ADD"}};
GANTRY_TABLE(onnx, kVariadic, fold_left, since(6), to(tflite))

}  // namespace

/// Abs(x) = max(x, -x) of integers, which wrap.
GANTRY_CONVERT(onnx, "Abs", since(6), to(tflite)) {
  const Value x = node.in(0);
  if (!is_integer(x.dtype())) return emit.op("ABS", {x});
  if (is_unsigned(x.dtype())) return x;
  const Value wide = widen(emit, x);
  return narrow(emit, emit.maximum(wide, emit.op("NEG", {wide})), x.dtype());
}

GANTRY_CONVERT(onnx, "Sign", since(9), to(tflite)) {
  const Value x = node.in(0);
  if (!is_integer(x.dtype())) return emit.op("SIGN", {x});
  const Value wide = widen(emit, x);
  if (x.dtype() == DType::uint64)
    return narrow(emit, emit.cast(emit.op("NOT_EQUAL", {wide, emit.scalar(DType::int64, 0)}), DType::int64), x.dtype());
  return narrow(emit, emit.minimum(emit.maximum(wide, -1), 1), x.dtype());
}

GANTRY_CONVERT(onnx, "Mean", since(6), to(tflite)) {
  Value sum = node.in(0);
  for (std::size_t i = 1; i < node.in_count(); ++i) sum = emit.add(sum, node.in(i));
  return emit.div(sum, static_cast<double>(node.in_count()));
}

GANTRY_CONVERT(onnx, "Reciprocal", since(6), to(tflite)) { return emit.div(1, node.in(0)); }

/// erf by Abramowitz and Stegun, formula 7.1.26: |error| <= 1.5e-7 besides rounding.
/// erf(x) = sign(x) * (1 - (a1 t + ... + a5 t^5) exp(-x^2)), t = 1 / (1 + p |x|).
GANTRY_CONVERT(onnx, "Erf", since(9), to(tflite)) {
  constexpr double p = 0.3275911, a[] = {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
  const Value x = node.in(0);
  const Value t = emit.div(1, emit.add(emit.mul(emit.op("ABS", {x}), p), 1));
  Value poly = emit.mul(t, a[4]);
  for (int i = 3; i >= 0; --i) poly = emit.mul(emit.add(poly, a[i]), t);
  const Value decay = emit.op("EXP", {emit.op("NEG", {emit.mul(x, x)})});
  return emit.mul(emit.op("SIGN", {x}), emit.sub(1, emit.mul(poly, decay)));
}

}  // namespace core_ops
