// DeformConv: each tap of the kernel reads the image at a place moved by an offset, zero outside; the products with the
// weights are one matrix multiplication. Operator: ONNX operator specification, DeformConv.
#include "sampling.hpp"
#include "window.hpp"

namespace core_ops {
namespace {

std::int64_t count_of(const Dims& dims) {
  std::int64_t n = 1;
  for (std::int64_t d : dims) n *= d;
  return n;
}

/// Where tap k of window o would read along axis `a` without an offset, for all k and o: [1, taps * windows].
Value plain_places(const Emit& emit, const Window& w, const Dims& out, std::size_t a) {
  std::vector<float> places;
  const std::int64_t taps = count_of(w.kernel), windows = count_of(out);
  std::int64_t tap_stride = 1, window_stride = 1;
  for (std::size_t i = a + 1; i < out.size(); ++i) tap_stride *= w.kernel[i], window_stride *= out[i];
  for (std::int64_t k = 0; k < taps; ++k)
    for (std::int64_t o = 0; o < windows; ++o)
      places.push_back(static_cast<float>(o / window_stride % out[a] * w.strides[a] - w.begin[a] +
                                          k / tap_stride % w.kernel[a] * w.dilations[a]));
  return emit.constant<float>({1, taps * windows}, places);
}

/// Columns [rows, channels * taps] times weights [o, channels / group, taps].
Value multiplied(const Emit& emit, const Value& columns, const Value& weights, std::int64_t group) {
  const std::int64_t rows = columns.dim(0), width = columns.dim(1) / group, o = weights.dim(0);
  if (group == 1) {
    const Value bias = emit.numbers(DType::float32, {o}, std::vector<double>(static_cast<std::size_t>(o), 0));
    return emit.op("FULLY_CONNECTED", {columns, emit.reshape(weights, {o, width}), bias},
                   {{"keep_num_dims", false}, no_activation()});
  }
  const Value parts = emit.transpose(emit.reshape(columns, {rows, group, width}), {1, 0, 2});
  const Value y = emit.op("BATCH_MATMUL", {parts, emit.reshape(weights, {group, o / group, width})},
                          {{"adj_x", false}, {"adj_y", true}});
  return emit.reshape(emit.transpose(y, {1, 0, 2}), {rows, o});
}

}  // namespace

GANTRY_CONVERT(onnx, "DeformConv", since(19), to(tflite)) {
  const Value x = as_float32(emit, node.in(0)), weights = as_float32(emit, node.in(1)),
              offset = as_float32(emit, node.in(2));
  const DType t = node.in(0).dtype();
  decline_if(t != DType::float32 && t != DType::float16, "DeformConv of ", name_of(t));
  const Dims dims = x.static_dims(), filter = weights.static_dims(), moved = offset.static_dims();
  const int rank = x.rank();
  decline_if(rank < 3 || filter.size() != dims.size() || moved.size() != dims.size(), "ranks do not fit: ", text(dims),
             ", ", text(filter), ", ", text(moved));
  const Window w = read_window(node, Dims(filter.begin() + 2, filter.end()), Dims(dims.begin() + 2, dims.end()));
  const Dims out(moved.begin() + 2, moved.end());
  const auto axes = static_cast<std::int64_t>(w.axes());
  const auto group = node.attr<std::int64_t>("group", 1), groups = node.attr<std::int64_t>("offset_group", 1);
  const std::int64_t n = dims[0], taps = count_of(w.kernel), windows = count_of(out), points = taps * windows;
  decline_if(group < 1 || groups < 1 || dims[1] % group || dims[1] % groups || filter[0] % group ||
                 filter[1] != dims[1] / group || moved[1] != groups * taps * axes,
             "groups ", group, " and ", groups, " do not fit ", text(dims), ", ", text(filter), ", ", text(moved));
  const Image image = image_of(emit, x, groups);
  const auto by_axis = emit.ops("UNPACK", w.axes(), {emit.reshape(offset, {n * groups * taps, axes, windows})},
                                {{"num", axes}, {"axis", 1}});
  std::vector<Taps> read;
  for (std::size_t a = 0; a < w.axes(); ++a) {
    const Value at = emit.add(emit.reshape(by_axis[a], {n * groups, points}), plain_places(emit, w, out, a));
    read.push_back(taps_of(emit, image, a, at, {}));
  }
  Value values = interpolate(emit, image, read, emit.reshape(batch_places(emit, image), {-1, 1}));
  if (node.in(4)) values = emit.mul(values, emit.reshape(as_float32(emit, node.in(4)), {n * groups, points, 1}));
  const std::int64_t each = dims[1] / groups;
  const Value columns =
      emit.reshape(emit.transpose(emit.reshape(values, {n, groups, taps, windows, each}), {0, 3, 1, 4, 2}),
                   {n * windows, dims[1] * taps});
  Value y = multiplied(emit, columns, weights, group);
  if (node.in(3)) y = emit.add(y, as_float32(emit, node.in(3)));
  Dims shape{n};
  shape.insert(shape.end(), out.begin(), out.end());
  shape.push_back(filter[0]);
  return emit.transpose(emit.cast(emit.reshape(y, shape), t), to_channels_first(rank));
}

}  // namespace core_ops
