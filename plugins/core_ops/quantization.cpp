// QuantizeLinear, DequantizeLinear. Operators: ONNX operator specification. LiteRT's ROUND goes to even at .5, as ONNX.
#include "quantization.hpp"

#include <algorithm>
#include <cmath>

namespace core_ops {

std::pair<double, double> quantized_range(DType t) {
  switch (t) {
    case DType::int8:
      return {-128, 127};
    case DType::uint8:
      return {0, 255};
    case DType::int16:
      return {-32768, 32767};
    case DType::uint16:
      return {0, 65535};
    case DType::int4:
    case DType::uint4:
      decline("LiteRT's CAST makes no ", name_of(t));
    default:
      decline("quantized numbers of type ", name_of(t));
  }
}

namespace {

/// Every element of an axis as often as a block is long, cut to n.
Value repeat_blocks(const Emit& emit, const Value& v, int axis, std::int64_t block, std::int64_t n) {
  const std::int64_t blocks = v.dim(axis);
  decline_if(blocks != (n + block - 1) / block, blocks, " blocks of ", block, " for an axis of size ", n);
  if (v.constant()) {
    const Dims dims = v.static_dims();
    std::int64_t inner = 1;
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
    const std::vector<float> in = v.read<float>();
    std::vector<float> out;
    const std::int64_t outer = static_cast<std::int64_t>(in.size()) / (blocks * inner);
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < inner; ++i)
          out.push_back(in[static_cast<std::size_t>((o * blocks + k / block) * inner + i)]);
    Dims wide = dims;
    wide[static_cast<std::size_t>(axis)] = n;
    return emit.constant<float>(wide, out);
  }
  std::vector<std::int32_t> at;
  for (std::int64_t k = 0; k < n; ++k) at.push_back(static_cast<std::int32_t>(k / block));
  return gather(emit, v, emit.constant<std::int32_t>({n}, at), axis);
}

}  // namespace

Value spread(const Emit& emit, const Value& parameter, const Value& like, const Granularity& g) {
  if (!parameter) return {};
  const Value v = parameter.dtype() == DType::float16 || is_integer(parameter.dtype())
                      ? emit.cast(parameter, DType::float32)
                      : in_float32(emit, parameter);
  if (v.is_static() && v.elements() == 1) return emit.reshape(v, {});
  const int axis = normalize_axis(g.axis, like.rank());
  const std::int64_t n = like.dim(axis);
  if (g.block > 0) {
    decline_if(n < 0, "blocks along an axis of unknown size; give input shapes with --shape");
    decline_if(v.rank() != like.rank(), "blocked scales of rank ", v.rank(), " for rank ", like.rank());
    return repeat_blocks(emit, v, axis, g.block, n);
  }
  decline_if(v.rank() != 1, "a scale of rank ", v.rank());
  decline_if(n >= 0 && v.dim(0) >= 0 && n != v.dim(0), v.dim(0), " scales for an axis of size ", n);
  Dims dims(static_cast<std::size_t>(like.rank()), 1);
  dims[static_cast<std::size_t>(axis)] = v.dim(0);
  return reshape_one_unknown(emit, v, dims);
}

namespace {

/// The axis along which a parameter of these dims varies; -1 for none, -2 for several.
int varying_axis(const Dims& dims) {
  int axis = -1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) axis = axis == -1 ? static_cast<int>(i) : -2;
  return axis;
}

/// A constant weight that stays one: its numbers are shifted and scaled along one axis when the file is written.
Value dequantize_constant(const Emit& emit, const Value& x, const Value& scale, const Value& zero_point) {
  const Value numbers = emit.cast(x, DType::float32);
  const int axis = std::max(varying_axis(scale.dims()), zero_point ? varying_axis(zero_point.dims()) : -1);
  const auto along = [&](const Value& v) {
    std::vector<float> list = v.read<float>();
    if (list.size() == 1) list.resize(static_cast<std::size_t>(x.dim(std::max(axis, 0))), list[0]);
    return list;
  };
  Value y = numbers;
  if (zero_point) {
    std::vector<float> shift = along(zero_point);
    for (float& z : shift) z = -z;
    if (std::any_of(shift.begin(), shift.end(), [](float z) { return z != 0; }))
      y = emit.shift_constant(y, std::max(axis, 0), shift);
  }
  return emit.scale_constant(y, std::max(axis, 0), along(scale));
}

