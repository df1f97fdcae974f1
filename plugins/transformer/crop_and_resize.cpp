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

}  // namespace

/// X, boxes [n, (y1, x1, y2, x2)] of an image of size 1, image of each box, size of a crop
GANTRY_UPGRADE(kMicrosoft, "CropAndResize", since(1)) {
  decline_if(node.attr("mode", "bilinear") != "bilinear", "mode = ", node.attr("mode", ""));
  const Dims size = node.in(3).read<std::int64_t>();
  decline_if(size.size() != 2 || size[0] < 1 || size[1] < 1, "crop_size = ", text(size));
  const auto corner = split(emit, node.in(1), 1, {1, 1, 1, 1});
  const Value y = samples(emit, corner[0], corner[2], size[0]), x = samples(emit, corner[1], corner[3], size[1]);
  const Value rows = unsqueeze(emit, y, {2}), columns = unsqueeze(emit, x, {1});  // [n, h, 1] and [n, 1, w]
  const auto grid = [&](const Value& v, const Value& other) {                     // -1 to 1, as large as both
    return unsqueeze(emit, emit.add(emit.sub(emit.mul(v, 2), 1), emit.mul(other, 0)), {3});
  };
  const Value places = concat(emit, {grid(columns, rows), grid(rows, columns)}, 3);
  const Value images = emit.op("Gather", {node.in(0), node.in(2)}, {{"axis", 0}});
  const Value crops =
      emit.op("GridSample", {images, places}, {{"mode", "linear"}, {"padding_mode", "border"}, {"align_corners", 1}});
  const Value seen = unsqueeze(emit, emit.op("And", {inside(emit, rows), inside(emit, columns)}), {1});
  return emit.op(
      "Where", {seen, crops, emit.scalar(DType::float32, static_cast<double>(node.attr("extrapolation_value", 0.0f)))});
}

}  // namespace transformer
