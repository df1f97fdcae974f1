// AttributeProto <-> Attr.
#pragma once

#include <string_view>

#include "host/formats/onnx/tensor.hpp"
#include "host/ir/graph.hpp"

namespace onnx {
class AttributeProto;
}

namespace gantry::onnx_format {

/// Any attribute but a graph. A sparse tensor becomes a dense one. Errors name the attribute: input_malformed, and
/// unsupported_op for the kinds that Gantry does not carry (types, lists of tensors).
Result<Attr> to_attr(const onnx::AttributeProto& proto, TensorSource& tensors);
/// Tensors of more than `most_data` bytes are given without their data.
void to_proto(std::string_view name, const Attr& attr, std::uint64_t most_data, onnx::AttributeProto& proto);

/// The value of an operator Constant with these attributes.
Result<Constant> constant_of(const Attrs& attrs);

}  // namespace gantry::onnx_format
