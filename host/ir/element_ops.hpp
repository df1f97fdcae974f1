// What is done to elements where they lie: conversion between element types, scaling, shifting, packing of sub-byte
// types. Private to host/ir.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/ir/type.hpp"

namespace gantry::detail {

/// The type in which elements are worked on: int8 and uint8 for int4 and uint4, else the type itself.
DType carrier(DType t);
/// Bytes of one element of carrier(t).
std::int64_t carrier_bytes(DType t);
/// Cast is defined: both are numbers or booleans, not complex, or both are the same.
bool can_convert(DType from, DType to);
/// Every value of `from` is a value of `to`.
bool converts_exactly(DType from, DType to);

/// Elements of carrier(from) to carrier(to), with the range of `to`. `in` and `out` may be the same if elements are of
/// one size, and must not overlap otherwise.
void convert(DType from, const std::byte* in, DType to, std::byte* out, std::int64_t count);

/// Element `first` + i of a packed buffer to out[i], one byte each (sign-extended for int4).
void unpack4(DType t, const std::byte* packed, std::int64_t first, std::int64_t count, std::byte* out);
void pack4(const std::byte* in, std::int64_t count, std::byte* packed);

/// Where elements stand on an axis: element i has index i / inner % size.
struct AxisOf {
  std::int64_t inner = 1, size = 1;
};
/// x[i] *= vector[index of first + i] for float types.
void scale(DType t, std::byte* x, std::int64_t first, std::int64_t count, AxisOf axis, std::span<const float> vector);
/// x[i] += vector[index of first + i] for float types.
void shift(DType t, std::byte* x, std::int64_t first, std::int64_t count, AxisOf axis, std::span<const float> vector);

}  // namespace gantry::detail
