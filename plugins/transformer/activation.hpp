// Activations that several families fuse.
#pragma once

#include "common.hpp"

namespace transformer {

/// x * Phi(x), exact or by tanh.
Value gelu(const Emit& emit, const Value& x, bool tanh);
/// x * sigmoid(alpha * x)
Value silu(const Emit& emit, const Value& x, float alpha = 1);

}  // namespace transformer
