// AffineGrid: the coordinates of every place of an image, -1 to 1 along each axis, under one affine map a sample:
//
//     grid[n, place..., r] = sum_k theta[n, r, k] * coordinate_k(place) + theta[n, r, last]
//
// where coordinate 0 runs along the last axis (x), 1 along the one before (y), 2 along depth. Operator: ONNX operator
// specification, AffineGrid.
#include "runtime.hpp"

namespace core_ops {
namespace {

/// Coordinates along an axis of n places: of their middles, or with align_corners from edge to edge.
Value coordinates(const Emit& emit, const Extent& n, bool corners) {
  const Value i = emit.cast(counting(emit, n), DType::float32);
  const Value count = emit.cast(n.scalar(emit), DType::float32);
  if (corners) return emit.sub(emit.div(emit.mul(i, 2), emit.maximum(emit.sub(count, 1), 1)), 1);
  return emit.sub(emit.div(emit.add(emit.mul(i, 2), 1), count), 1);
}

}  // namespace

GANTRY_CONVERT(onnx, "AffineGrid", since(20), to(tflite)) {
  const Value theta = node.in(0), size = int_vector(emit, node.in(1));
  const std::int64_t axes = length_of(size) - 2;
  decline_if(axes != 2 && axes != 3, "AffineGrid of ", axes, " spatial axes");
  decline_if(theta.rank() != 3 || theta.dtype() != DType::float32, "theta of rank ", theta.rank(), " and ",
             name_of(theta.dtype()));
  const bool corners = node.attr("align_corners", 0) != 0;
  Dims column_shape(static_cast<std::size_t>(axes) + 2, 1);
  column_shape.front() = -1;
  column_shape.back() = axes;
  const auto column = [&](std::int64_t k) {
    return emit.reshape(emit.op("SLICE", {theta, emit.i32({0, 0, k}), emit.i32({-1, -1, 1})}), column_shape);
  };
  Value grid = column(axes);
  for (std::int64_t k = 0; k < axes; ++k) {
    const std::int64_t axis = axes - k;  // of the result: x is the last spatial one
    Dims along(column_shape.size(), 1);
    along[static_cast<std::size_t>(axis)] = -1;
    const Value x = emit.reshape(coordinates(emit, element(emit, size, axis + 1), corners), along);
    grid = emit.add(grid, emit.mul(x, column(k)));
  }
  return grid;
}

}  // namespace core_ops
