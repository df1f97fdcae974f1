// Quantized numbers as written: q = saturate(round(x / scale) + zero point), x = (q - zero point) * scale, in float32.
#pragma once

#include "floats.hpp"

namespace core_ops {

/// Least and greatest number of a quantized type; declines for others.
std::pair<double, double> quantized_range(DType t);

/// Scale or zero point: a scalar for the whole tensor, [n] along an axis, or one for each block along it.
struct Granularity {
  int axis = 1;
  std::int64_t block = 0;  // 0: no blocks
};

/// A scale or zero point in float32, shaped so that it broadcasts to `like`.
Value spread(const Emit& emit, const Value& parameter, const Value& like, const Granularity& g);

/// (x - zero_point) * scale, the last two broadcast already and in float32; no zero point is 0.
Value dequantize(const Emit& emit, const Value& x, const Value& scale, const Value& zero_point);
/// saturate(round(x / scale) + zero_point) in type `t`; x and the parameters in float32.
Value quantize(const Emit& emit, const Value& x, const Value& scale, const Value& zero_point, DType t);
/// round(x) + zero_point, saturated: the end of quantize().
Value quantize_scaled(const Emit& emit, const Value& x, const Value& zero_point, DType t);

/// An integer value as float32 numbers; a zero point, which may be absent, taken off.
Value integers_as_float(const Emit& emit, const Value& x, const Value& zero_point);

}  // namespace core_ops
