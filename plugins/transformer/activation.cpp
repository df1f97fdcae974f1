// The family of Gelu, and what is fused with it.
#include "activation.hpp"

namespace transformer {

Value gelu(const Emit& emit, const Value& x, bool tanh) {
  return emit.op("Gelu", {x}, {{"approximate", tanh ? "tanh" : "none"}});
}

Value silu(const Emit& emit, const Value& x, float alpha) {
  return emit.mul(x, emit.op("Sigmoid", {alpha == 1 ? x : emit.mul(x, alpha)}));
}

namespace {

struct Activation {
  std::string_view name;
  std::string_view first, second;  // what ONNX's operator calls its numbers
};
constexpr Activation kActivations[] = {
    {"Relu", "", ""},
    {"Sigmoid", "", ""},
    {"Tanh", "", ""},
    {"Softplus", "", ""},
    {"Softsign", "", ""},
    {"LeakyRelu", "alpha", ""},
    {"Elu", "alpha", ""},
    {"Celu", "alpha", ""},
    {"ThresholdedRelu", "alpha", ""},
    {"Selu", "alpha", "gamma"},
    {"HardSigmoid", "alpha", "beta"},
};

}  // namespace

Value activated(const Emit& emit, const Value& x, const std::string& name, const std::vector<float>& numbers) {
  if (name.empty()) return x;
  const auto number = [&](std::size_t i) { return emit.scalar(x.dtype(), static_cast<double>(numbers[i])); };
  if (name == "Clip") {
    std::vector<Value> operands{x};
    for (std::size_t i = 0; i < std::min<std::size_t>(2, numbers.size()); ++i) operands.push_back(number(i));
    return emit.op("Clip", operands);
  }
  for (const Activation& a : kActivations) {
    if (a.name != name) continue;
    Attributes attributes;
    if (!a.first.empty() && !numbers.empty()) attributes.emplace_back(a.first, numbers[0]);
    if (!a.second.empty() && numbers.size() > 1) attributes.emplace_back(a.second, numbers[1]);
    return emit.op(name, {x}, attributes);
  }
  decline("the fused activation '", name, "'");
}

Value activated(const Node& node, const Emit& emit, const Value& x) {
  const auto name = node.attr("activation", "");
  std::vector<float> numbers;
  for (const char* which : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (name == "Selu" && std::string_view(which) == "activation_beta") continue;
    if (!node.has_attr(which)) break;
    numbers.push_back(node.attr<float>(which));
  }
  return activated(emit, x, name, numbers);
}

GANTRY_UPGRADE(kMicrosoft, "Gelu", since(1)) { return gelu(emit, node.in(0), false); }

/// x * sigmoid(alpha * x)
GANTRY_UPGRADE(kMicrosoft, "QuickGelu", since(1)) { return silu(emit, node.in(0), node.attr("alpha", 1.702f)); }

GANTRY_UPGRADE(kMicrosoft, "BiasGelu", since(1)) { return gelu(emit, emit.add(node.in(0), node.in(1)), false); }

/// By tanh; the bias may be absent.
GANTRY_UPGRADE(kMicrosoft, "FastGelu", since(1)) {
  return gelu(emit, node.in(1) ? emit.add(node.in(0), node.in(1)) : node.in(0), true);
}

}  // namespace transformer
