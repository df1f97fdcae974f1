// Conv of 1, 2 and 3 spatial axes: TRANSPOSE to channels-last, the kernel, TRANSPOSE back.
// Weights: ONNX [o, i / group, k...]; CONV_2D [o, kh, kw, i / group]; DEPTHWISE_CONV_2D [1, kh, kw, o];
// CONV_3D [kd, kh, kw, i, o]. Operator: ONNX operator specification, Conv.
#include "window.hpp"

namespace core_ops {
namespace {

struct Convolution {
  Value x, weights, bias;  // x channels-last; weights as ONNX has them; bias [o]
  std::int64_t group = 1;
  Window window;
};

Value zero_bias(const Emit& emit, std::int64_t channels, DType dtype) {
  return emit.numbers(dtype, {channels}, std::vector<double>(static_cast<std::size_t>(channels), 0.0));
}

/// x padded as far as the kernel cannot do it itself; `padding` becomes the kernel's own.
Value padded_input(const Emit& emit, const Convolution& c, std::string& padding) {
  const Dims dims = c.x.dims();
  const Dims spatial(dims.begin() + 1, dims.end() - 1);
  padding = "VALID";
  if (!c.window.padded() && !c.window.same_upper) return c.x;
  if (is_same_padding(c.window, spatial)) {
    padding = "SAME";
    return c.x;
  }
  if (c.window.same_upper) return pad_open(emit, c.x, open_padding(emit, c.x, c.window), 0);
  return pad_spatial(emit, c.x, c.window.begin, c.window.end, 0);
}

Value conv2d(const Emit& emit, const Convolution& c) {
  std::string padding;
  const Value x = padded_input(emit, c, padding);
  Attributes attributes{{"padding", padding},
                        {"stride_h", c.window.strides[0]},
                        {"stride_w", c.window.strides[1]},
                        {"dilation_h_factor", c.window.dilations[0]},
                        {"dilation_w_factor", c.window.dilations[1]},
                        no_activation()};
  const std::int64_t inputs = c.x.dim(-1), outputs = c.weights.dim(0);
  if (c.group > 1 && c.group == inputs && c.weights.dim(1) == 1) {
    attributes.emplace_back("depth_multiplier", outputs / inputs);
    return emit.op("DEPTHWISE_CONV_2D", {x, emit.transpose(c.weights, {1, 2, 3, 0}), c.bias}, attributes);
  }
  return emit.op("CONV_2D", {x, emit.transpose(c.weights, {0, 2, 3, 1}), c.bias}, attributes);
}

/// One spatial axis: as two, the first of size 1.
Value conv1d(const Emit& emit, const Convolution& c) {
  Convolution wide = c;
  wide.x = insert_axis(emit, c.x, 1);
  wide.weights = insert_axis(emit, c.weights, 2);
  Window& w = wide.window;
  w.kernel.insert(w.kernel.begin(), 1);
  w.strides.insert(w.strides.begin(), 1);
  w.dilations.insert(w.dilations.begin(), 1);
  w.begin.insert(w.begin.begin(), 0);
  w.end.insert(w.end.begin(), 0);
  return remove_axis(emit, conv2d(emit, wide), 1);
}

/// One tap, stride 1: every place is multiplied by one matrix, whatever the rank.
Value pointwise(const Emit& emit, const Convolution& c) {
  const Value matrix = emit.reshape(c.weights, {c.weights.dim(0), c.weights.dim(1)});
  return emit.op("FULLY_CONNECTED", {c.x, matrix, c.bias},
                 {{"keep_num_dims", true}, {"weights_format", "DEFAULT"}, no_activation()});
}

bool is_pointwise(const Convolution& c) {
  const Window& w = c.window;
  for (std::size_t i = 0; i < w.axes(); ++i)
    if (w.kernel[i] != 1 || w.strides[i] != 1) return false;
  return c.group == 1 && !w.padded() && c.weights.constant();
}

/// Channels [first, first + count) of a channels-last value.
Value channels(const Emit& emit, const Value& x, std::int64_t first, std::int64_t count) {
  Dims begin(static_cast<std::size_t>(x.rank()), 0), size(begin.size(), -1);
  begin.back() = first;
  size.back() = count;
  return emit.op("SLICE", {x, emit.i32(begin), emit.i32(size)});
}

Value rows(const Emit& emit, const Value& weights, std::int64_t first, std::int64_t count) {
  Dims starts(static_cast<std::size_t>(weights.rank()), 0), sizes = weights.static_dims();
  starts[0] = first;
  sizes[0] = count;
  return emit.slice_constant(weights, starts, Dims(starts.size(), 1), sizes);
}

Value conv3d_single(const Emit& emit, const Convolution& c) {
  std::string padding;
  const Value x = padded_input(emit, c, padding);
  const Window& w = c.window;
  return emit.op("CONV_3D", {x, emit.transpose(c.weights, {2, 3, 4, 1, 0}), c.bias},
                 {{"padding", padding},
                  {"stride_d", w.strides[0]},
                  {"stride_h", w.strides[1]},
                  {"stride_w", w.strides[2]},
                  {"dilation_d_factor", w.dilations[0]},
                  {"dilation_h_factor", w.dilations[1]},
                  {"dilation_w_factor", w.dilations[2]},
                  no_activation()});
}

/// CONV_3D has no groups: one kernel a group, joined along the channels.
Value conv3d(const Emit& emit, const Convolution& c) {
  if (c.group == 1) return conv3d_single(emit, c);
  decline_if(!c.weights.constant() || !c.bias.constant(), "a grouped 3-D convolution needs constant weights");
  const std::int64_t in = c.weights.dim(1), out = c.weights.dim(0) / c.group;
  std::vector<Value> parts;
  for (std::int64_t g = 0; g < c.group; ++g) {
    Convolution part = c;
    part.x = channels(emit, c.x, g * in, in);
    part.weights = rows(emit, c.weights, g * out, out);
    part.bias = rows(emit, c.bias, g * out, out);
    parts.push_back(conv3d_single(emit, part));
  }
  return emit.op("CONCATENATION", parts, {{"axis", c.x.rank() - 1}, no_activation()});
}

}  // namespace

GANTRY_CONVERT(onnx, "Conv", since(1), to(tflite)) {
  const Value x = node.in(0), weights = node.in(1);
  const int rank = x.rank();
  decline_if(rank < 3 || rank > 5, "Conv of rank ", rank, "; TFLite has 1 to 3 spatial axes");
  const Dims dims = x.dims(), filter = weights.static_dims();
  Convolution c;
  c.group = node.attr<std::int64_t>("group", 1);
  const Dims kernel(filter.begin() + 2, filter.end());
  c.window = read_window(node, kernel, Dims(dims.begin() + 2, dims.end()));
  decline_if(dims[1] < 0, "the number of channels of '", x.name(), "' is not known");
  decline_if(c.group < 1 || dims[1] != filter[1] * c.group || filter[0] % c.group, "weights ", text(filter),
             " with group ", c.group, " do not fit ", dims[1], " channels");
  c.x = emit.transpose(x, to_channels_last(rank));
  if (c.window.open()) {
    c.x = pad_open(emit, c.x, open_padding(emit, c.x, c.window), 0);
    c.window.begin = c.window.end = Dims(kernel.size(), 0);
    c.window.same_upper = c.window.same_lower = c.window.open_ceil = false;
  }
  c.weights = weights;
  c.bias = node.in(2) ? node.in(2) : zero_bias(emit, filter[0], x.dtype());
  Value y;
  if (rank == 4)
    y = conv2d(emit, c);  // its kernel is as quick for one tap
  else if (is_pointwise(c))
    y = pointwise(emit, c);
  else
    y = rank == 3 ? conv1d(emit, c) : conv3d(emit, c);
  return emit.transpose(y, to_channels_first(rank));
}

}  // namespace core_ops
