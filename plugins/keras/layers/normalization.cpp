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

GANTRY_CONVERT(keras, "LayerNormalization", to(onnx)) {
  const Value x = float_operand(node, emit);
  decline_if(integer(node, "rms_scaling", 0) != 0, "LayerNormalization with rms_scaling");
  const int rank = x.rank();
  Dims axes =
      node.attribute_kind("axis") == GANTRY_ATTR_INTS ? node.attr<Dims>("axis") : Dims{integer(node, "axis", -1)};
  for (std::int64_t& a : axes) a = normalize_axis(a, rank);
  std::ranges::sort(axes);
  for (std::size_t i = 0; i < axes.size(); ++i)
    decline_if(axes[i] != rank - static_cast<std::int64_t>(axes.size() - i),
               "LayerNormalization over axes that are not the last");
  const Dims all = x.dims();
  const Dims dims(all.begin() + axes[0], all.end());
  decline_if(std::ranges::find(dims, -1) != dims.end(), "LayerNormalization over an axis of unknown size");
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  const auto [gamma, beta] = affine(node, emit, n);
  return emit.op("LayerNormalization", {x, emit.reshape(gamma, dims), emit.reshape(beta, dims)},
                 {{"axis", axes[0]}, {"epsilon", static_cast<float>(number(node, "epsilon", 1e-3))}});
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
  const Dims axes =
      node.attribute_kind("axis") == GANTRY_ATTR_INTS ? node.attr<Dims>("axis") : Dims{integer(node, "axis", -1)};
  const bool scalar = mean.size() == 1 && deviation.size() == 1;
  decline_if(!scalar && (axes.size() != 1 || normalize_axis(axes[0], x.rank()) != x.rank() - 1 ||
                         mean.size() != deviation.size()),
             "Normalization over axes other than the last");
  const Dims dims = scalar ? Dims{} : Dims{static_cast<std::int64_t>(mean.size())};
  const Value centered = emit.sub(x, emit.constant(dims, mean)), by = emit.constant(dims, deviation);
  return integer(node, "invert", 0) != 0 ? emit.add(emit.mul(x, by), emit.constant(dims, mean))
                                         : emit.div(centered, by);
}

// scale x + offset
GANTRY_CONVERT(keras, "Rescaling", to(onnx)) {
  const double offset = number(node, "offset", 0);
  const Value y = emit.mul(float_operand(node, emit), number(node, "scale", 1));
  return offset == 0 ? y : emit.add(y, offset);
}

}  // namespace
