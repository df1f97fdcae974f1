// Taps of a convolution that only ever read padding, as with a dilation as large as the image: the kernel without them.
#include "common.hpp"

namespace core_ops {
namespace {

struct Axis {
  std::int64_t in, out, taps, stride, dilation, begin, end;

  bool reads_data(std::int64_t tap) const {
    const std::int64_t from = tap * dilation - begin;                          // what it reads for the first result
    const std::int64_t first = from >= 0 ? 0 : (-from + stride - 1) / stride;  // result for which that is in the image
    return first < out && first * stride + from < in;
  }
  /// Taps at the ends that go, as long as the padding covers them; one stays.
  std::pair<std::int64_t, std::int64_t> idle() const {
    std::int64_t first = 0, last = 0;
    while (first + 1 < taps && (first + 1) * dilation <= begin && !reads_data(first)) ++first;
    while (first + last + 1 < taps && (last + 1) * dilation <= end && !reads_data(taps - 1 - last)) ++last;
    return {first, last};
  }
};

}  // namespace

GANTRY_PATTERN("idle_taps", onnx, "Conv") {
  const Value x = node.in(0), w = node.in(1);
  if (!w || !w.constant() || !x.is_static() || !node.out().is_static() || x.rank() != w.rank() || x.rank() < 3)
    return false;
  if (node.attr("auto_pad", "NOTSET") != "NOTSET") return false;
  const auto n = static_cast<std::size_t>(x.rank() - 2);
  const Dims strides = node.attr("strides", Dims(n, 1)), dilations = node.attr("dilations", Dims(n, 1));
  Dims pads = node.attr("pads", Dims(2 * n, 0)), kernel(n);
  if (strides.size() != n || dilations.size() != n || pads.size() != 2 * n) return false;
  Dims starts(n + 2, 0), steps(n + 2, 1), sizes = w.dims();
  bool any = false;
  for (std::size_t i = 0; i < n; ++i) {
    const int axis = static_cast<int>(i) + 2;
    const Axis a{x.dim(axis), node.out().dim(axis), w.dim(axis), strides[i], dilations[i], pads[i], pads[n + i]};
    constexpr std::int64_t kMost = 1 << 30;
    for (std::int64_t v : {a.stride, a.dilation, a.begin, a.end})
      if (v < 0 || v > kMost) return false;
    if (a.stride < 1) return false;
    const auto [first, last] = a.idle();
    starts[i + 2] = first;
    kernel[i] = sizes[i + 2] -= first + last;
    pads[i] -= first * dilations[i];
    pads[n + i] -= last * dilations[i];
    any = any || first + last > 0;
  }
  if (!any) return false;
  Attributes attributes = attributes_of(node);
  set_attribute(attributes, "pads", pads);
  set_attribute(attributes, "kernel_shape", kernel);
  std::vector<Value> inputs = node.ins();
  inputs[1] = emit.slice_constant(w, starts, steps, sizes);
  emit.replace(node.out(), emit.op("Conv", inputs, attributes));
  return true;
}

}  // namespace core_ops
