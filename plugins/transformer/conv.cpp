// Convolutions with what is fused to them, and those whose operands are channels-last.
#include "activation.hpp"
#include "sizes.hpp"

namespace transformer {
namespace {

/// act(Conv(X, W, B) + Z); X, Z and the result may be channels-last, W never is.
Results conv(const Node& node, const Emit& emit, bool last) {
  Attributes attributes = attributes_of(node);
  std::erase_if(attributes, [](const Attribute& a) { return a.name().starts_with("activation"); });
  std::vector<Value> operands = node.ins();
  operands.resize(std::min<std::size_t>(3, operands.size()));
  if (!operands.back()) operands.pop_back();
  const int rank = operands[0].rank();
  decline_if(rank < 3, "an operand of rank ", rank);
  if (last) operands[0] = emit.transpose(operands[0], channels_first(rank));
  Value y = emit.op("Conv", operands, attributes);
  if (last) y = emit.transpose(y, channels_last(rank));
  if (node.in(3)) y = emit.add(y, node.in(3));
  return activated(emit, y, node.attr("activation", ""), node.attr("activation_params", std::vector<float>{}));
}

}  // namespace

GANTRY_UPGRADE(kMicrosoft, "FusedConv", since(1)) { return conv(node, emit, false); }
GANTRY_UPGRADE(kMicrosoft, "NhwcConv", since(1)) { return conv(node, emit, true); }
GANTRY_UPGRADE(kMicrosoft, "NhwcFusedConv", since(1)) { return conv(node, emit, true); }

GANTRY_UPGRADE(kMicrosoft, "NhwcMaxPool", since(1)) {
  const int rank = node.in(0).rank();
  const Value x = emit.transpose(node.in(0), channels_first(rank));
  return emit.transpose(emit.op("MaxPool", {x}, attributes_of(node)), channels_last(rank));
}

/// X, W, Pads, B: ConvTranspose with its pads as an operand, which must be a constant.
GANTRY_UPGRADE(kMicrosoft, "ConvTransposeWithDynamicPads", since(1)) {
  Attributes attributes = attributes_of(node);
  if (node.in(2)) set_attribute(attributes, "pads", node.in(2).read<std::int64_t>());
  std::vector<Value> operands{node.in(0), node.in(1)};
  if (node.in(3)) operands.push_back(node.in(3));
  return emit.op("ConvTranspose", operands, attributes);
}

}  // namespace transformer
