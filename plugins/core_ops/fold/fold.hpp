// Constant folding: each folder computes the results of a node whose operands are constants, with the operator's own
// arithmetic. Integers are computed in int64 and wrap to their width, floats in double and rounded once.
#pragma once

#include <array>

#include "../common.hpp"

namespace core_ops {

/// Row-major strides of a shape.
inline Dims strides_of(const Dims& dims) {
  Dims s(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) s[i - 1] = s[i] * dims[i];
  return s;
}
inline std::int64_t count_of(const Dims& dims) {
  std::int64_t n = 1;
  for (std::int64_t d : dims) n *= d;
  return n;
}

/// Strides with which an operand of shape `from` is read when broadcast to `to`: 0 along broadcast axes.
inline Dims broadcast_strides(const Dims& from, const Dims& to) {
  const Dims own = strides_of(from);
  Dims s(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) s[i + to.size() - from.size()] = own[i];
  return s;
}

/// Calls visit(position, offsets) for every element of `dims` in row-major order; offsets[k] follows strides[k].
template <std::size_t N, class F>
void for_each_element(const Dims& dims, const std::array<Dims, N>& strides, F&& visit) {
  const std::int64_t n = count_of(dims);
  Dims index(dims.size(), 0);
  std::array<std::int64_t, N> at{};
  for (std::int64_t i = 0; i < n; ++i) {
    visit(i, at);
    for (std::size_t d = dims.size(); d-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) at[k] += strides[k][d];
      if (++index[d] < dims[d]) break;
      for (std::size_t k = 0; k < N; ++k) at[k] -= strides[k][d] * dims[d];
      index[d] = 0;
    }
  }
}

/// Elements as a constant of `dtype`; T is double or int64_t.
template <class T>
Value make(const Emit& emit, DType dtype, const Dims& dims, const std::vector<T>& v) {
  if constexpr (std::is_same_v<T, double>) {
    return emit.numbers(dtype, dims, v);
  } else {
    const Value wide = emit.constant<std::int64_t>(dims, v);
    if (dtype == DType::int64) return wide;
    switch (dtype) {
      case DType::boolean:
        return emit.constant<bool>(dims, std::vector<bool>(v.begin(), v.end()));
      case DType::uint64:
        return emit.constant<std::uint64_t>(dims, std::vector<std::uint64_t>(v.begin(), v.end()));
      case DType::int32:
        return emit.constant<std::int32_t>(dims, std::vector<std::int32_t>(v.begin(), v.end()));
      case DType::uint32:
        return emit.constant<std::uint32_t>(dims, std::vector<std::uint32_t>(v.begin(), v.end()));
      case DType::int16:
        return emit.constant<std::int16_t>(dims, std::vector<std::int16_t>(v.begin(), v.end()));
      case DType::uint16:
        return emit.constant<std::uint16_t>(dims, std::vector<std::uint16_t>(v.begin(), v.end()));
      case DType::int8:
        return emit.constant<std::int8_t>(dims, std::vector<std::int8_t>(v.begin(), v.end()));
      case DType::uint8:
        return emit.constant<std::uint8_t>(dims, std::vector<std::uint8_t>(v.begin(), v.end()));
      default:
        decline("folding of ", name_of(dtype));
    }
  }
}

/// Elements of a numeric constant (booleans as 0 and 1), as double or int64.
template <class T>
std::vector<T> elements(const Value& v) {
  decline_if(v.dtype() == DType::string || v.dtype() >= DType::complex64, "folding of ", name_of(v.dtype()));
  return v.read<T>();
}

}  // namespace core_ops
