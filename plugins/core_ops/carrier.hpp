// Element types that LiteRT's kernels lack, carried by ones that they have. What only moves elements may take any type
// of the same width; what orders them needs a type in which the order is the same.
#pragma once

#include "common.hpp"

namespace core_ops {

/// The type with the same bits that GATHER, GATHER_ND, CONCATENATION, TRANSPOSE and RESHAPE take.
DType carrier_of(DType t);
/// The same bits as another type of the same width.
Value bitcast(const Emit& emit, const Value& v, DType to);
inline Value carried(const Emit& emit, const Value& v) { return bitcast(emit, v, carrier_of(v.dtype())); }

/// Numbers whose descending order, by TOPK_V2, is the descending (largest) or ascending order of `x`; equal stay equal.
Value sort_key(const Emit& emit, const Value& x, bool largest);

/// Signed integers of the same width in the order of the numbers, and back; float32, float64, unsigned integers.
Value ordered_integers(const Emit& emit, const Value& x);
Value from_ordered_integers(const Emit& emit, const Value& key, DType to);

/// Indices of the k first in descending order along the last axis, as int32, ties in order; and the values.
struct Sorted {
  Value values, indices;
};
Sorted top_k(const Emit& emit, const Value& x, const Value& k);

}  // namespace core_ops
