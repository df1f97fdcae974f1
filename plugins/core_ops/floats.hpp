// Arithmetic in float32 for operators whose kernels take nothing else: other floats come in by a cast and go back by
// one.
#pragma once

#include "common.hpp"

namespace core_ops {

/// A float value as float32. Where a float64 loses digits, the host says so, or forbids it.
inline Value in_float32(const Emit& emit, const Value& v) {
  if (!v || v.dtype() == DType::float32) return v;
  decline_if(v.dtype() == DType::bfloat16, "LiteRT's CAST does not take bfloat16");
  return emit.cast(v, DType::float32);
}
/// A float32 result in the type that the operator has.
inline Value from_float32(const Emit& emit, const Value& v, DType to_type) { return emit.cast(v, to_type); }

/// Values of -1 where a dim is unknown: only one may be, as RESHAPE finds only one.
inline Value reshape_one_unknown(const Emit& emit, const Value& v, const Dims& dims) {
  int unknown = 0;
  for (std::int64_t d : dims) unknown += d < 0;
  decline_if(unknown > 1, "'", v.name(), "' has two unknown dimensions, ", text(v.dims()),
             ", and is reshaped; give input shapes with --shape");
  return emit.reshape(v, dims);
}

inline Value batch_matmul(const Emit& emit, const Value& a, const Value& b, bool adj_x, bool adj_y) {
  return emit.op("BATCH_MATMUL", {a, b}, {{"adj_x", adj_x}, {"adj_y", adj_y}, {"asymmetric_quantize_inputs", false}});
}

inline Value concatenation(const Emit& emit, const std::vector<Value>& parts, int axis) {
  return parts.size() == 1 ? parts[0] : emit.op("CONCATENATION", parts, {{"axis", axis}, no_activation()});
}

/// Elements [first, first + count) of an axis; a count of -1 is the rest.
inline Value slice_axis(const Emit& emit, const Value& v, int axis, std::int64_t first, std::int64_t count) {
  if (first == 0 && (count < 0 || count == v.dim(axis))) return v;
  Dims begin(static_cast<std::size_t>(v.rank()), 0), size(begin.size(), -1);
  begin[static_cast<std::size_t>(axis)] = first;
  size[static_cast<std::size_t>(axis)] = count;
  return emit.op("SLICE", {v, emit.i32(begin), emit.i32(size)});
}

/// SUM, MEAN, REDUCE_MAX... over axes that stay with size 1, or go.
inline Value reduce_axes(const Emit& emit, std::string_view op, const Value& v, const Dims& axes, bool keep) {
  return emit.op(op, {v, emit.i32(axes)}, {{"keep_dims", keep}});
}

}  // namespace core_ops
