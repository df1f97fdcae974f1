// Between ONNX's types and Gantry's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/ir/result.hpp"
#include "host/ir/type.hpp"

namespace onnx {
class TypeProto;
}

namespace gantry::onnx_format {

/// undefined for numbers of TensorProto.DataType that Gantry has no element type for (the 2-, 6- and 8-bit floats ...).
DType dtype_of(std::int64_t onnx_number);
int onnx_number_of(DType t);
/// ONNX's name of a TensorProto.DataType, or its number if it has none.
std::string onnx_dtype_name(std::int64_t onnx_number);

/// What the TypeProto says, as far as Gantry has it: other things than tensors are of undefined type. Negative sizes
/// are unknown dimensions, as exporters mean them.
Type to_type(const onnx::TypeProto& proto);
/// For messages: "sequence", "optional", ... ; "" for tensors.
std::string_view container_name(const onnx::TypeProto& proto);
/// An undefined type leaves the proto empty.
void to_proto(const Type& type, onnx::TypeProto& proto);

/// Adds to `known` what `more` knows: a size beats a symbol, a symbol beats nothing. False, with `known` unchanged, if
/// they contradict each other (element type, rank or a size).
bool merge(Type& known, const Type& more);

}  // namespace gantry::onnx_format
