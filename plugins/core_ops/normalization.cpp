// Normalizations. At inference BatchNormalization is one multiplication and one addition a channel; the others are
// spelled out over reductions, in the source's own layout. Operators: ONNX operator specification, ai.onnx.
#include <cmath>

#include "carrier.hpp"
#include "extent.hpp"
#include "floats.hpp"

namespace core_ops {
namespace {

/// [c] -> [c, 1, ...], so that it broadcasts along axis 1 of a value of this rank.
Value along_channels(const Emit& emit, const Value& v, int rank) {
  Dims dims(static_cast<std::size_t>(std::max(1, rank - 1)), 1);
  dims[0] = v.dim(0);
  return emit.reshape(v, dims);
}

struct Moments {
  Value mean, centered, inv_std;
};

/// Mean and 1 / sqrt(variance + epsilon) over axes that are kept with size 1.
Moments moments(const Emit& emit, const Value& x, const Dims& axes, float epsilon) {
  Moments m;
  const Value at = emit.i32(axes);
  m.mean = emit.op("MEAN", {x, at}, {{"keep_dims", true}});
  m.centered = emit.sub(x, m.mean);
  const Value variance = emit.op("MEAN", {emit.mul(m.centered, m.centered), at}, {{"keep_dims", true}});
  m.inv_std = emit.op("RSQRT", {emit.add(variance, epsilon)});
  return m;
}

Dims axes_from(int first, int rank) {
  Dims axes;
  for (int a = first; a < rank; ++a) axes.push_back(a);
  return axes;
}

/// By the batch's own mean and variance; the running ones move toward them by 1 - momentum.
Results train(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  Dims axes = axes_from(2, x.rank());
  axes.insert(axes.begin(), 0);
  const Moments m = moments(emit, x, axes, node.attr("epsilon", 1e-5f));
  const Value scaled = emit.mul(emit.mul(m.centered, m.inv_std), along_channels(emit, node.in(1), x.rank()));
  std::vector<Value> results{emit.add(scaled, along_channels(emit, node.in(2), x.rank()))};
  const float momentum = node.attr("momentum", 0.9f);
  const auto running = [&](const Value& old, const Value& now) {
    return emit.add(emit.mul(old, momentum), emit.mul(emit.reshape(now, old.dims()), 1.0f - momentum));
  };
  const Value variance = emit.op("MEAN", {emit.mul(m.centered, m.centered), emit.i32(axes)}, {{"keep_dims", true}});
  if (node.out_count() > 1) results.push_back(running(node.in(3), m.mean));
  if (node.out_count() > 2) results.push_back(running(node.in(4), variance));
  results.resize(node.out_count());
  return results;
}

}  // namespace

GANTRY_CONVERT(onnx, "BatchNormalization", since(9), to(tflite)) {
  const Value x = node.in(0);
  if (node.attr("training_mode", 0) != 0) return train(node, emit);
  const float epsilon = node.attr("epsilon", 1e-5f);
  bool constant = true;
  for (std::size_t i = 1; i < 5; ++i) constant = constant && node.in(i).constant();
  std::vector<Value> results(node.out_count());
  if (constant) {
    const auto scale = node.in(1).read<double>(), shift = node.in(2).read<double>(), mean = node.in(3).read<double>(),
               variance = node.in(4).read<double>();
    std::vector<double> factor, offset;
    for (std::size_t c = 0; c < scale.size(); ++c) {
      factor.push_back(scale[c] / std::sqrt(variance[c] + static_cast<double>(epsilon)));
      offset.push_back(shift[c] - mean[c] * factor[c]);
    }
    const Dims dims{static_cast<std::int64_t>(scale.size())};
    results[0] = emit.add(emit.mul(x, along_channels(emit, emit.numbers(x.dtype(), dims, factor), x.rank())),
                          along_channels(emit, emit.numbers(x.dtype(), dims, offset), x.rank()));
    return results;
  }
  const auto channel = [&](std::size_t i) { return along_channels(emit, node.in(i), x.rank()); };
  const Value factor = emit.mul(emit.op("RSQRT", {emit.add(channel(4), epsilon)}), channel(1));
  results[0] = emit.add(emit.mul(emit.sub(x, channel(3)), factor), channel(2));
  return results;
}

/// Over axes axis..rank-1; results are Y, and where wanted the mean and 1 / standard deviation.
GANTRY_CONVERT(onnx, "LayerNormalization", since(17), to(tflite)) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("axis", -1), x.rank());
  const Moments m = moments(emit, x, axes_from(axis, x.rank()), node.attr("epsilon", 1e-5f));
  Value y = emit.mul(emit.mul(m.centered, m.inv_std), node.in(1));
  if (node.in(2)) y = emit.add(y, node.in(2));
  std::vector<Value> results{y, m.mean, m.inv_std};
  results.resize(node.out_count());
  return results;
}

