// Activations that several families fuse.
#pragma once

#include "common.hpp"

namespace transformer {

/// x * Phi(x), exact or by tanh.
Value gelu(const Emit& emit, const Value& x, bool tanh);
/// x * sigmoid(alpha * x)
Value silu(const Emit& emit, const Value& x, float alpha = 1);
/// An activation that another operator fuses, by the name of ONNX's operator; "" is none. Its numbers (alpha and beta,
/// or the bounds of Clip) stand in their order and may be fewer, then the operator's defaults hold.
Value activated(const Emit& emit, const Value& x, const std::string& name, const std::vector<float>& numbers);
/// The same for operators whose attributes are `activation`, `activation_alpha`, `activation_beta`,
/// `activation_gamma`.
Value activated(const Node& node, const Emit& emit, const Value& x);

}  // namespace transformer
