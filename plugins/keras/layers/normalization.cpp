// BatchNormalization, LayerNormalization, GroupNormalization, Normalization, Rescaling.
#include <algorithm>
#include <cmath>

#include "common.hpp"

using namespace gantry::keras;

namespace {

Value filled(const Emit& emit, std::int64_t n, float value) {
  return emit.constant(Dims{n}, std::vector<float>(static_cast<std::size_t>(n), value));
}

// gamma and beta, or what stands for them.
std::pair<Value, Value> affine(const Node& node, const Emit& emit, std::int64_t channels) {
  const bool scale = integer(node, "scale", 1) != 0, center = integer(node, "center", 1) != 0;
  return {scale ? weight(node, 0) : filled(emit, channels, 1),
          center ? weight(node, scale ? 1 : 0) : filled(emit, channels, 0)};
}

std::size_t affine_count(const Node& node) {
  return static_cast<std::size_t>(integer(node, "scale", 1) != 0) +
         static_cast<std::size_t>(integer(node, "center", 1) != 0);
}

// gamma (x - mean) / sqrt(variance + epsilon) + beta
GANTRY_CONVERT(keras, "BatchNormalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  const int rank = x.rank(), axis = normalize_axis(integer(node, "axis", -1), rank);
  decline_if(axis == 0, "BatchNormalization over the batch");
  Dims perm = identity_perm(rank), back = perm;
  std::rotate(perm.begin() + 1, perm.begin() + axis, perm.begin() + axis + 1);
  for (std::size_t i = 0; i < perm.size(); ++i) back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  const std::size_t n = affine_count(node);
  const Value mean = weight(node, n), variance = weight(node, n + 1);
  const auto [gamma, beta] = affine(node, emit, mean.elements());
  const Value y = emit.op("BatchNormalization", {emit.transpose(x, perm), gamma, beta, mean, variance},
                          {{"epsilon", static_cast<float>(number(node, "epsilon", 1e-3))}});
  return emit.transpose(y, back);
}

// gamma x / sqrt(variance + epsilon), without beta; gamma of these dims, along the axes.
Value by_deviation(const Node& node, const Emit& emit, const Value& x, const Dims& axes, const Dims& dims) {
  const Value which = emit.i64(axes);
  const Value centered = emit.sub(x, emit.op("ReduceMean", {x, which}, {{"keepdims", 1}}));
  const Value variance = emit.op("ReduceMean", {square(emit, centered), which}, {{"keepdims", 1}});
  const Value y = emit.div(x, emit.op("Sqrt", {emit.add(variance, number(node, "epsilon", 1e-3))}));
  if (integer(node, "scale", 1) == 0) return y;
  Dims wide(static_cast<std::size_t>(x.rank()), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) wide[static_cast<std::size_t>(axes[i])] = dims[i];
  return emit.mul(y, emit.reshape(weight(node, 0), wide));
}

// Over any axes: they are brought to the end. With rms_scaling: gamma x / sqrt(variance + epsilon).
GANTRY_CONVERT(keras, "LayerNormalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  const int rank = x.rank();
  const Dims axes = axes_in(node, "axis", rank), perm = to_the_end(rank, axes);
  decline_if(!std::ranges::is_sorted(axes), "LayerNormalization over axes that are out of order");
  decline_if(std::ranges::find(axes, 0) != axes.end(), "LayerNormalization over the batch");
  Dims dims;
  for (const std::int64_t a : axes) dims.push_back(x.dim(static_cast<int>(a)));
  decline_if(std::ranges::find(dims, -1) != dims.end(), "LayerNormalization over an axis of unknown size");
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  if (integer(node, "rms_scaling", 0) != 0) return by_deviation(node, emit, x, axes, dims);
  const auto [gamma, beta] = affine(node, emit, n);
  const Value y =
      emit.op("LayerNormalization", {emit.transpose(x, perm), emit.reshape(gamma, dims), emit.reshape(beta, dims)},
              {{"axis", rank - static_cast<std::int64_t>(axes.size())},
               {"epsilon", static_cast<float>(number(node, "epsilon", 1e-3))}});
  return emit.transpose(y, inverse(perm));
}

// gamma x / sqrt(mean(x^2) + epsilon)
GANTRY_CONVERT(keras, "RMSNormalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  const Dims axes = axes_in(node, "axis", x.rank());
  decline_if(axes.size() != 1 || axes[0] != x.rank() - 1, "RMSNormalization over axes other than the last");
  const Value mean = emit.op("ReduceMean", {square(emit, x), emit.i64(axes)}, {{"keepdims", 1}});
  const Value root = emit.op("Sqrt", {emit.add(mean, number(node, "epsilon", 1e-6))});
  return emit.mul(emit.div(x, root), weight(node, 0));
}

// x / max(|x|, 1e-6), the norm over the axes
GANTRY_CONVERT(keras, "UnitNormalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  const Value squares =
      emit.op("ReduceSum", {square(emit, x), emit.i64(axes_in(node, "axis", x.rank()))}, {{"keepdims", 1}});
  return emit.div(x, emit.op("Sqrt", {emit.maximum(squares, 1e-12)}));
}

// Each group of channels of a sample is normalized: as one channel of InstanceNormalization.
GANTRY_CONVERT(keras, "GroupNormalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  const int rank = x.rank(), axis = normalize_axis(integer(node, "axis", -1), rank);
  decline_if(axis != rank - 1 && axis != 1, "GroupNormalization over axis ", axis);
  const Value c = axis == 1 ? x : emit.transpose(x, to_second(rank));
  const Dims dims = c.static_dims();
  const std::int64_t groups = integer(node, "groups", 32) == -1 ? dims[1] : integer(node, "groups", 32);
  decline_if(groups < 1 || dims[1] % groups != 0, dims[1], " channels in ", groups, " groups");
  const Value g = emit.reshape(c, {dims[0], groups, c.elements() / dims[0] / groups});
  const Value norm = emit.op("InstanceNormalization", {g, filled(emit, groups, 1), filled(emit, groups, 0)},
                             {{"epsilon", static_cast<float>(number(node, "epsilon", 1e-3))}});
  Dims vector(dims.size(), 1);
  vector[1] = dims[1];
  const auto [gamma, beta] = affine(node, emit, dims[1]);
  const Value y = emit.add(emit.mul(emit.reshape(norm, dims), emit.reshape(gamma, vector)), emit.reshape(beta, vector));
  return axis == 1 ? y : emit.transpose(y, to_last(rank));
}

// (x - mean) / max(sqrt(variance), 1e-7); of the configuration or learned.
GANTRY_CONVERT(keras, "Normalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  std::size_t next = 0;
  const auto statistic = [&](std::string_view name) -> std::vector<float> {
    if (!node.has_attr(name)) return weight(node, next++).read<float>();
    if (node.attribute_kind(name) == GANTRY_ATTR_FLOATS) return node.attr<std::vector<float>>(name);
    if (node.attribute_kind(name) == GANTRY_ATTR_INTS) {
      const Dims d = node.attr<Dims>(name);
      return {d.begin(), d.end()};
    }
    return {static_cast<float>(number(node, name, 0))};
  };
  const std::vector<float> mean = statistic("mean");
  std::vector<float> deviation = statistic("variance");
  for (float& v : deviation) v = std::max(std::sqrt(v), 1e-7F);
  const bool scalar = mean.size() == 1 && deviation.size() == 1;
  Dims dims;
  if (!scalar) {
    dims.assign(static_cast<std::size_t>(x.rank()), 1);
    std::int64_t n = 1;
    for (const std::int64_t a : axes_in(node, "axis", x.rank()))
      n *= dims[static_cast<std::size_t>(a)] = x.dim(static_cast<int>(a));
    decline_if(mean.size() != static_cast<std::size_t>(n) || deviation.size() != mean.size(), "mean and variance of ",
               mean.size(), " and ", deviation.size(), " numbers for ", n);
  }
  const Value centered = emit.sub(x, emit.constant(dims, mean)), by = emit.constant(dims, deviation);
  return integer(node, "invert", 0) != 0 ? emit.add(emit.mul(x, by), emit.constant(dims, mean))
                                         : emit.div(centered, by);
}

// scale x + offset; each a number, or one for each element of the last axis.
GANTRY_CONVERT(keras, "Rescaling", to(onnx)) {
  const auto numbers = [&](std::string_view name, float otherwise) {
    std::vector<float> all{otherwise};
    if (node.attribute_kind(name) == GANTRY_ATTR_FLOATS) {
      all = node.attr<std::vector<float>>(name);
    } else if (node.attribute_kind(name) == GANTRY_ATTR_INTS) {
      const Dims d = node.attr<Dims>(name);
      all.assign(d.begin(), d.end());
    } else {
      all[0] = static_cast<float>(number(node, name, otherwise));
    }
    return emit.constant(all.size() == 1 ? Dims{} : Dims{static_cast<std::int64_t>(all.size())}, all);
  };
  const Value y = emit.mul(float_operand(node, emit), numbers("scale", 1));
  const bool plain = !node.has_attr("offset") ||
                     (node.attribute_kind("offset") < GANTRY_ATTR_STRING && number(node, "offset", 0) == 0);
  return plain ? y : emit.add(y, numbers("offset", 0));
}

}  // namespace
