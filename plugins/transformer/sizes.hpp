// Sizes and positions in terms of ONNX operators: constants where they are known.
#pragma once

#include <algorithm>

#include "common.hpp"

namespace transformer {

/// Size of an axis as int64 [1].
inline Value size_of(const Emit& emit, const Value& v, int axis) {
  const int a = normalize_axis(axis, v.rank());
  if (v.dim(a) >= 0) return emit.i64({v.dim(a)});
  return emit.op("Shape", {v}, {{"start", a}, {"end", a + 1}});
}
/// The same as an int32 scalar.
inline Value count_of(const Emit& emit, const Value& v, int axis) {
  if (v.dim(axis) >= 0) return emit.scalar(DType::int32, static_cast<double>(v.dim(axis)));
  return emit.cast(emit.op("Squeeze", {size_of(emit, v, axis), emit.i64({0})}), DType::int32);
}
/// 0, 1, ... up to a count as int32 [n].
inline Value counting(const Emit& emit, std::int64_t n) {
  constexpr std::int64_t kMost = 1 << 24;  // of a list that is stored
  decline_if(n < 0 || n > kMost, "a sequence of ", n);
  std::vector<std::int32_t> at(static_cast<std::size_t>(n));
  std::iota(at.begin(), at.end(), 0);
  return emit.constant<std::int32_t>({n}, at);
}
inline Value counting(const Emit& emit, const Value& n) {
  return emit.op("Range", {emit.scalar(DType::int32, 0), n, emit.scalar(DType::int32, 1)});
}
inline Value positions_along(const Emit& emit, const Value& v, int axis) {
  return v.dim(axis) >= 0 ? counting(emit, v.dim(axis)) : counting(emit, count_of(emit, v, axis));
}

/// Both axes are known to have one size: by number or by symbol.
inline bool same_size(const Value& a, int i, const Value& b, int j) {
  if (a.dim(i) >= 0 || b.dim(j) >= 0) return a.dim(i) == b.dim(j);
  return !a.symbol(i).empty() && a.symbol(i) == b.symbol(j);
}

/// Reshape by ONNX's rules: 0 keeps the axis in its place, one -1 is what is left.
inline Value reshape(const Emit& emit, const Value& v, Dims dims) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == 0 && v.dim(static_cast<int>(i)) > 0) dims[i] = v.dim(static_cast<int>(i));
  const bool plain = std::ranges::find(dims, 0) == dims.end();
  return plain ? emit.reshape(v, dims) : emit.op("Reshape", {v, emit.i64(dims)});
}
inline Value unsqueeze(const Emit& emit, const Value& v, const Dims& axes) {
  return emit.op("Unsqueeze", {v, emit.i64(axes)});
}
inline Value concat(const Emit& emit, const std::vector<Value>& parts, int axis) {
  return parts.size() == 1 ? parts[0] : emit.op("Concat", parts, {{"axis", axis}});
}
/// Elements [first, last) of an axis.
inline Value slice(const Emit& emit, const Value& v, int axis, std::int64_t first, std::int64_t last) {
  return emit.op("Slice", {v, emit.i64({first}), emit.i64({last}), emit.i64({axis})});
}
/// The first elements of an axis, as many as an int64 [1] of the run time says.
inline Value first_of(const Emit& emit, const Value& v, int axis, const Value& count) {
  Dims dims = v.dims();  // ONNX's inference says nothing of a slice whose end is not known
  dims[static_cast<std::size_t>(axis)] = -1;
  return emit.ops("Slice", 1, {v, emit.i64({0}), count, emit.i64({axis})}, {}, {Type{v.dtype(), dims}})[0];
}
/// Parts of an axis by their sizes.
inline std::vector<Value> split(const Emit& emit, const Value& v, int axis, const Dims& sizes) {
  return emit.ops("Split", sizes.size(), {v, emit.i64(sizes)}, {{"axis", axis}});
}
/// Part `i` of an axis, which goes.
inline Value pick(const Emit& emit, const Value& v, int axis, std::int64_t i) {
  return emit.op("Gather", {v, emit.constant<std::int64_t>({}, {i})}, {{"axis", axis}});
}

/// perm from channels-last to channels-first, and back.
inline Dims channels_first(int rank) {
  Dims p{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) p.push_back(i);
  return p;
}
inline Dims channels_last(int rank) {
  Dims p{0};
  for (int i = 2; i < rank; ++i) p.push_back(i);
  p.push_back(1);
  return p;
}

}  // namespace transformer
