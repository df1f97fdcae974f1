// Sizes that are known, or computed by the graph: shape arithmetic that costs nothing where nothing is unknown.
#pragma once

#include <string>
#include <vector>

#include "common.hpp"

namespace core_ops {

/// A size: `known`, or (-1) an int32 scalar of the graph.
struct Extent {
  std::int64_t known = -1;
  Value value;

  Extent(std::int64_t n) : known(n) {}  // NOLINT: conversion is the point
  explicit Extent(const Value& v) : value(v) {}
  bool is_known() const { return known >= 0; }
  Value scalar(const Emit& emit) const {
    return is_known() ? emit.scalar(DType::int32, static_cast<double>(known)) : value;
  }
};
using Extents = std::vector<Extent>;

Extent extent_of(const Emit& emit, const Value& x, int axis);
/// All axes from `first` up to `end`.
Extents extents_of(const Emit& emit, const Value& x, int first, int end);
Extent product(const Emit& emit, const Extents& sizes);
/// As an int32 vector.
Value vector_of(const Emit& emit, const Extents& sizes);
/// 0, 1, ... n - 1 as int32 [n].
Value counting(const Emit& emit, const Extent& n);
/// The same elements under a shape of which any number of sizes may be unknown.
Value reshape_to(const Emit& emit, const Value& v, const Extents& shape);
inline Value flat(const Emit& emit, const Value& v) { return emit.reshape(v, {-1}); }

/// Integers as int32, which is what arithmetic on indices is done in.
Value as_int32(const Emit& emit, const Value& v);
/// Indices as int32 in which negative ones, that count from the end of `n` elements, are brought into range.
Value from_end(const Emit& emit, const Value& indices, const Extent& n);

}  // namespace core_ops
