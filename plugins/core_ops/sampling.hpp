// Images read at points between their elements: GridSample, DeformConv, RoiAlign. An image is rows of channels, and a
// point is a few taps an axis: a row's part of the place, and a weight. Cost is linear in taps x points x channels.
#pragma once

#include <string_view>
#include <vector>

#include "extent.hpp"

namespace core_ops {

/// [batch * sizes..., channels] and the sizes, outermost first.
struct Image {
  Value rows;
  Extent batch;
  Extents sizes;
};
/// From [n, c, spatial...], channels split into `groups` that become part of the batch.
Image image_of(const Emit& emit, const Value& x, std::int64_t groups = 1);

/// One element that a point reads along one axis. Places of all axes add up, weights multiply; no weight is 1.
struct Tap {
  Value place;   // int32, times the stride of the axis
  Value weight;  // float32
};
using Taps = std::vector<Tap>;

enum class Kernel { nearest, linear, cubic };
enum class Border { zeros, clamp, reflect };
struct Sampling {
  Kernel kernel = Kernel::linear;
  Border border = Border::zeros;
  bool align_corners = false;  // where reflection mirrors: at the outermost elements, or at their outer edge
};
/// Taps along axis `axis` of `image` at coordinates counted in elements.
Taps taps_of(const Emit& emit, const Image& image, std::size_t axis, const Value& coordinate, const Sampling& s);

/// Number of rows of an image in front of axis `axis`'s next element.
Extent stride_of(const Emit& emit, const Image& image, std::size_t axis);
/// The first row of each batch [n], for images of `batch`.
Value batch_places(const Emit& emit, const Image& image);

/// Every product of one tap an axis, weighted: [points..., channels] each. `first` is added to the places.
std::vector<Value> read_taps(const Emit& emit, const Image& image, const std::vector<Taps>& taps, const Value& first);
/// Their sum.
Value interpolate(const Emit& emit, const Image& image, const std::vector<Taps>& taps, const Value& first);

/// The size as a float32 operand of arithmetic.
Operand as_float(const Emit& emit, const Extent& n);
/// float16 is read and computed as float32.
inline Value as_float32(const Emit& emit, const Value& v) { return emit.cast(v, DType::float32); }

}  // namespace core_ops
