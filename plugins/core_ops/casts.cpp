// Cast between all pairs of element types that LiteRT holds. Operators: ONNX operator specification, ai.onnx.
#include "casts.hpp"

#include <limits>

#include "integers.hpp"

namespace core_ops {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;

/// Floats from 2^63 on are brought down by it, and the top bit is put back.
Value float_to_uint64(const Emit& emit, const Value& x) {
  const Value high = emit.op("GREATER_EQUAL", {x, emit.scalar(DType::float32, kTwo63)});
  const Value top = emit.constant<std::int64_t>({}, {std::numeric_limits<std::int64_t>::min()});
  const Value above = emit.add(emit.cast(emit.sub(x, kTwo63), DType::int64), top);
  return bitcast(emit, select(emit, high, above, emit.cast(x, DType::int64)), DType::uint64);
}

/// From 2^63 on the half is converted, its last bit standing for both that are gone, so that it rounds once.
Value uint64_to_float(const Emit& emit, const Value& x) {
  const Value bits = bitcast(emit, x, DType::int64), half = half_unsigned(emit, bits),
              two = emit.scalar(DType::int64, 2);
  const Value odd = emit.op("FLOOR_MOD", {bits, two}), even = emit.sub(1, emit.op("FLOOR_MOD", {half, two}));
  const Value sticky = emit.add(half, emit.mul(odd, even));
  return select(emit, is_negative(emit, bits), emit.mul(emit.cast(sticky, DType::float32), 2),
                emit.cast(bits, DType::float32));
}

/// x != 0. Of float64 by its bits, without the sign: what float32 takes for 0 is not.
Value to_boolean(const Emit& emit, const Value& x) {
  if (x.dtype() == DType::float64) return to_boolean(emit, emit.mul(bitcast(emit, x, DType::int64), 2));
  const Value y = is_integer(x.dtype()) ? widen(emit, x) : convert(emit, x, DType::float32);
  return emit.op("NOT_EQUAL", {y, emit.scalar(y.dtype(), 0)});
}

}  // namespace

Value convert(const Emit& emit, const Value& x, DType to_type) {
  const DType from = x.dtype();
  if (from == to_type || (x.constant() && to_type != DType::boolean)) return emit.cast(x, to_type);
  if (from == DType::int4 || from == DType::uint4) return convert(emit, emit.cast(x, DType::float32), to_type);
  if (to_type == DType::boolean) return to_boolean(emit, x);
  if ((from == DType::float16 || from == DType::bfloat16) && to_type != DType::float32)
    return convert(emit, emit.cast(x, DType::float32), to_type);
  if (to_type == DType::uint64) {
    if (from == DType::float64) return float_to_uint64(emit, emit.cast(x, DType::float32));
    if (is_float(from)) return float_to_uint64(emit, x);
    return bitcast(emit, emit.cast(x, DType::int64), to_type);
  }
  if (from == DType::uint64) {
    if (is_float(to_type)) return emit.cast(uint64_to_float(emit, x), to_type);
    return emit.cast(bitcast(emit, x, DType::int64), to_type);
  }
  const DType wide = computed_in(to_type);
  return emit.cast(is_float(from) && wide != to_type ? emit.cast(x, wide) : x, to_type);
}

GANTRY_CONVERT(onnx, "Cast", since(6), to(tflite)) {
  const DType to_type = Emit::from_onnx_dtype(node.attr<std::int64_t>("to"));
  const Value x = node.in(0);
  decline_if(x.dtype() == DType::string || to_type == DType::string, "Cast from or to strings has no TFLite operator");
  decline_if(to_type == DType::float64 && x.dtype() == DType::uint64,
             "Cast from uint64 to float64 would be rounded to float32");
  decline_if(to_type == DType::uint64 && x.dtype() == DType::float64,
             "Cast from float64 to uint64 would be rounded to float32");
  return convert(emit, x, to_type);
}

/// x != x
GANTRY_CONVERT(onnx, "IsNaN", since(9), to(tflite)) { return emit.op("NOT_EQUAL", {node.in(0), node.in(0)}); }

/// Of float64 by its bits: what float32 takes for infinite may be finite.
GANTRY_CONVERT(onnx, "IsInf", since(10), to(tflite)) {
  Value x = node.in(0), plus, minus;
  if (x.dtype() == DType::float64) {
    x = bitcast(emit, x, DType::int64);
    plus = emit.constant<std::int64_t>({}, {0x7ff0000000000000});
    minus = emit.constant<std::int64_t>({}, {static_cast<std::int64_t>(0xfff0000000000000)});
  } else {
    constexpr double inf = std::numeric_limits<double>::infinity();
    x = convert(emit, x, DType::float32);
    plus = emit.scalar(DType::float32, inf), minus = emit.scalar(DType::float32, -inf);
  }
  const bool negative = node.attr("detect_negative", 1) != 0, positive = node.attr("detect_positive", 1) != 0;
  const Value up = emit.op("EQUAL", {x, plus}), down = emit.op("EQUAL", {x, minus});
  if (positive && negative) return emit.op("LOGICAL_OR", {up, down});
  if (positive) return up;
  if (negative) return down;
  return emit.op("LOGICAL_AND", {up, down});
}

}  // namespace core_ops
