// Quantized operators of ONNX Runtime (com.microsoft) as what they mean: dequantize, the float operator, quantize.
#include "sizes.hpp"

namespace transformer {
namespace {

/// Operands at, at + 1, at + 2: numbers, scale, zero point.
Value real(const Node& node, const Emit& emit, std::size_t at) {
  return emit.op("DequantizeLinear", {node.in(at), node.in(at + 1), node.in(at + 2)});
}
/// Back to numbers; operands at, at + 1: scale, zero point, which is 0 in the type of operand 0 where it is absent.
Value quantized(const Node& node, const Emit& emit, const Value& y, std::size_t at, DType t) {
  const Value zero = node.in(at + 1) ? node.in(at + 1) : emit.scalar(t, 0);
  return emit.op("QuantizeLinear", {y, node.in(at), zero});
}

struct Row {
  std::string_view op, target;
};
/// A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point
Results binary(const Node& node, const Emit& emit, const Row& row) {
  return quantized(node, emit, emit.op(row.target, {real(node, emit, 0), real(node, emit, 3)}), 6, node.in(0).dtype());
}
constexpr Row kBinary[] = {{"QLinearAdd", "Add"}, {"QLinearMul", "Mul"}};
GANTRY_TABLE(kMicrosoft, kBinary, binary, to(onnx))

/// X, X_scale, X_zero_point, Y_scale, Y_zero_point; attributes are the float operator's.
Results unary(const Node& node, const Emit& emit, const Row& row) {
  const Value y = emit.op(row.target, {real(node, emit, 0)}, attributes_of(node));
  return quantized(node, emit, y, 3, node.in(0).dtype());
}
constexpr Row kUnary[] = {{"QLinearSigmoid", "Sigmoid"}, {"QLinearLeakyRelu", "LeakyRelu"}};
GANTRY_TABLE(kMicrosoft, kUnary, unary, to(onnx))

/// Pools; with channels_last the channels are the last axis.
Results pool(const Node& node, const Emit& emit, const Row& row) {
  Attributes attributes = attributes_of(node);
  std::erase_if(attributes, [](const Attribute& a) { return a.name() == "channels_last"; });
  const bool last = node.attr("channels_last", 0) != 0;
  const int rank = node.in(0).rank();
  Value x = real(node, emit, 0);
  if (last) x = emit.transpose(x, channels_first(rank));
  Value y = emit.op(row.target, {x}, attributes);
  if (last) y = emit.transpose(y, channels_last(rank));
  return quantized(node, emit, y, 3, node.in(0).dtype());
}
constexpr Row kPools[] = {{"QLinearAveragePool", "AveragePool"}, {"QLinearGlobalAveragePool", "GlobalAveragePool"}};
GANTRY_TABLE(kMicrosoft, kPools, pool, to(onnx))

/// The same operators under another domain.
Results same(const Node& node, const Emit& emit, const Row& row) {
  return emit.ops(row.target, node.out_count(), node.ins(), attributes_of(node));
}
constexpr Row kSame[] = {{"QuantizeLinear", "QuantizeLinear"}, {"DequantizeLinear", "DequantizeLinear"}};
GANTRY_TABLE(kMicrosoft, kSame, same, to(onnx))

}  // namespace

/// Before opset 13 the axes from `axis` on are one.
GANTRY_UPGRADE(kMicrosoft, "QLinearSoftmax", since(1)) {
  const Value x = node.in(0);
  const int rank = x.rank(), axis = normalize_axis(node.attr<std::int64_t>("axis", -1), rank);
  const bool flat = node.attr<std::int64_t>("opset") < 13 && axis != rank - 1;
  Value y = real(node, emit, 0);
  if (flat) {
    const Dims dims = x.static_dims();
    std::int64_t rows = 1;
    for (int i = 0; i < axis; ++i) rows *= dims[static_cast<std::size_t>(i)];
    y = emit.op("Softmax", {emit.reshape(y, {rows, -1})}, {{"axis", 1}});
    y = emit.reshape(y, dims);
  } else {
    y = emit.op("Softmax", {y}, {{"axis", axis}});
  }
  return quantized(node, emit, y, 3, x.dtype());
}

/// Y_scale, Y_zero_point, then numbers, scale, zero point of each operand.
GANTRY_UPGRADE(kMicrosoft, "QLinearConcat", since(1)) {
  std::vector<Value> parts;
  for (std::size_t i = 2; i + 2 < node.in_count(); i += 3) parts.push_back(real(node, emit, i));
  decline_if(parts.empty(), "no operands");
  const Value y = emit.op("Concat", parts, {{"axis", node.attr<std::int64_t>("axis")}});
  return quantized(node, emit, y, 0, node.in(2).dtype());
}

GANTRY_UPGRADE(kMicrosoft, "QLinearReduceMean", since(1)) {
  const Value x = real(node, emit, 0);
  std::vector<Value> operands{x};
  if (node.has_attr("axes")) operands.push_back(emit.i64(node.attr<Dims>("axes")));
  const Value y = emit.op("ReduceMean", operands, {{"keepdims", node.attr<std::int64_t>("keepdims", 1)}});
  return quantized(node, emit, y, 3, node.in(0).dtype());
}

/// condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point
GANTRY_UPGRADE(kMicrosoft, "QLinearWhere", since(1)) {
  const Value y = emit.op("Where", {node.in(0), real(node, emit, 1), real(node, emit, 4)});
  return quantized(node, emit, y, 7, node.in(1).dtype());
}

/// ai.onnx's, but for channels_last.
GANTRY_UPGRADE(kMicrosoft, "QLinearConv", since(1)) {
  Attributes attributes = attributes_of(node);
  std::erase_if(attributes, [](const Attribute& a) { return a.name() == "channels_last"; });
  std::vector<Value> operands = node.ins();
  const bool last = node.attr("channels_last", 0) != 0;
  const int rank = operands[0].rank();
  if (last) operands[0] = emit.transpose(operands[0], channels_first(rank));
  const Value y = emit.op("QLinearConv", operands, attributes);
  return last ? emit.transpose(y, channels_last(rank)) : y;
}

namespace {

/// A parameter of each row of a matrix, or of each column, shaped to broadcast against it.
Value of_rows(const Emit& emit, const Value& p) {
  if (p.rank() == 0) return p;
  return p.dim(0) == 1 ? emit.reshape(p, {}) : unsqueeze(emit, p, {1});
}
Value of_columns(const Emit& emit, const Value& p) { return p.rank() == 1 && p.dim(0) == 1 ? emit.reshape(p, {}) : p; }

/// Sums of products of integers, in int32; zero points may be absent.
Value integer_product(const Emit& emit, const Value& a, const Value& a_zero, const Value& b, const Value& b_zero) {
  return emit.op("MatMulInteger", {a, b, a_zero, b_zero});
}

/// a_scale * b_scale * sums + bias
Value scaled_sums(const Emit& emit, const Value& sums, const Value& a_scale, const Value& b_scale, const Value& bias) {
  const Value scale = emit.mul(of_rows(emit, a_scale), of_columns(emit, b_scale));
  const Value y = emit.mul(emit.cast(sums, DType::float32), scale);
  return bias ? emit.add(y, bias) : y;
}

/// An integer operand in int32 without its zero point.
Value centered(const Emit& emit, const Value& x, const Value& zero) {
  const Value v = emit.cast(x, DType::int32);
  return zero ? emit.sub(v, emit.cast(zero, DType::int32)) : v;
}

}  // namespace

/// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
GANTRY_UPGRADE(kMicrosoft, "MatMulIntegerToFloat", since(1)) {
  const Value sums = integer_product(emit, node.in(0), node.in(4), node.in(1), node.in(5));
  return scaled_sums(emit, sums, node.in(2), node.in(3), node.in(6));
}

/// A (float), B, b_scale, b_zero_point, bias: A is quantized as DynamicQuantizeLinear does it.
GANTRY_UPGRADE(kMicrosoft, "DynamicQuantizeMatMul", since(1)) {
  const std::vector<Value> a = emit.ops("DynamicQuantizeLinear", 3, {node.in(0)});
  const Value sums = integer_product(emit, a[0], a[2], node.in(1), node.in(3));
  return scaled_sums(emit, sums, a[1], node.in(2), node.in(4));
}

/// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C (int32), y_scale, y_zero_point:
/// alpha * a_scale * b_scale * (A' B' + C), quantized where y_scale is given.
GANTRY_UPGRADE(kMicrosoft, "QGemm", since(1)) {
  const auto matrix = [&](std::size_t i, std::string_view flag) {
    return node.attr<std::int64_t>(flag, 0) != 0 ? emit.transpose(node.in(i), {1, 0}) : node.in(i);
  };
  Value sums = integer_product(emit, matrix(0, "transA"), node.in(2), matrix(3, "transB"), node.in(5));
  if (node.in(6)) sums = emit.add(sums, node.in(6));
  const Value y = scaled_sums(emit, sums, node.in(1), node.in(4), Value());
  const float alpha = node.attr("alpha", 1.0f);
  const Value scaled = alpha == 1 ? y : emit.mul(y, alpha);
  return node.in(7) ? quantized(node, emit, scaled, 7, node.in(0).dtype()) : Results(scaled);
}

/// A, A_zero_point, B, B_zero_point
GANTRY_UPGRADE(kMicrosoft, "MulInteger", since(1)) {
  return emit.mul(centered(emit, node.in(0), node.in(1)), centered(emit, node.in(2), node.in(3)));
}

/// Sums in int32, which may wrap: no kernel multiplies matrices of it, so every product is written out.
GANTRY_UPGRADE(kMicrosoft, "MatMulInteger16", since(1)) {
  constexpr std::int64_t kMostProducts = 1 << 24;
  const Value a = emit.cast(node.in(0), DType::int32), b = emit.cast(node.in(1), DType::int32);
  decline_if(a.rank() < 2 || b.rank() < 2, "a vector");
  const std::int64_t products = std::max<std::int64_t>(1, a.dim(-2)) * a.dim(-1) * b.dim(-1);
  decline_if(products > kMostProducts, products, " products of integers");
  const Value all = emit.mul(unsqueeze(emit, a, {a.rank()}), unsqueeze(emit, b, {b.rank() - 2}));
  return emit.op("ReduceSum", {all, emit.i64({-2})}, {{"keepdims", 0}});
}

GANTRY_UPGRADE(kMicrosoft, "ReduceSumInteger", since(1)) {
  return emit.op("ReduceSum", {emit.cast(node.in(0), DType::int32), emit.i64(node.attr<Dims>("axes"))},
                 {{"keepdims", node.attr<std::int64_t>("keepdims", 1)}});
}

}  // namespace transformer