/// Over the spatial axes of every channel of every sample.
GANTRY_CONVERT(onnx, "InstanceNormalization", since(6), to(tflite)) {
  const Value x = node.in(0);
  const Moments m = moments(emit, x, axes_from(2, x.rank()), node.attr("epsilon", 1e-5f));
  const Value scaled = emit.mul(emit.mul(m.centered, m.inv_std), along_channels(emit, node.in(1), x.rank()));
  return emit.add(scaled, along_channels(emit, node.in(2), x.rank()));
}

/// Channels in groups, each normalised over its channels and the spatial axes; scale and bias a channel, or (before
/// opset 21) a group.
GANTRY_CONVERT(onnx, "GroupNormalization", since(18), to(tflite)) {
  const Value x = in_float32(emit, node.in(0));
  const Dims dims = x.dims();
  const auto groups = node.attr<std::int64_t>("num_groups");
  const int rank = x.rank();
  decline_if(rank < 3 || dims[1] < 1 || groups < 1 || dims[1] % groups, groups, " groups of ", text(dims));
  Extents split = extents_of(emit, x, 0, rank);
  split[1] = groups;
  split.insert(split.begin() + 2, dims[1] / groups);
  // [n, groups, c / groups, spatial as one]: the kernels take no rank 6 and up.
  const Extent pixels = product(emit, Extents(split.begin() + 3, split.end()));
  const Moments m = moments(emit, reshape_to(emit, x, {split[0], groups, dims[1] / groups, pixels}), {2, 3},
                            node.attr("epsilon", 1e-5f));
  Value y = emit.mul(m.centered, m.inv_std);
  const auto per_channel = [&](std::size_t i) {
    const Value v = in_float32(emit, node.in(i));
    return emit.reshape(v, v.dim(0) == dims[1] ? Dims{groups, dims[1] / groups, 1} : Dims{groups, 1, 1});
  };
  y = emit.add(emit.mul(y, per_channel(1)), per_channel(2));
  return emit.cast(reshape_to(emit, y, extents_of(emit, x, 0, rank)), node.in(0).dtype());
}

/// (x - mean) / (standard deviation + 1e-9) over axes, by default batch and spatial ones.
GANTRY_CONVERT(onnx, "MeanVarianceNormalization", since(9), to(tflite)) {
  const Value x = in_float32(emit, node.in(0));
  Dims axes = node.attr("axes", Dims{0, 2, 3});
  for (std::int64_t& a : axes) a = normalize_axis(a, x.rank());
  const Value at = emit.i32(axes);
  const Value centered = emit.sub(x, emit.op("MEAN", {x, at}, {{"keep_dims", true}}));
  const Value variance = emit.op("MEAN", {emit.mul(centered, centered), at}, {{"keep_dims", true}});
  return emit.cast(emit.div(centered, emit.add(emit.op("SQRT", {variance}), 1e-9)), node.in(0).dtype());
}

}  // namespace core_ops
