// QKeras' layers as Keras' own between quantizers: out = activation(op(x, Qk(kernel)) + Qb(bias)). The conversion to
// ONNX then is that of the plain layer.
#include "layers.hpp"

#include <algorithm>

#include "constants.hpp"

namespace gantry::quant {

// A node of the dialect "keras", of unknown type as all of them are.
Value keras_node(const Emit& emit, std::string_view package, std::string_view op, const std::vector<Value>& inputs,
                 const Attributes& attributes) {
  return emit.make(package, op, 1, inputs, attributes, {Type{}}, 1)[0];
}

Value or_refused(const Node& node, const Emit& emit, const std::function<Value()>& make) {
  try {
    return make();
  } catch (const Declined& d) {
    return keras_node(emit, "qkeras", "Refused", {node.in(0)}, {{"reason", cat(node.op(), ": ", d.what())}});
  }
}

std::size_t operand_count(const Node& node) {
  const auto n = static_cast<std::size_t>(node.attr<std::int64_t>("operand_count", 1));
  decline_if(n != 1, "it is called with ", n, " tensors");
  return n;
}

Value quantized_weight(const Node& node, const Emit& emit, const Value& w, std::string_view attribute) {
  const std::string text = node.attr<std::string>(attribute, "");
  return parse_quantizer(text) ? keras_node(emit, "qkeras", "WeightQuantizer", {w}, {{"quantizer", text}}) : w;
}

Value activated(const Node& node, const Emit& emit, const Value& y, const std::string& text) {
  const std::optional<Quantizer> q = parse_quantizer(text);
  if (!q) return y;
  if (is_qkeras(*q)) return keras_node(emit, "qkeras", "Quantizer", {y}, {{"quantizer", text}});
  return keras_node(
      emit, "", "Activation", {y},
      {{"activation", text}, {"operand_count", 1}, {"keras_version", node.attr<std::int64_t>("keras_version", 2)}});
}

// The layer's configuration for the plain layer: without quantizers and activation.
Attributes plain_attributes(const Node& node) {
  Attributes attributes = attributes_of(node);
  std::erase_if(attributes,
                [](const Attribute& a) { return a.name().ends_with("_quantizer") || a.name() == "activation"; });
  return attributes;
}

namespace {

/// quantizers: attributes, one for each weight in order; the bias' is the last, and left out where there is no bias.
struct Row {
  std::string_view op, plain;
  std::vector<std::string_view> quantizers;
};

const Row kRows[] = {
    {"QDense", "Dense", {"kernel_quantizer", "bias_quantizer"}},
    {"QConv1D", "Conv1D", {"kernel_quantizer", "bias_quantizer"}},
    {"QConv2D", "Conv2D", {"kernel_quantizer", "bias_quantizer"}},
    {"QConv2DTranspose", "Conv2DTranspose", {"kernel_quantizer", "bias_quantizer"}},
    {"QDepthwiseConv2D", "DepthwiseConv2D", {"depthwise_quantizer", "bias_quantizer"}},
    {"QSeparableConv1D", "SeparableConv1D", {"depthwise_quantizer", "pointwise_quantizer", "bias_quantizer"}},
    {"QSeparableConv2D", "SeparableConv2D", {"depthwise_quantizer", "pointwise_quantizer", "bias_quantizer"}},
};

Value rewritten(const Node& node, const Emit& emit, const Row& row) {
  const std::size_t n = operand_count(node);
  decline_if(node.has_attr("mask"), "a masked kernel");
  std::vector<Value> inputs{node.in(0)};
  decline_if(node.in_count() < n + row.quantizers.size() - 1, "its weights are missing");
  for (std::size_t i = 0; i < row.quantizers.size() && n + i < node.in_count(); ++i)
    inputs.push_back(quantized_weight(node, emit, node.in(n + i), row.quantizers[i]));
  const Value y = keras_node(emit, "", row.plain, inputs, plain_attributes(node));
  return activated(node, emit, y, node.attr<std::string>("activation", ""));
}

Results layer(const Node& node, const Emit& emit, const Row& row) {
  return or_refused(node, emit, [&] { return rewritten(node, emit, row); });
}
GANTRY_TABLE(qkeras, kRows, layer, to(qkeras))

GANTRY_CONVERT(qkeras, "Refused", to(onnx)) {
  decline(node.attr<std::string>("reason"));
  return Value();
}

GANTRY_CONVERT(qkeras, "QActivation", to(qkeras)) {
  return or_refused(node, emit, [&] {
    return activated(node, emit, node.in(operand_count(node) - 1), node.attr<std::string>("activation", ""));
  });
}

GANTRY_CONVERT(qkeras, "Quantizer", to(onnx)) {
  const auto q = quantizer_in(node, "quantizer");
  return q ? emit_activation(emit, node.in(0), *q) : node.in(0);
}

GANTRY_CONVERT(qkeras, "WeightQuantizer", to(onnx)) {
  const auto q = quantizer_in(node, "quantizer");
  return q ? emit_weight(emit, node.in(0), *q) : node.in(0);
}

}  // namespace
}  // namespace gantry::quant
