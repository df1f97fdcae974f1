// Col2Im: blocks put back into an image, what overlaps added up by one SCATTER_ND. Where both shapes are known the
// places are a constant; otherwise the graph computes them. Operator: ONNX operator specification, Col2Im.
#include <algorithm>

#include "runtime.hpp"

namespace core_ops {
namespace {

struct Blocks {
  Extents image, block, count;  // count: windows an axis
  Dims dilations, pads, strides;
  std::size_t axes() const { return image.size(); }
  bool known() const {
    const auto all = [](const Extents& sizes) {
      return std::all_of(sizes.begin(), sizes.end(), [](const Extent& e) { return e.is_known(); });
    };
    return all(image) && all(block);
  }
};

Blocks read_blocks(const Node& node, const Emit& emit) {
  Blocks b;
  const std::int64_t length = length_of(node.in(1));
  const auto n = static_cast<std::size_t>(length);
  b.dilations = node.attr("dilations", Dims(n, 1));
  b.pads = node.attr("pads", Dims(2 * n, 0));
  b.strides = node.attr("strides", Dims(n, 1));
  decline_if(n < 1 || length_of(node.in(2)) != length || b.dilations.size() != n || b.pads.size() != 2 * n ||
                 b.strides.size() != n,
             "image_shape, block_shape and the attributes name different numbers of axes");
  const Value image = int_vector(emit, node.in(1)), block = int_vector(emit, node.in(2));
  for (std::size_t i = 0; i < n; ++i) {
    b.image.push_back(element(emit, image, static_cast<std::int64_t>(i)));
    b.block.push_back(element(emit, block, static_cast<std::int64_t>(i)));
    const Extent reach = plus(emit, times(emit, less_by(emit, b.block[i], 1), b.dilations[i]), 1);
    const Extent padded = plus(emit, b.image[i], b.pads[i] + b.pads[n + i]);
    b.count.push_back(plus(emit, over(emit, less_by(emit, padded, reach), b.strides[i]), 1));
  }
  return b;
}

/// Flat place in the image of element k of the block in window l; `outside` in the padding.
std::int64_t place(const Blocks& b, std::int64_t k, std::int64_t l, std::int64_t outside) {
  std::int64_t at = 0, stride = 1;
  for (std::size_t i = b.axes(); i-- > 0;) {
    const std::int64_t block = b.block[i].known, count = b.count[i].known, image = b.image[i].known;
    const std::int64_t p = l % count * b.strides[i] + k % block * b.dilations[i] - b.pads[i];
    if (p < 0 || p >= image) return outside;
    at += p * stride;
    stride *= image;
    k /= block;
    l /= count;
  }
  return at;
}

/// The same for all elements and windows, [elements, windows]: axis after axis, the inner ones varying fastest.
Value runtime_places(const Emit& emit, const Blocks& b, const Extent& outside) {
  Value places, inside;
  Extent elements = 1, windows = 1;
  for (std::size_t i = 0; i < b.axes(); ++i) {
    const Value k = emit.mul(emit.reshape(counting(emit, b.block[i]), {1, -1, 1, 1}), b.dilations[i]),
                l = emit.mul(emit.reshape(counting(emit, b.count[i]), {1, 1, 1, -1}), b.strides[i]);
    const Value at = emit.sub(emit.add(k, l), b.pads[i]);
    const Value size = b.image[i].scalar(emit);
    const Value cut = emit.minimum(emit.maximum(at, 0), emit.sub(size, 1));
    const Value in = emit.cast(emit.op("EQUAL", {at, cut}), DType::int32);
    const auto joined_with = [&](const Value& outer, bool multiply) {
      const Value o = reshape_to(emit, outer, {elements, 1, windows, 1});
      return multiply ? emit.mul(o, in) : emit.add(emit.mul(o, size), cut);
    };
    places = places ? joined_with(places, false) : cut;
    inside = inside ? joined_with(inside, true) : in;
    elements = times(emit, elements, b.block[i]);
    windows = times(emit, windows, b.count[i]);
  }
  // outside + inside * (place - outside)
  const Value end = outside.scalar(emit);
  return emit.add(emit.mul(inside, emit.sub(places, end)), end);
}

Value constant_places(const Emit& emit, const Blocks& b, std::int64_t elements, std::int64_t windows,
                      std::int64_t outside) {
  std::vector<std::int32_t> places;
  for (std::int64_t k = 0; k < elements; ++k)
    for (std::int64_t l = 0; l < windows; ++l) places.push_back(static_cast<std::int32_t>(place(b, k, l, outside)));
  return emit.constant<std::int32_t>({elements * windows, 1}, places);
}

Extent divided(const Emit& emit, const Extent& a, const Extent& b) {
  if (a.is_known() && b.is_known()) return a.known / b.known;
  return Extent(emit.op("FLOOR_DIV", {a.scalar(emit), b.scalar(emit)}));
}

}  // namespace

GANTRY_CONVERT(onnx, "Col2Im", since(18), to(tflite)) {
  const Value x = node.in(0);
  decline_if(x.rank() != 3, "columns of rank ", x.rank());
  decline_if(x.dtype() != DType::float32 && x.dtype() != DType::float16, "Col2Im of ", name_of(x.dtype()));
  const Blocks b = read_blocks(node, emit);
  const Extent elements = product(emit, b.block), windows = product(emit, b.count), pixels = product(emit, b.image);
  const Extent batch = extent_of(emit, x, 0), columns = extent_of(emit, x, 1);
  decline_if((elements.is_known() && columns.is_known() && columns.known % elements.known) ||
                 (windows.is_known() && x.dim(2) >= 0 && x.dim(2) != windows.known),
             "columns ", text(x.dims()), " do not fit ", elements.known, " elements of ", windows.known, " windows");
  const Extent channels = divided(emit, columns, elements), images = times(emit, batch, channels);
  const Extent points = times(emit, elements, windows);
  const Value places = b.known() ? constant_places(emit, b, elements.known, windows.known, pixels.known)
                                 : emit.reshape(runtime_places(emit, b, pixels), {-1, 1});
  const Value rows = emit.transpose(reshape_to(emit, emit.cast(x, DType::float32), {images, points}), {1, 0});
  const Extents all{plus(emit, pixels, 1), images};
  const Dims dims{all[0].is_known() ? all[0].known : -1, images.is_known() ? images.known : -1};
  const Value sums =
      emit.ops("SCATTER_ND", 1, {places, rows, vector_of(emit, all)}, {}, {Type{DType::float32, dims}})[0];
  const Value image = emit.op("SLICE", {sums, emit.i32({0, 0}), vector_of(emit, {pixels, images})});
  Extents shape{batch, channels};
  shape.insert(shape.end(), b.image.begin(), b.image.end());
  return emit.cast(reshape_to(emit, emit.transpose(image, {1, 0}), shape), x.dtype());
}

}  // namespace core_ops
