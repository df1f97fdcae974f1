#include "window.hpp"

#include <algorithm>

namespace gantry::keras {

Padding padding_of(const Node& node) {
  const std::string p = node.attr<std::string>("padding", "valid");
  if (p == "valid") return Padding::valid;
  if (p == "same") return Padding::same;
  if (p == "causal") return Padding::causal;
  decline("the padding '", p, "' is not known");
}

Window window_of(const Node& node, std::size_t axes, const Dims& kernel) {
  Window w{kernel, integers(node, "strides", axes, 1), integers(node, "dilation_rate", axes, 1), padding_of(node)};
  for (std::size_t i = 0; i < axes; ++i)
    decline_if(w.kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1, "a window, stride or dilation below 1");
  return w;
}

Dims Window::pads(const Value& x) const {
  const std::size_t axes = kernel.size();
  Dims begin(axes, 0), end(axes, 0);
  for (std::size_t i = 0; i < axes && padding != Padding::valid; ++i) {
    const std::int64_t span = (kernel[i] - 1) * dilations[i] + 1;
    if (padding == Padding::causal) {
      begin[i] = span - 1;
      continue;
    }
    const std::int64_t n = x.dim(static_cast<int>(i) + 2);
    decline_if(n < 0 && strides[i] > 1, "padding 'same' with stride ", strides[i], " over an axis of unknown size");
    const std::int64_t steps = strides[i] > 1 ? (n + strides[i] - 1) / strides[i] : 0;
    const std::int64_t total =
        strides[i] > 1 ? std::max<std::int64_t>((steps - 1) * strides[i] + span - n, 0) : span - 1;
    begin[i] = total / 2;
    end[i] = total - begin[i];
  }
  begin.insert(begin.end(), end.begin(), end.end());
  return begin;
}

}  // namespace gantry::keras
