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

/// Weights of the run time, packed [rows, bytes], as numbers [rows, count].
Value unpacked_here(const Emit& emit, const Value& bytes, std::int64_t bits, std::int64_t rows, std::int64_t count) {
  const Value whole = emit.reshape(emit.cast(bytes, DType::int32), {rows, -1});
  const std::int64_t per = 8 / bits, width = whole.dim(1) * per;
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < per; ++i) {
    const Value shifted = i == 0 ? whole : emit.op("FLOOR_DIV", {whole, emit.scalar(DType::int32, 1 << (bits * i))});
    parts.push_back(bits == 8 ? shifted : emit.op("FLOOR_MOD", {shifted, emit.scalar(DType::int32, 1 << bits)}));
  }
  Value all =
      per == 1 ? whole : emit.reshape(emit.op("PACK", parts, {{"axis", 2}, {"values_count", per}}), {rows, width});
  if (width != count) all = emit.op("SLICE", {all, emit.i32({0, 0}), emit.i32({rows, count})});
  return emit.cast(all, DType::float32);
}

/// (number - zero point) * scale as [rows, columns], at run time.
Value at_run_time(const Emit& emit, const Blocks& b) {
  const Dims blocks{b.rows, b.count(), 1};
  Value q = emit.reshape(unpacked_here(emit, b.data, b.bits, b.rows, b.count() * b.size), {b.rows, b.count(), b.size});
  if (!b.zeros)
    q = emit.sub(q, static_cast<double>(1 << (b.bits - 1)));
  else if (b.zeros.dtype() == DType::uint8)
    q = emit.sub(q, emit.reshape(unpacked_here(emit, b.zeros, b.bits, b.rows, b.count()), blocks));
  else
    q = emit.sub(q, emit.reshape(emit.cast(b.zeros, DType::float32), blocks));
  const Value w = emit.reshape(emit.mul(q, emit.reshape(emit.cast(b.scales, DType::float32), blocks)),
                               {b.rows, b.count() * b.size});
  if (b.count() * b.size == b.columns) return w;
  return emit.op("SLICE", {w, emit.i32({0, 0}), emit.i32({b.rows, b.columns})});
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

/// A, B, scales, zero_points, g_idx, bias
GANTRY_CONVERT(kMicrosoft, "MatMulNBits", to(tflite)) {
  decline_if(node.attr("weight_prepacked", 0) != 0, "weights in the layout of one processor (weight_prepacked)");
  const auto n = node.attr<std::int64_t>("N"), k = node.attr<std::int64_t>("K"),
             size = node.attr<std::int64_t>("block_size");
  const Value a = node.in(0);
  const Blocks b{node.in(1), node.in(2), node.in(3), node.attr<std::int64_t>("bits", 4), n, k, size};
  check_blocks(b);
  decline_if(a.rank() < 1 || (a.dim(-1) >= 0 && a.dim(-1) != k), "A of shape ", text(a.dims()), " for K = ", k);
  const bool constant = b.data.constant() && b.scales.constant() && (!b.zeros || b.zeros.constant());
  decline_if(!constant && node.in(4), "g_idx with weights of the run time");
  if (constant)
    emit.call().warn(cat("weights of ", b.bits, " bits are written as float32, ", 32 / b.bits,
                         " times as large: TFLite has no kernel that computes with them as they are"));
  Value x = emit.cast(a, DType::float32);
  if (a.rank() == 1) x = emit.reshape(x, {1, k});
  const Value bias = node.in(5);
  const bool fused = constant && bias && bias.constant();
  Value y;
  if (constant) {
    const Value weights = node.in(4) ? by_index(emit, b, node.in(4)) : dequantized(emit, b);
    const std::vector<float> zeros(static_cast<std::size_t>(n), 0.0f);
    y = emit.op("FULLY_CONNECTED",
                {x, weights, fused ? emit.reshape(emit.cast(bias, DType::float32), {n}) : emit.constant({n}, zeros)},
                {{"keep_num_dims", true},
                 {"weights_format", "DEFAULT"},
                 {"asymmetric_quantize_inputs", false},
                 {"fused_activation_function", "NONE"}});
  } else {
    y = emit.op("BATCH_MATMUL", {x, at_run_time(emit, b)},
                {{"adj_x", false}, {"adj_y", true}, {"asymmetric_quantize_inputs", false}});
  }
  if (bias && !fused) y = emit.add(y, emit.cast(bias, DType::float32));
  if (a.rank() == 1) y = emit.reshape(y, {n});
  return emit.cast(y, a.dtype());
}

}  // namespace transformer
