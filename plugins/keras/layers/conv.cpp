// Convolutions. Keras keeps kernels as [window..., in, out], ONNX as [out, in, window...].
#include <algorithm>
#include <numeric>

#include "window.hpp"

namespace gantry::keras {
namespace {

Dims without_window(const Dims& kernel, std::size_t axes) {
  return {kernel.begin(), kernel.begin() + static_cast<std::ptrdiff_t>(axes)};
}

Attributes attributes_of_window(const Window& w, const Dims& pads, std::int64_t group) {
  return {
      {"kernel_shape", w.kernel}, {"strides", w.strides}, {"dilations", w.dilations}, {"pads", pads}, {"group", group}};
}

// [window..., in, out] -> [out, in, window...]
Dims kernel_perm(std::size_t axes) {
  Dims p{static_cast<std::int64_t>(axes) + 1, static_cast<std::int64_t>(axes)};
  for (std::size_t i = 0; i < axes; ++i) p.push_back(static_cast<std::int64_t>(i));
  return p;
}

Dims permuted(const Dims& dims, const Dims& perm) {
  Dims out;
  for (const std::int64_t p : perm) out.push_back(dims[static_cast<std::size_t>(p)]);
  return out;
}

Value convolve(const Emit& emit, const Value& x, const Value& kernel, const Value& bias, const Window& w,
               std::int64_t group) {
  std::vector<Value> inputs{x, kernel};
  if (bias) inputs.push_back(bias);
  return emit.op("Conv", inputs, attributes_of_window(w, w.pads(x), group));
}

Value conv_kernel(const Emit& emit, const Value& kernel, std::size_t axes) {
  const Dims perm = kernel_perm(axes);
  return weight_as(emit, kernel, perm, permuted(kernel.static_dims(), perm));
}

// [window..., in, multiplier] -> [in * multiplier, 1, window...]
Value depthwise_kernel(const Emit& emit, const Value& kernel, std::size_t axes) {
  const Dims full = kernel.static_dims();
  Dims perm{static_cast<std::int64_t>(axes), static_cast<std::int64_t>(axes) + 1};
  Dims dims{full[axes] * full[axes + 1], 1};
  for (std::size_t i = 0; i < axes; ++i) {
    perm.push_back(static_cast<std::int64_t>(i));
    dims.push_back(full[i]);
  }
  return weight_as(emit, kernel, perm, dims);
}

std::size_t axes_of(const Value& x, const Value& kernel) {
  decline_if(x.rank() < 3 || kernel.rank() != x.rank(), "a kernel of rank ", kernel.rank(), " over a tensor of rank ",
             x.rank());
  return static_cast<std::size_t>(x.rank()) - 2;
}

Value bias_of(const Node& node, std::size_t i) { return integer(node, "use_bias", 1) != 0 ? weight(node, i) : Value(); }

Results conv(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = channels_second(node, emit, float_operand(node, emit)), kernel = weight(node, 0);
  const std::size_t axes = axes_of(x, kernel);
  const Window w = window_of(node, axes, without_window(kernel.static_dims(), axes));
  const std::int64_t channels = x.dim(1), in = kernel.dim(static_cast<int>(axes));
  decline_if(channels < 0 || in == 0 || channels % in != 0, "a kernel for ", in, " channels over ", channels);
  const Value y = convolve(emit, x, conv_kernel(emit, kernel, axes), bias_of(node, 1), w, channels / in);
  return activation(node, emit, as_layer(node, emit, y));
}

Results depthwise(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = channels_second(node, emit, float_operand(node, emit)), kernel = weight(node, 0);
  const std::size_t axes = axes_of(x, kernel);
  const Window w = window_of(node, axes, without_window(kernel.static_dims(), axes));
  decline_if(kernel.dim(static_cast<int>(axes)) != x.dim(1), "a depthwise kernel for ",
             kernel.dim(static_cast<int>(axes)), " channels over ", x.dim(1));
  const Value y = convolve(emit, x, depthwise_kernel(emit, kernel, axes), bias_of(node, 1), w, x.dim(1));
  return activation(node, emit, as_layer(node, emit, y));
}

// Depthwise, then one tap over all channels with the bias.
Results separable(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = channels_second(node, emit, float_operand(node, emit)), kernel = weight(node, 0),
              point = weight(node, 1);
  const std::size_t axes = axes_of(x, kernel);
  const Window w = window_of(node, axes, without_window(kernel.static_dims(), axes));
  const Value between = convolve(emit, x, depthwise_kernel(emit, kernel, axes), Value(), w, x.dim(1));
  const Window one{Dims(axes, 1), Dims(axes, 1), Dims(axes, 1), Padding::valid};
  const Value y = convolve(emit, between, conv_kernel(emit, point, axes), bias_of(node, 2), one, 1);
  return activation(node, emit, as_layer(node, emit, y));
}

// The gradient of a convolution: its output has `size` elements along an axis, so that a convolution over it would have
// as many as x. pads are what the full result, (n - 1) stride + window, has too much.
Results transposed(const Node& node, const Emit& emit, const WindowLayer&) {
  const Value x = channels_second(node, emit, float_operand(node, emit)), kernel = weight(node, 0);
  const std::size_t axes = axes_of(x, kernel);
  const Window w = window_of(node, axes, without_window(kernel.static_dims(), axes));
  decline_if(w.padding == Padding::causal, "a transposed convolution with causal padding");
  Dims begin(axes), end(axes), more(axes);
  const Dims extra = node.has_attr("output_padding") ? integers(node, "output_padding", axes, 0) : Dims(axes, -1);
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t span = (w.kernel[i] - 1) * w.dilations[i] + 1, s = w.strides[i];
    std::int64_t surplus;  // (n - 1) s + span - size, which does not depend on n
    if (extra[i] < 0)
      surplus = w.padding == Padding::same ? span - s : -std::max<std::int64_t>(s - span, 0);
    else
      surplus = (w.padding == Padding::same ? span / 2 * 2 : 0) - extra[i];
    begin[i] = surplus > 0 ? surplus / 2 : 0;
    end[i] = surplus > 0 ? surplus - begin[i] : 0;
    more[i] = surplus < 0 ? -surplus : 0;
    decline_if(more[i] >= std::max(s, w.dilations[i]), "an output padding of ", more[i], " at stride ", s);
  }
  Dims pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  Dims perm{static_cast<std::int64_t>(axes) + 1,
            static_cast<std::int64_t>(axes)};  // [window..., out, in] -> [in, out, window...]
  for (std::size_t i = 0; i < axes; ++i) perm.push_back(static_cast<std::int64_t>(i));
  Attributes attributes = attributes_of_window(w, pads, 1);
  attributes.emplace_back("output_padding", more);
  std::vector<Value> inputs{x, weight_as(emit, kernel, perm, permuted(kernel.static_dims(), perm))};
  if (const Value bias = bias_of(node, 1)) inputs.push_back(bias);
  const Value y = emit.op("ConvTranspose", inputs, attributes);
  return activation(node, emit, as_layer(node, emit, y));
}

constexpr WindowLayer kConv[] = {{"Conv1D"}, {"Conv2D"}, {"Conv3D"}};
constexpr WindowLayer kDepthwise[] = {{"DepthwiseConv1D"}, {"DepthwiseConv2D"}};
constexpr WindowLayer kSeparable[] = {{"SeparableConv1D"}, {"SeparableConv2D"}};
constexpr WindowLayer kTransposed[] = {{"Conv1DTranspose"}, {"Conv2DTranspose"}, {"Conv3DTranspose"}};

}  // namespace
}  // namespace gantry::keras

using namespace gantry::keras;
GANTRY_TABLE(keras, kConv, conv, to(onnx))
GANTRY_TABLE(keras, kDepthwise, depthwise, to(onnx))
GANTRY_TABLE(keras, kSeparable, separable, to(onnx))
GANTRY_TABLE(keras, kTransposed, transposed, to(onnx))
