// CropAndResize: boxes of images, read at the corners and evenly between them.
#include "sizes.hpp"

namespace transformer {
namespace {

/// Places of `n` samples from `first` to `last` of each box, both [boxes, 1] and of a side of 1: [boxes, n].
Value samples(const Emit& emit, const Value& first, const Value& last, std::int64_t n) {
  if (n == 1) return emit.mul(emit.add(first, last), 0.5);
  std::vector<float> part;
  for (std::int64_t i = 0; i < n; ++i) part.push_back(static_cast<float>(i) / static_cast<float>(n - 1));
  return emit.add(first, emit.mul(emit.sub(last, first), emit.constant<float>({1, n}, part)));
}

/// Places that are inside the image, as 0 or 1.
Value inside(const Emit& emit, const Value& at) {
  const Value low = emit.op("GreaterOrEqual", {at, emit.scalar(DType::float32, 0)}),
              high = emit.op("LessOrEqual", {at, emit.scalar(DType::float32, 1)});
  return emit.op("And", {low, high});
}

/// The nearest of `size` pixels, halves up; -1 for places outside.
Value rounded(const Emit& emit, const Value& at, std::int64_t size) {
  const Value place = emit.op("Floor", {emit.add(emit.mul(at, static_cast<double>(size - 1)), 0.5)});
  return emit.op("Where", {inside(emit, at), place, emit.scalar(DType::float32, -1)});
}

/// Of images [n, c, height, width] the pixels nearest to rows [n, h, 1] and columns [n, 1, w], halves up: products with
/// matrices that have a 1 where the pixel is.
Value nearest(const Emit& emit, const Value& images, const Value& rows, const Value& columns) {
  const std::int64_t height = images.dim(2), width = images.dim(3);
  decline_if(height < 1 || width < 1, "the size of the images is not known");
  const auto chosen = [&](const Value& places, const Value& all) {
    return unsqueeze(emit, emit.cast(emit.op("Equal", {places, all}), DType::float32), {1});
  };
  const Value every_row = emit.cast(counting(emit, height), DType::float32);
  const Value every_column = unsqueeze(emit, emit.cast(counting(emit, width), DType::float32), {1});
  const Value left = chosen(rounded(emit, rows, height), every_row),
              right = chosen(rounded(emit, columns, width), every_column);
  return emit.op("MatMul", {emit.op("MatMul", {left, images}), right});
}

}  // namespace

/// X, boxes [n, (y1, x1, y2, x2)] of an image of size 1, image of each box, size of a crop
GANTRY_UPGRADE(kMicrosoft, "CropAndResize", since(1)) {
  const auto mode = node.attr("mode", "bilinear");
  decline_if(mode != "bilinear" && mode != "nearest", "mode = ", mode);
  const Dims size = node.in(3).read<std::int64_t>();
  constexpr std::int64_t kMost = 1 << 16;
  decline_if(size.size() != 2 || size[0] < 1 || size[1] < 1 || size[0] > kMost || size[1] > kMost,
             "crop_size = ", text(size));
  const auto corner = split(emit, node.in(1), 1, {1, 1, 1, 1});
  const Value y = samples(emit, corner[0], corner[2], size[0]), x = samples(emit, corner[1], corner[3], size[1]);
  const Value rows = unsqueeze(emit, y, {2}), columns = unsqueeze(emit, x, {1});  // [n, h, 1] and [n, 1, w]
  const Value images = emit.op("Gather", {node.in(0), node.in(2)}, {{"axis", 0}});
  Value crops;
  if (mode == "nearest") {
    crops = nearest(emit, images, rows, columns);
  } else {
    const auto grid = [&](const Value& v, const Value& other) {  // -1 to 1, as large as both
      return unsqueeze(emit, emit.add(emit.sub(emit.mul(v, 2), 1), emit.mul(other, 0)), {3});
    };
    const Value places = concat(emit, {grid(columns, rows), grid(rows, columns)}, 3);
    crops =
        emit.op("GridSample", {images, places}, {{"mode", "linear"}, {"padding_mode", "border"}, {"align_corners", 1}});
  }
  const Value seen = unsqueeze(emit, emit.op("And", {inside(emit, rows), inside(emit, columns)}), {1});
  return emit.op(
      "Where", {seen, crops, emit.scalar(DType::float32, static_cast<double>(node.attr("extrapolation_value", 0.0f)))});
}

}  // namespace transformer
