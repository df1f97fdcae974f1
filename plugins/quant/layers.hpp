// What the layers of QKeras share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emit.hpp"

namespace gantry::quant {

Value keras_node(const Emit& emit, std::string_view package, std::string_view op, const std::vector<Value>& inputs,
                 const Attributes& attributes);
/// 1; declines other calls.
std::size_t operand_count(const Node& node);
/// In the dialect "keras": the weight behind the quantizer that the attribute names.
Value quantized_weight(const Node& node, const Emit& emit, const Value& w, std::string_view attribute);
/// In the dialect "keras": y behind the quantizer or activation.
Value activated(const Node& node, const Emit& emit, const Value& y, const std::string& text);
/// What `make` returns; where it declines, a node whose conversion to ONNX declines with that reason: a rewrite within
/// the dialect that declines would only leave the layer as it is.
Value or_refused(const Node& node, const Emit& emit, const std::function<Value()>& make);
/// The configuration without quantizers and activation.
Attributes plain_attributes(const Node& node);

}  // namespace gantry::quant
