// MatMulNBits: y = a W' + bias, W quantized by blocks. To ONNX it stays what it is; to TFLite it is FULLY_CONNECTED
// with weights in float32: its kernels that take 4 and 8 bits round the activations, and know one scale a row.
#include "blocks.hpp"
#include "sizes.hpp"

namespace transformer {
namespace {

/// Like the first operand, with N columns.
void infer_nbits(const Node& node, const Infer& infer) {
  Type t = node.in(0).type();
  if (t.dims && !t.dims->empty()) t.dims->back() = node.attr<std::int64_t>("N");
  infer.set(0, t);
}

/// [rows, columns] in terms of ONNX operators, for weights of the run time.
Value at_run_time(const Emit& emit, const Blocks& b) {
  const Dims blocks{b.rows, b.count(), 1};
  const Value packed = reshape(emit, b.data, {b.rows, b.count(), -1});
  Value q = emit.cast(unpacked(emit, packed, b.bits, b.size), DType::float32);
  if (b.zeros && b.zeros.dtype() == DType::uint8) {
    const Value z = reshape(emit, b.zeros, {b.rows, -1});
    q = emit.sub(q, emit.cast(reshape(emit, unpacked(emit, z, b.bits, b.count()), blocks), DType::float32));
  } else {
    const Value z = b.zeros ? reshape(emit, emit.cast(b.zeros, DType::float32), blocks) : Value();
    q = z ? emit.sub(q, z) : emit.sub(q, static_cast<double>(1 << (b.bits - 1)));
  }
  const Value scales = reshape(emit, emit.cast(b.scales, DType::float32), blocks);
  const Value w = reshape(emit, emit.mul(q, scales), {b.rows, b.count() * b.size});
  return b.count() * b.size == b.columns ? w : slice(emit, w, 1, 0, b.columns);
}

/// g_idx gives each column its block: the weights are made here and now.
Value by_index(const Emit& emit, const Blocks& b, const Value& index) {
  Blocks plain = b;  // numbers alone: zero points 0, scales 1
  const std::vector<float> ones(static_cast<std::size_t>(b.rows * b.count()), 1.0f);
  plain.scales = emit.constant<float>({b.rows, b.count()}, ones);
  plain.zeros = emit.constant<float>({b.rows, b.count()}, std::vector<float>(ones.size(), 0.0f));
  std::vector<float> w = dequantized(emit, plain).read<float>();
  const std::vector<float> scale = b.scales.read<float>();
  std::vector<float> zero(scale.size(), static_cast<float>(1 << (b.bits - 1)));
  if (b.zeros && b.zeros.dtype() != DType::uint8) zero = b.zeros.read<float>();
  if (b.zeros && b.zeros.dtype() == DType::uint8) {
    const auto z = unpacked(b.zeros.read<std::uint8_t>(), b.bits, b.rows, b.count());
    zero.assign(z.begin(), z.end());
  }
  const auto block = index.read<std::int64_t>();
  decline_if(static_cast<std::int64_t>(block.size()) < b.columns || scale.size() != zero.size(), "g_idx of ",
             block.size(), " numbers for ", b.columns, " columns");
  for (std::int64_t r = 0; r < b.rows; ++r)
    for (std::int64_t c = 0; c < b.columns; ++c) {
      const std::int64_t g = block[static_cast<std::size_t>(c)];
      decline_if(g < 0 || g >= b.count(), "g_idx names block ", g, " of ", b.count());
      const auto at = static_cast<std::size_t>(r * b.count() + g);
      float& x = w[static_cast<std::size_t>(r * b.columns + c)];
      x = (x - zero[at]) * scale[at];
    }
  return emit.constant<float>({b.rows, b.columns}, w);
}

}  // namespace

GANTRY_DEFINE(kMicrosoft, "MatMulNBits", infer(infer_nbits))

/// Weights of the run time: what it means.
GANTRY_UPGRADE(kMicrosoft, "MatMulNBits", since(1)) {
  const Blocks b{node.in(1),
                 node.in(2),
                 node.in(3),
                 node.attr<std::int64_t>("bits", 4),
                 node.attr<std::int64_t>("N"),
                 node.attr<std::int64_t>("K"),
                 node.attr<std::int64_t>("block_size")};
  decline_if(b.data.constant() && b.scales.constant() && (!b.zeros || b.zeros.constant()), "constant weights stay");
  decline_if(node.attr("weight_prepacked", 0) != 0 || node.in(4), "g_idx with weights of the run time");
  decline_if(b.bits != 2 && b.bits != 4 && b.bits != 8, "numbers of ", b.bits, " bits");
  Value y = emit.op("MatMul", {emit.cast(node.in(0), DType::float32), emit.transpose(at_run_time(emit, b), {1, 0})});
  if (node.in(5)) y = emit.add(y, emit.cast(node.in(5), DType::float32));
  return emit.cast(y, node.in(0).dtype());
}

/// A, B, scales, zero_points, g_idx, bias
GANTRY_CONVERT(kMicrosoft, "MatMulNBits", to(tflite)) {
  decline_if(node.attr("weight_prepacked", 0) != 0, "weights in the layout of one processor (weight_prepacked)");
  const auto n = node.attr<std::int64_t>("N"), k = node.attr<std::int64_t>("K"),
             size = node.attr<std::int64_t>("block_size");
  decline_if(n < 1 || k < 1 || size < 1, "N, K, block_size = ", n, ", ", k, ", ", size);
  const Value a = node.in(0);
  const Blocks b{node.in(1), node.in(2), node.in(3), node.attr<std::int64_t>("bits", 4), n, k, size};
  const Value weights = node.in(4) ? by_index(emit, b, node.in(4)) : dequantized(emit, b);
  emit.call().warn(cat("weights of ", b.bits, " bits are written as float32, ", 32 / b.bits,
                       " times as large: TFLite has no kernel that computes with them as they are"));
  Value x = emit.cast(a, DType::float32);
  if (a.rank() == 1) x = emit.reshape(x, {1, k});
  const Value bias = node.in(5);
  const bool fused = bias && bias.constant();
  const Value zero = fused ? Value() : emit.constant<float>({n}, std::vector<float>(static_cast<std::size_t>(n), 0.0f));
  Value y = emit.op("FULLY_CONNECTED", {x, weights, fused ? emit.reshape(emit.cast(bias, DType::float32), {n}) : zero},
                    {{"keep_num_dims", true},
                     {"weights_format", "DEFAULT"},
                     {"asymmetric_quantize_inputs", false},
                     {"fused_activation_function", "NONE"}});
  if (bias && !fused) y = emit.add(y, emit.cast(bias, DType::float32));
  if (a.rank() == 1) y = emit.reshape(y, {n});
  return emit.cast(y, a.dtype());
}

}  // namespace transformer
