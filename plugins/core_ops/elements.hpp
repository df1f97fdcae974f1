// Places of elements and rows in flat values, for operators that pick or place by index.
#pragma once

#include "extent.hpp"

namespace core_ops {

/// GATHER, of types that the kernel takes. From a vector it is GATHER_ND, which the layout engine leaves as it is.
Value pick(const Emit& emit, const Value& x, const Value& at, int axis = 0, int batch_dims = 0);

/// Flat places of GatherElements and ScatterElements: [outer, k, inner] int32, for non-negative indices `at` on `axis`
/// of a value of shape `dims`.
Value element_places(const Emit& emit, const Dims& dims, const Value& at, int axis);
/// Flat places [m] of tuples of indices [..., k] into axes of the given sizes; negative ones count from the end.
Value tuple_places(const Emit& emit, const Value& at, const Extents& sizes);

}  // namespace core_ops
