// Layer and RMS normalisation, alone or after a residual sum.
#include "common.hpp"

namespace transformer {
namespace {

/// Over axes axis..rank-1: y = x / sqrt(mean(x^2) + epsilon) * scale, and where wanted the factor before the scale.
/// `x` is float32 or wider, results have the type of the scale.
std::vector<Value> rms_norm(const Emit& emit, const Value& x, const Value& scale, std::int64_t axis, float epsilon,
                            bool inv_std) {
  if (!inv_std)
    return {
        emit.cast(emit.op("RMSNormalization", {x, emit.cast(scale, x.dtype())}, {{"axis", axis}, {"epsilon", epsilon}}),
                  scale.dtype()),
        Value()};
  Dims axes;
  for (int i = normalize_axis(axis, x.rank()); i < x.rank(); ++i) axes.push_back(i);
  const Value mean = emit.op("ReduceMean", {emit.mul(x, x), emit.i64(axes)}, {{"keepdims", 1}});
  const Value factor = emit.op("Reciprocal", {emit.op("Sqrt", {emit.add(mean, epsilon)})});
  return {emit.mul(emit.cast(emit.mul(x, factor), scale.dtype()), scale), emit.cast(factor, DType::float32)};
}

/// input + skip + bias in float32 or wider; the bias may be absent.
Value residual(const Emit& emit, const Value& input, const Value& skip, const Value& bias) {
  const Value sum = emit.add(widened(emit, input), widened(emit, skip));
  return bias ? emit.add(sum, widened(emit, bias)) : sum;
}

}  // namespace

/// RMSNormalization by its name before opset 23, in the default domain too. Results: y, 1 / root of the mean square.
Results simplified(const Node& node, const Emit& emit) {
  std::vector<Value> results = rms_norm(emit, widened(emit, node.in(0)), node.in(1), node.attr("axis", -1),
                                        node.attr("epsilon", 1e-5f), wanted(node, 1));
  results.resize(node.out_count());
  return results;
}
GANTRY_UPGRADE(onnx, "SimplifiedLayerNormalization", since(1)) { return simplified(node, emit); }
GANTRY_UPGRADE(kMicrosoft, "SimplifiedLayerNormalization", since(1)) { return simplified(node, emit); }

/// Results: y, (mean), 1 / root of the mean square, the sum that is normalised.
GANTRY_UPGRADE(kMicrosoft, "SkipSimplifiedLayerNormalization", since(1)) {
  decline_if(wanted(node, 1), "the result 'mean' is used, and there is none");
  const Value sum = residual(emit, node.in(0), node.in(1), node.in(3));
  const std::vector<Value> y = rms_norm(emit, sum, node.in(2), -1, node.attr("epsilon", 1e-12f), wanted(node, 2));
  std::vector<Value> results{y[0], Value(), y[1], emit.cast(sum, node.in(0).dtype())};
  results.resize(node.out_count());
  return results;
}

/// Results: y, mean, 1 / standard deviation, the sum that is normalised.
GANTRY_UPGRADE(kMicrosoft, "SkipLayerNormalization", since(1)) {
  const Value sum = residual(emit, node.in(0), node.in(1), node.in(4));
  std::vector<Value> operands{sum, widened(emit, node.in(2))};
  if (node.in(3)) operands.push_back(widened(emit, node.in(3)));
  const bool moments = wanted(node, 1) || wanted(node, 2);
  const std::vector<Value> y = emit.ops("LayerNormalization", moments ? 3 : 1, operands,
                                        {{"axis", -1}, {"epsilon", node.attr("epsilon", 1e-12f)}});
  const DType t = node.in(0).dtype();
  std::vector<Value> results{emit.cast(y[0], t), moments ? y[1] : Value(), moments ? y[2] : Value(), emit.cast(sum, t)};
  results.resize(node.out_count());
  return results;
}

}  // namespace transformer
