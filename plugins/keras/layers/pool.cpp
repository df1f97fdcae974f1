// Pools, whole and global; zero padding, cropping, upsampling.
#include <algorithm>
#include <numeric>

#include "window.hpp"

namespace gantry::keras {
namespace {

std::size_t axes_of(const Value& x) {
  decline_if(x.rank() < 3 || x.rank() > 5, "an image layer over a tensor of rank ", x.rank());
  return static_cast<std::size_t>(x.rank()) - 2;
}

// Padding is not part of the mean.
Results pool(const Node& node, const Emit& emit, const WindowLayer& row) {
  const Value x = channels_second(node, emit, float_operand(node, emit));
  const std::size_t axes = axes_of(x);
  const Dims size = integers(node, "pool_size", axes, 2);
  Window w = window_of(node, axes, size);
  if (!node.has_attr("strides")) w.strides = size;
  const bool mean = row.op.starts_with("Average");
  Attributes attributes{{"kernel_shape", w.kernel}, {"strides", w.strides}, {"pads", w.pads(x)}};
  if (mean) attributes.emplace_back("count_include_pad", 0);
  return as_layer(node, emit, emit.op(mean ? "AveragePool" : "MaxPool", {x}, attributes));
}

Results global_pool(const Node& node, const Emit& emit, const WindowLayer& row) {
  const Value x = channels_second(node, emit, float_operand(node, emit));
  (void)axes_of(x);
  const Value y = emit.op(row.op.starts_with("GlobalAverage") ? "GlobalAveragePool" : "GlobalMaxPool", {x});
  if (integer(node, "keepdims", 0) != 0) return as_layer(node, emit, y);
  return reshape_rows(emit, y, {x.dim(1)});
}

constexpr WindowLayer kPools[] = {{"MaxPooling1D"},     {"MaxPooling2D"},     {"MaxPooling3D"},
                                  {"AveragePooling1D"}, {"AveragePooling2D"}, {"AveragePooling3D"}};
constexpr WindowLayer kGlobal[] = {{"GlobalAveragePooling1D"}, {"GlobalAveragePooling2D"}, {"GlobalAveragePooling3D"},
                                   {"GlobalMaxPooling1D"},     {"GlobalMaxPooling2D"},     {"GlobalMaxPooling3D"}};

// [before, after] of each image axis, however short it is written.
Dims both_sides(const Node& node, std::string_view name, std::size_t axes) {
  const Dims d = node.attribute_kind(name) == GANTRY_ATTR_INTS ? node.attr<Dims>(name) : Dims{integer(node, name, 1)};
  if (d.size() == 2 * axes && (axes > 1 || d.size() == 2)) return d;
  decline_if(d.size() != 1 && d.size() != axes, "'", name, "' has ", d.size(), " numbers");
  Dims out;
  for (std::size_t i = 0; i < axes; ++i) out.insert(out.end(), 2, d.size() == 1 ? d[0] : d[i]);
  return out;
}

Results zero_padding(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = operands(node, 1, 1)[0];
  const std::size_t axes = axes_of(x), first = channels_first(node) ? 2 : 1, rank = axes + 2;
  const Dims sides = both_sides(node, "padding", axes);
  Dims pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    pads[first + i] = sides[2 * i];
    pads[rank + first + i] = sides[2 * i + 1];
  }
  return emit.op("Pad", {x, emit.i64(pads), emit.scalar(x.dtype(), 0)}, {{"mode", "constant"}});
}

Results cropping(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = operands(node, 1, 1)[0];
  const std::size_t axes = axes_of(x), first = channels_first(node) ? 2 : 1;
  const Dims sides = both_sides(node, "cropping", axes);
  Dims starts, ends, which;
  for (std::size_t i = 0; i < axes; ++i) {
    if (sides[2 * i] == 0 && sides[2 * i + 1] == 0) continue;
    starts.push_back(sides[2 * i]);
    ends.push_back(sides[2 * i + 1] == 0 ? INT64_MAX : -sides[2 * i + 1]);
    which.push_back(static_cast<std::int64_t>(first + i));
  }
  if (which.empty()) return x;
  return emit.op("Slice", {x, emit.i64(starts), emit.i64(ends), emit.i64(which)});
}

// nearest: each element several times. bilinear: of pixels whose centers are at halves.
Results up_sampling(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = channels_second(node, emit, float_operand(node, emit));
  const std::size_t axes = axes_of(x);
  const Dims size = integers(node, "size", axes, 2);
  const std::string mode = node.attr<std::string>("interpolation", "nearest");
  decline_if(mode != "nearest" && mode != "bilinear", "interpolation '", mode, "' is not exact in ONNX");
  std::vector<float> scales{1, 1};
  for (const std::int64_t s : size) scales.push_back(static_cast<float>(s));
  Attributes attributes{{"mode", mode == "nearest" ? "nearest" : "linear"},
                        {"coordinate_transformation_mode", mode == "nearest" ? "asymmetric" : "half_pixel"}};
  if (mode == "nearest") attributes.emplace_back("nearest_mode", "floor");
  const Value y = emit.op("Resize", {x, Value(), emit.constant(Dims{static_cast<std::int64_t>(scales.size())}, scales)},
                          attributes);
  return as_layer(node, emit, y);
}

constexpr WindowLayer kZero[] = {{"ZeroPadding1D"}, {"ZeroPadding2D"}, {"ZeroPadding3D"}};
constexpr WindowLayer kCrop[] = {{"Cropping1D"}, {"Cropping2D"}, {"Cropping3D"}};
constexpr WindowLayer kUp[] = {{"UpSampling1D"}, {"UpSampling2D"}, {"UpSampling3D"}};

}  // namespace
}  // namespace gantry::keras

using namespace gantry::keras;
GANTRY_TABLE(keras, kPools, pool, to(onnx))
GANTRY_TABLE(keras, kGlobal, global_pool, to(onnx))
GANTRY_TABLE(keras, kZero, zero_padding, to(onnx))
GANTRY_TABLE(keras, kCrop, cropping, to(onnx))
GANTRY_TABLE(keras, kUp, up_sampling, to(onnx))
