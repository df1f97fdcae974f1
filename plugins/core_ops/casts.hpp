// Conversion of element types by ONNX's rules.
#pragma once

#include "common.hpp"

namespace core_ops {

/// Cast(x): by way of a type between, where LiteRT has no direct CAST, or one that saturates where ONNX Runtime wraps.
/// 16-bit floats are widened exactly, and so are 4-bit integers, which go to float32 only; floats become narrow
/// integers by way of int32.
Value convert(const Emit& emit, const Value& x, DType to_type);

}  // namespace core_ops