bool fits_constant(const Value& x, const Value& scale, const Value& zero_point) {
  if (!x.constant() || !scale.constant() || (zero_point && !zero_point.constant()) || x.rank() < 1) return false;
  if (x.elements() == 0) return false;
  const int s = varying_axis(scale.dims()), z = zero_point ? varying_axis(zero_point.dims()) : -1;
  return s != -2 && z != -2 && (s == z || s == -1 || z == -1);
}

}  // namespace

Value integers_as_float(const Emit& emit, const Value& x, const Value& zero_point) {
  const bool narrow = x.dtype() != DType::int4 && x.dtype() != DType::uint4 && !x.constant();
  // int32 may be beyond 2^24: the zero point is taken off before it is rounded.
  if (narrow && zero_point && zero_point.dtype() == DType::int32 && x.dtype() == DType::int32)
    return emit.cast(emit.sub(x, zero_point), DType::float32);
  const Value numbers = emit.cast(x, DType::float32);
  if (!zero_point) return numbers;
  if (zero_point.constant()) {
    const std::vector<float> z = zero_point.read<float>();
    if (std::all_of(z.begin(), z.end(), [](float v) { return v == 0; })) return numbers;
  }
  return emit.sub(numbers, emit.cast(zero_point, DType::float32));
}

Value dequantize(const Emit& emit, const Value& x, const Value& scale, const Value& zero_point) {
  if (fits_constant(x, scale, zero_point)) return dequantize_constant(emit, x, scale, zero_point);
  return emit.mul(integers_as_float(emit, x, zero_point), scale);
}

Value quantize_scaled(const Emit& emit, const Value& x, const Value& zero_point, DType t) {
  const auto [lowest, highest] = quantized_range(t);
  Value y = emit.op("ROUND", {x});
  if (zero_point) {
    const std::vector<float> z = zero_point.constant() ? zero_point.read<float>() : std::vector<float>{1};
    if (std::any_of(z.begin(), z.end(), [](float v) { return v != 0; })) y = emit.add(y, zero_point);
  }
  y = emit.minimum(emit.maximum(y, lowest), highest);
  return emit.cast(emit.cast(y, DType::int32), t);
}

Value quantize(const Emit& emit, const Value& x, const Value& scale, const Value& zero_point, DType t) {
  const bool one = scale.constant() && scale.elements() == 1 && scale.read<float>()[0] == 1;
  return quantize_scaled(emit, one ? x : emit.div(x, scale), zero_point, t);
}

namespace {

Granularity granularity(const Node& node) {
  return {static_cast<int>(node.attr<std::int64_t>("axis", 1)), node.attr<std::int64_t>("block_size", 0)};
}

}  // namespace

GANTRY_CONVERT(onnx, "QuantizeLinear", since(10), to(tflite)) {
  const Value x = node.in(0), scale = node.in(1), zero_point = node.in(2);
  DType t = zero_point ? zero_point.dtype() : DType::uint8;
  if (const auto output = node.attr<std::int64_t>("output_dtype", 0)) t = Emit::from_onnx_dtype(output);
  const Granularity g = granularity(node);
  const Value numbers = is_float(x.dtype()) ? in_float32(emit, x) : emit.cast(x, DType::float32);
  return quantize(emit, numbers, spread(emit, scale, x, g), spread(emit, zero_point, x, g), t);
}

GANTRY_CONVERT(onnx, "DequantizeLinear", since(10), to(tflite)) {
  const Value x = node.in(0), scale = node.in(1);
  const Granularity g = granularity(node);
  DType t = scale.dtype();
  if (const auto output = node.attr<std::int64_t>("output_dtype", 0)) t = Emit::from_onnx_dtype(output);
  return from_float32(emit, dequantize(emit, x, spread(emit, scale, x, g), spread(emit, node.in(2), x, g)), t);
}

}  // namespace core_ops
