// The family of Gelu, and what is fused with it.
#include "activation.hpp"

namespace transformer {

Value gelu(const Emit& emit, const Value& x, bool tanh) {
  return emit.op("Gelu", {x}, {{"approximate", tanh ? "tanh" : "none"}});
}

Value silu(const Emit& emit, const Value& x, float alpha) {
  return emit.mul(x, emit.op("Sigmoid", {alpha == 1 ? x : emit.mul(x, alpha)}));
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
