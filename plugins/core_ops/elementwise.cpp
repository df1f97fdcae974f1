// Element by element with numpy's broadcasting: mostly rows. Operators: ONNX operator specification, ai.onnx.
#include <cmath>

#include "common.hpp"

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
    {"Abs", "ABS"}, {"Neg", "NEG"}, {"Sign", "SIGN"}, {"Exp", "EXP"},     {"Log", "LOG"},     {"Sqrt", "SQRT"},
    {"Sin", "SIN"}, {"Cos", "COS"}, {"Ceil", "CEIL"}, {"Floor", "FLOOR"}, {"Round", "ROUND"},
};
GANTRY_TABLE(onnx, kUnary, arithmetic, since(6), to(tflite))
constexpr Row kBinary[] = {{"Add", "ADD"}, {"Sub", "SUB"}, {"Mul", "MUL"}};
GANTRY_TABLE(onnx, kBinary, arithmetic, since(7), to(tflite))

/// Results of another type, or no arithmetic.
Results comparison(const Node& node, const Emit& emit, const Row& row) {
  return emit.op(row.target, widened(node, emit));
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
  const std::vector<Value> operands = widened(node, emit);
  Value result = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) result = emit.op(row.target, {result, operands[i]});
  return emit.cast(result, node.in(0).dtype());
}
constexpr Row kVariadic[] = {{"Max", "MAXIMUM"}, {"Min", "MINIMUM"}, {"Sum", "ADD"}};
GANTRY_TABLE(onnx, kVariadic, fold_left, since(6), to(tflite))

}  // namespace

GANTRY_CONVERT(onnx, "Mean", since(6), to(tflite)) {
  Value sum = node.in(0);
  for (std::size_t i = 1; i < node.in_count(); ++i) sum = emit.add(sum, node.in(i));
  return emit.div(sum, static_cast<double>(node.in_count()));
}

GANTRY_CONVERT(onnx, "Div", since(7), to(tflite)) {
  const DType t = node.in(0).dtype();
  decline_if(is_integer(t) && t != DType::int32, "TFLite's DIV takes int32 among the integers, this is ", name_of(t));
  return emit.div(node.in(0), node.in(1));
}

GANTRY_CONVERT(onnx, "Reciprocal", since(6), to(tflite)) { return emit.div(1, node.in(0)); }

/// Pow: small constant exponents have operators of their own, exact where POW goes through exp and log.
GANTRY_CONVERT(onnx, "Pow", since(7), to(tflite)) {
  const Value x = node.in(0), y = node.in(1);
  if (x.dtype() == DType::float32 && y.constant() && y.is_static() && y.elements() == 1 && y.rank() <= x.rank()) {
    const double e = y.scalar<double>();
    if (e == 1) return x;
    if (e == 2) return emit.mul(x, x);
    if (e == 3) return emit.mul(emit.mul(x, x), x);
    if (e == 0.5) return emit.op("SQRT", {x});
    if (e == -0.5) return emit.op("RSQRT", {x});
    if (e == -1) return emit.div(1, x);
  }
  return emit.pow(x, emit.cast(y, x.dtype()));
}

/// Mod: with fmod = 0 the result has the divisor's sign, as FLOOR_MOD; with fmod = 1 the dividend's, as C's fmod.
GANTRY_CONVERT(onnx, "Mod", since(10), to(tflite)) {
  const Value a = node.in(0), b = node.in(1);
  const DType t = computed_in(a.dtype());
  if (node.attr("fmod", 0) == 0) return emit.cast(emit.op("FLOOR_MOD", {emit.cast(a, t), emit.cast(b, t)}), a.dtype());
  decline_if(a.dtype() != DType::float32, "Mod with fmod = 1 is converted for float32 only, this is ",
             name_of(a.dtype()));
  const Value q = emit.op("FLOOR_MOD", {emit.op("ABS", {a}), emit.op("ABS", {b})});
  return emit.mul(q, emit.op("SIGN", {a}));
}

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

namespace {

/// A type between, where LiteRT has no direct CAST, or one that saturates where ONNX Runtime wraps: 16-bit floats are
/// widened exactly, and so are 4-bit integers, which go to float32 only; floats become narrow integers by way of int32.
Value cast(const Emit& emit, const Value& x, DType to_type) {
  const DType from = x.dtype();
  if (from == to_type || x.constant()) return emit.cast(x, to_type);
  if (from == DType::int4 || from == DType::uint4 || (from == DType::float16 && to_type != DType::float32))
    return cast(emit, emit.cast(x, DType::float32), to_type);
  const DType wide = computed_in(to_type);
  return emit.cast(is_float(from) && wide != to_type ? emit.cast(x, wide) : x, to_type);
}

}  // namespace

GANTRY_CONVERT(onnx, "Cast", since(6), to(tflite)) {
  const DType to_type = Emit::from_onnx_dtype(node.attr<std::int64_t>("to"));
  const Value x = node.in(0);
  decline_if(x.dtype() == DType::string || to_type == DType::string, "Cast from or to strings has no TFLite operator");
  if (to_type != DType::boolean || x.dtype() == to_type) return cast(emit, x, to_type);
  const Value y = cast(emit, x, x.dtype() == DType::float16 ? DType::float32 : computed_in(x.dtype()));
  return emit.op("NOT_EQUAL", {y, emit.scalar(y.dtype(), 0)});
}

}  // namespace core_ops
