// The p-norm of each window, of each channel, or along an axis. Operators: ONNX operator specification, LpPool,
// GlobalLpPool, LpNormalization, and LRN.
#include "window.hpp"

namespace core_ops {
namespace {

/// |x|^p, and the p-th root.
Value powered(const Emit& emit, const Value& x, std::int64_t p) {
  if (p == 2) return emit.mul(x, x);
  const Value positive = emit.op("ABS", {x});
  return p == 1 ? positive : emit.pow(positive, static_cast<double>(p));
}
Value rooted(const Emit& emit, const Value& x, std::int64_t p) {
  if (p == 2) return emit.op("SQRT", {x});
  return p == 1 ? x : emit.pow(x, 1.0 / static_cast<double>(p));
}

Value sum(const Emit& emit, const Value& x, const Dims& axes) {
  return emit.op("SUM", {x, emit.i32(axes)}, {{"keep_dims", true}});
}

/// float16 is computed as float32.
Value computed(const Emit& emit, const Value& x) {
  decline_if(x.dtype() != DType::float32 && x.dtype() != DType::float16, "LiteRT computes no ", name_of(x.dtype()),
             " here");
  return emit.cast(x, DType::float32);
}

std::int64_t read_p(const Node& node) {
  const auto p = node.attr<std::int64_t>("p", 2);
  decline_if(p < 1, "p = ", p);
  return p;
}

}  // namespace

GANTRY_CONVERT(onnx, "LpPool", since(2), to(tflite)) {
  const Dims dims = node.in(0).dims();
  decline_if(dims.size() < 3, "LpPool of rank ", dims.size());
  const std::int64_t p = read_p(node);
  const Window w = read_window(node, node.attr<Dims>("kernel_shape"), Dims(dims.begin() + 2, dims.end()));
  const Value sums = reduce_windows(emit, "SUM", powered(emit, computed(emit, node.in(0)), p), w, 0);
  return emit.cast(rooted(emit, sums, p), node.in(0).dtype());
}

GANTRY_CONVERT(onnx, "GlobalLpPool", since(2), to(tflite)) {
  const std::int64_t p = read_p(node);
  Dims axes;
  for (int a = 2; a < node.in(0).rank(); ++a) axes.push_back(a);
  const Value sums = sum(emit, powered(emit, computed(emit, node.in(0)), p), axes);
  return emit.cast(rooted(emit, sums, p), node.in(0).dtype());
}

/// x / ||x|| along an axis; a norm of 0 leaves zeros.
GANTRY_CONVERT(onnx, "LpNormalization", since(1), to(tflite)) {
  const Value x = computed(emit, node.in(0));
  const std::int64_t p = read_p(node);
  const Value norm = rooted(emit, sum(emit, powered(emit, x, p), {normalize_axis(node.attr("axis", -1), x.rank())}), p);
  const Value zero = emit.cast(emit.op("EQUAL", {norm, emit.scalar(DType::float32, 0)}), DType::float32);
  return emit.cast(emit.div(x, emit.add(norm, zero)), node.in(0).dtype());
}

/// x / (bias + alpha / size * sum of squares of `size` channels around) ^ beta.
GANTRY_CONVERT(onnx, "LRN", since(1), to(tflite)) {
  const Value x = computed(emit, node.in(0));
  const auto size = node.attr<std::int64_t>("size");
  const double alpha = node.attr("alpha", 1e-4), beta = node.attr("beta", 0.75), bias = node.attr("bias", 1.0);
  const int rank = x.rank();
  decline_if(size < 1, "size = ", size);
  const double each = alpha / static_cast<double>(size);
  if (rank == 4 && size % 2 == 1) {
    const Value y = emit.op("LOCAL_RESPONSE_NORMALIZATION", {emit.transpose(x, to_channels_last(rank))},
                            {{"radius", size / 2}, {"bias", bias}, {"alpha", each}, {"beta", beta}});
    return emit.cast(emit.transpose(y, to_channels_first(rank)), node.in(0).dtype());
  }
  const Dims dims = x.static_dims();
  std::int64_t inner = 1;
  for (int a = 2; a < rank; ++a) inner *= dims[static_cast<std::size_t>(a)];
  const auto before = static_cast<std::int32_t>((size - 1) / 2), after = static_cast<std::int32_t>(size - 1 - before);
  const Value squares = emit.reshape(emit.mul(x, x), {dims[0], dims[1], inner});
  const Value padded = emit.op("PAD", {squares, emit.constant<std::int32_t>({3, 2}, {0, 0, before, after, 0, 0})});
  const Value sums = emit.reshape(reduce_axis(emit, "SUM", padded, 1, size, 1, 1), dims);
  return emit.cast(emit.div(x, emit.pow(emit.add(emit.mul(sums, each), bias), beta)), node.in(0).dtype());
}

}  // namespace core_ops
