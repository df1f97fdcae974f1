// Windows of convolutions and pools.
#pragma once

#include "common.hpp"

namespace gantry::keras {

struct WindowLayer {
  std::string_view op;
};

enum class Padding : std::uint8_t { valid, same, causal };

struct Window {
  Dims kernel, strides, dilations;
  Padding padding = Padding::valid;

  /// All begins, then all ends, for an operand with the channels second. SAME is that of TensorFlow: the result has
  /// ceil(n / stride) elements, and the odd one of the padding is at the end. Declines where that needs a size that is
  /// not known.
  Dims pads(const Value& x) const;
};

/// Of a node with strides, dilation_rate and padding.
Window window_of(const Node& node, std::size_t axes, const Dims& kernel);
Padding padding_of(const Node& node);

}  // namespace gantry::keras
