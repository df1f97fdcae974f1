// Sliding windows as ONNX describes them (Conv, ConvTranspose, pools): kernel, strides, dilations, padding.
#pragma once

#include "runtime.hpp"

namespace core_ops {

/// One entry for each spatial axis.
struct Window {
  Dims kernel, strides, dilations, begin, end;  // begin, end: padding in elements
  bool ceil_mode = false;
  /// auto_pad = SAME_UPPER on axes whose size is not known: TFLite's SAME has the same meaning there.
  bool same_upper = false;

  /// Padding that depends on sizes which are not known: SAME_LOWER, and what ceil_mode adds. See pad_open.
  bool same_lower = false, open_ceil = false;
  bool open() const { return same_lower || open_ceil; }

  std::size_t axes() const { return kernel.size(); }
  /// Extent of the dilated kernel.
  std::int64_t extent(std::size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  bool dilated() const {
    for (std::int64_t d : dilations)
      if (d != 1) return true;
    return false;
  }
  bool padded() const {
    for (std::size_t i = 0; i < axes(); ++i)
      if (begin[i] || end[i]) return true;
    return false;
  }
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode of `node`; `spatial` are the input's sizes (-1 = unknown),
/// `kernel` the window. With auto_pad the padding is worked out; with ceil_mode `end` grows so that plain windows cover
/// what ceil_mode covers (a window that would start in the far padding is dropped).
Window read_window(const Node& node, const Dims& kernel, const Dims& spatial);

/// Number of windows along axis i of size n once padded by begin and end.
inline std::int64_t window_count(const Window& w, std::size_t i, std::int64_t n) {
  return (n + w.begin[i] + w.end[i] - w.extent(i)) / w.strides[i] + 1;
}

/// Whether TFLite's SAME places the same windows on axes of these sizes (-1 = unknown: true only if it holds for all).
bool is_same_padding(const Window& w, const Dims& spatial);

/// Padding for each spatial axis as the run time finds it; `extra` is what ceil_mode adds behind `end`.
struct OpenPadding {
  Extents begin, end, extra;
};
/// Of any window and any channels-last value [n, spatial..., c].
OpenPadding open_padding(const Emit& emit, const Value& x, const Window& w);
/// A channels-last value padded by `begin` and `end` + `extra`.
Value pad_open(const Emit& emit, const Value& x, const OpenPadding& p, double fill);

/// Reduces every window of a channels-first value [n, c, spatial...], axis by axis, by SUM, MEAN or REDUCE_MAX: any
/// dilation, any number of axes, any type of the reduction. Outside is `fill`.
Value reduce_windows(const Emit& emit, std::string_view op, const Value& x, const Window& w, double fill);
/// The same for one axis of any value, without padding: windows of `kernel` elements, `dilation` apart.
Value reduce_axis(const Emit& emit, std::string_view op, const Value& x, int axis, std::int64_t kernel,
                  std::int64_t stride, std::int64_t dilation);

/// A channels-last value [n, spatial..., c] padded by begin and end with `fill`.
Value pad_spatial(const Emit& emit, const Value& x, const Dims& begin, const Dims& end, double fill);

}  // namespace core_ops
