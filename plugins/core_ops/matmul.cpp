// Gemm and MatMul. FULLY_CONNECTED(x [..., k], weights [o, k], bias [o]) where the second operand is a constant matrix,
// BATCH_MATMUL otherwise. Operators: ONNX operator specification, Gemm, MatMul.
#include "floats.hpp"

namespace core_ops {
namespace {

Value zero_bias(const Emit& emit, std::int64_t n) {
  return emit.constant<float>({n}, std::vector<float>(static_cast<std::size_t>(n), 0.0f));
}

Value fully_connected(const Emit& emit, const Value& x, const Value& weights, const Value& bias) {
  return emit.op(
      "FULLY_CONNECTED", {x, weights, bias ? bias : zero_bias(emit, weights.dim(0))},
      {{"keep_num_dims", true}, {"weights_format", "DEFAULT"}, {"asymmetric_quantize_inputs", false}, no_activation()});
}

/// Gemm's C as a bias [n], scaled by beta, where it is a constant that varies along the columns at most.
Value column_bias(const Emit& emit, const Value& c, float beta, std::int64_t n) {
  if (!c || !c.constant() || c.dtype() != DType::float32) return {};
  const Dims dims = c.static_dims();
  for (std::size_t i = 0; i + 1 < dims.size(); ++i)
    if (dims[i] != 1) return {};
  std::vector<float> v = c.read<float>();
  if (v.size() == 1) v.resize(static_cast<std::size_t>(n), v[0]);
  if (static_cast<std::int64_t>(v.size()) != n) return {};
  for (float& x : v) x *= beta;
  return emit.constant<float>({n}, v);
}

/// Ranks above 5 come down by joining the leading batch axes, which must then be equal and known.
Value matmul_of_any_rank(const Emit& emit, const Value& a, const Value& b) {
  if (std::max(a.rank(), b.rank()) <= 5) return batch_matmul(emit, a, b, false, false);
  const Dims x = a.static_dims(), y = b.static_dims();
  decline_if(x.size() != y.size() || !std::equal(x.begin(), x.end() - 2, y.begin()), "MatMul of ", text(x), " and ",
             text(y), ": broadcasting at rank ", std::max(x.size(), y.size()), " is beyond BATCH_MATMUL's 5");
  const Value product = batch_matmul(emit, emit.reshape(a, {-1, x[x.size() - 2], x.back()}),
                                     emit.reshape(b, {-1, y[y.size() - 2], y.back()}), false, false);
  Dims out(x.begin(), x.end() - 1);
  out.push_back(y.back());
  return emit.reshape(product, out);
}

}  // namespace

/// Y = alpha * A' * B' + beta * C.
GANTRY_CONVERT(onnx, "Gemm", since(7), to(tflite)) {
  const float alpha = node.attr("alpha", 1.0f), beta = node.attr("beta", 1.0f);
  Value a = node.in(0), b = node.in(1);
  const Value c = node.in(2);
  if (node.attr("transA", 0)) a = emit.transpose(a, {1, 0});
  const bool trans_b = node.attr("transB", 0) != 0;
  Value y, bias;
  if (b.constant() && b.dtype() == DType::float32) {
    Value weights = trans_b ? b : emit.transpose(b, {1, 0});
    const std::int64_t n = weights.dim(0);
    if (alpha != 1) weights = emit.scale_constant(weights, 0, std::vector<float>(static_cast<std::size_t>(n), alpha));
    bias = column_bias(emit, c, beta, n);
    y = fully_connected(emit, a, weights, bias);
  } else {
    y = batch_matmul(emit, a, b, false, trans_b);
    if (alpha != 1) y = emit.mul(y, alpha);
  }
  if (!c || bias || beta == 0) return y;
  return emit.add(y, beta == 1 ? c : emit.mul(c, beta));
}

/// numpy's matmul: a vector on the left is a row, on the right a column, and its axis is dropped again.
GANTRY_CONVERT(onnx, "MatMul", since(1), to(tflite)) {
  Value a = node.in(0), b = node.in(1);
  const int rank_a = a.rank(), rank_b = b.rank();
  decline_if(rank_a < 1 || rank_b < 1, "MatMul of a scalar");
  if (rank_a == 1) a = insert_axis(emit, a, 0);
  if (rank_b == 1) b = insert_axis(emit, b, 1);
  Value y;
  if (b.constant() && b.rank() == 2 && b.dtype() == DType::float32)
    y = fully_connected(emit, a, emit.transpose(b, {1, 0}), Value());
  else
    y = matmul_of_any_rank(emit, a, b);
  if (rank_b == 1) y = remove_axis(emit, y, y.rank() - 1);
  if (rank_a == 1) y = remove_axis(emit, y, y.rank() - (rank_b == 1 ? 1 : 2));
  return y;
}

}  // namespace core_ops
