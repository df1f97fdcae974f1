// Operands that may be computed at run time: brought to the form that TFLite's kernels take, constants at once.
#pragma once

#include "extent.hpp"

namespace core_ops {

/// An integer operand as int32, saturated: ONNX says "to the end" by the largest int64.
Value saturated(const Emit& emit, const Value& v);
/// As an int32 vector, also where ONNX allows a scalar.
Value int_vector(const Emit& emit, const Value& v);
/// The shape as an int32 vector; a constant where it is known.
Value shape_of(const Emit& emit, const Value& v);
/// Elements [first, first + count) of a vector.
Value part_of(const Emit& emit, const Value& vector, std::int64_t first, std::int64_t count);
Value joined(const Emit& emit, const std::vector<Value>& vectors);
/// Element i of an int32 vector, known where it is a constant that is not negative.
Extent element(const Emit& emit, const Value& vector, std::int64_t i);
/// Number of elements of a vector; declines if that is not known.
std::int64_t length_of(const Value& vector);

/// Axes that a node names by an operand, all of them where it names none.
struct Axes {
  Dims known;     // normalized, where `runtime` is absent
  Value runtime;  // int32 [k], may count from the end
  std::int64_t count = 0;
};
Axes read_axes(const Node& node, const Emit& emit, std::size_t operand, int rank, std::int64_t count);

/// A vector of one element for each axis of a value: element j of `given` for axis j of `axes`, `otherwise` elsewhere.
Value spread(const Emit& emit, const Value& given, const Axes& axes, int rank, std::int32_t otherwise);

// Arithmetic on sizes; done at once where both are known. Results must not be negative, except where a Value is given.
Extent plus(const Emit& emit, const Extent& a, const Extent& b);
Extent less_by(const Emit& emit, const Extent& a, const Extent& b);  // max(0, a - b)
Extent times(const Emit& emit, const Extent& a, const Extent& b);
Extent halved(const Emit& emit, const Extent& a);                 // rounded down
Extent over(const Emit& emit, const Extent& a, std::int64_t by);  // rounded down
Extent smaller(const Emit& emit, const Extent& a, const Extent& b);

/// Whether two axes have the same size, known or by the same symbol.
bool same_size(const Value& a, int axis_a, const Value& b, int axis_b);

}  // namespace core_ops
