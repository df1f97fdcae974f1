// RotaryEmbedding, RMSNormalization, Swish, SwiGLU. Operators: ONNX operator specification.
#include "attention.hpp"

namespace core_ops {
namespace {

/// [b, s, 1, half] (or [1, s, 1, half]): the cache's rows at the positions, or the cache itself.
Value cache_rows(const Emit& emit, const Value& cache, const Value& position_ids) {
  Value rows = in_float32(emit, cache);
  if (position_ids) {
    const Value at = emit.cast(position_ids, DType::int32);
    rows = emit.op("GATHER", {rows, at}, {{"axis", 0}, {"batch_dims", 0}});
  }
  decline_if(rows.rank() != 3, "cos_cache of rank ", rows.rank());
  return insert_axis(emit, rows, 2);
}

}  // namespace

/// (a, b) -> (cos a - sin b, sin a + cos b) for the pairs of the first rotary_embedding_dim numbers of each head: the
/// halves, or with `interleaved` neighbours. Here x is [b, s, heads, size].
GANTRY_CONVERT(onnx, "RotaryEmbedding", since(23), to(tflite)) {
  const Value input = node.in(0);
  const bool packed = input.rank() == 3;
  Value x = in_float32(emit, input);
  if (packed) {
    const auto heads = node.attr<std::int64_t>("num_heads", 0);
    const std::int64_t hidden = x.dim(2);
    decline_if(heads < 1 || hidden < 1 || hidden % heads, "num_heads = ", heads, " for a hidden size of ", hidden);
    x = reshape_to(emit, x, {extent_of(emit, x, 0), extent_of(emit, x, 1), heads, hidden / heads});
  } else {
    decline_if(input.rank() != 4, "an operand of rank ", input.rank());
    x = emit.transpose(x, {0, 2, 1, 3});
  }
  const std::int64_t size = x.dim(3);
  decline_if(size < 2, "the head size is not known");
  const auto attribute = node.attr<std::int64_t>("rotary_embedding_dim", 0);
  const std::int64_t turned = attribute ? attribute : size, half = turned / 2;
  decline_if(turned % 2 || turned > size, "rotary_embedding_dim = ", turned, " of ", size);
  const Value cos = cache_rows(emit, node.in(1), node.in(3)), sin = cache_rows(emit, node.in(2), node.in(3));
  decline_if(cos.dim(3) != half && cos.dim(3) >= 0, "cos_cache has ", cos.dim(3), " columns, ", half, " are turned");

  const Value rest = turned < size ? slice_axis(emit, x, 3, turned, size - turned) : Value();
  const Value part = slice_axis(emit, x, 3, 0, turned);
  const bool interleaved = node.attr("interleaved", 0) != 0;
  Value a, b;
  if (interleaved) {
    std::vector<std::int32_t> even, odd;
    for (std::int64_t i = 0; i < half; ++i) {
      even.push_back(static_cast<std::int32_t>(2 * i));
      odd.push_back(static_cast<std::int32_t>(2 * i + 1));
    }
    const auto pick = [&](const std::vector<std::int32_t>& at) {
      return emit.op("GATHER", {part, emit.constant<std::int32_t>({half}, at)}, {{"axis", 3}, {"batch_dims", 0}});
    };
    a = pick(even);
    b = pick(odd);
  } else {
    a = slice_axis(emit, part, 3, 0, half);
    b = slice_axis(emit, part, 3, half, half);
  }
  const Value real = emit.sub(emit.mul(a, cos), emit.mul(b, sin)), imag = emit.add(emit.mul(a, sin), emit.mul(b, cos));
  Value y = concatenation(emit, {real, imag}, 3);
  if (interleaved) {
    std::vector<std::int32_t> woven;
    for (std::int64_t i = 0; i < half; ++i) {
      woven.push_back(static_cast<std::int32_t>(i));
      woven.push_back(static_cast<std::int32_t>(half + i));
    }
    y = emit.op("GATHER", {y, emit.constant<std::int32_t>({turned}, woven)}, {{"axis", 3}, {"batch_dims", 0}});
  }
  if (rest) y = concatenation(emit, {y, rest}, 3);
  y = packed ? reshape_to(emit, y, {extent_of(emit, y, 0), extent_of(emit, y, 1), size * x.dim(2)})
             : emit.transpose(y, {0, 2, 1, 3});
  return from_float32(emit, y, input.dtype());
}

/// x / sqrt(mean(x^2) + epsilon) * scale over axes axis..rank-1.
GANTRY_CONVERT(onnx, "RMSNormalization", since(23), to(tflite)) {
  const Value x = in_float32(emit, node.in(0));
  Dims axes;
  for (int i = normalize_axis(node.attr("axis", -1), x.rank()); i < x.rank(); ++i) axes.push_back(i);
  const Value mean = reduce_axes(emit, "MEAN", emit.mul(x, x), axes, true);
  const Value normal = emit.mul(x, emit.op("RSQRT", {emit.add(mean, node.attr("epsilon", 1e-5f))}));
  return from_float32(emit, emit.mul(normal, in_float32(emit, node.in(1))), node.in(1).dtype());
}

namespace {

/// x * sigmoid(alpha * x)
Value swish(const Emit& emit, const Value& x, float alpha) {
  return emit.mul(x, emit.op("LOGISTIC", {alpha == 1 ? x : emit.mul(x, alpha)}));
}

}  // namespace

GANTRY_CONVERT(onnx, "Swish", since(24), to(tflite)) {
  return from_float32(emit, swish(emit, in_float32(emit, node.in(0)), node.attr("alpha", 1.0f)), node.in(0).dtype());
}

/// swish(a) * b
GANTRY_CONVERT(onnx, "SwiGLU", since(28), to(tflite)) {
  const Value gate = swish(emit, in_float32(emit, node.in(0)), node.attr("alpha", 1.0f));
  return from_float32(emit, emit.mul(gate, in_float32(emit, node.in(1))), node.in(0).dtype());
}

}  // namespace core_ops
