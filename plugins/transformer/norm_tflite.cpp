// Cheaper forms of normalisations: the mean of squares and epsilon are one FULLY_CONNECTED (weights 1/n, bias epsilon),
// and what a scale of ones or a bias of zeros would do is not written. Over one last axis, float32; anything else is
// left to core_ops.
//   RMS    x * rsqrt(mean(x^2) + epsilon)                 MUL, FULLY_CONNECTED, RSQRT, MUL
//   Layer  the same of x - mean(x)                        MEAN, SUB before it
#include <algorithm>

#include "composite.hpp"
#include "match.hpp"

namespace transformer {
namespace {

GANTRY_OPTION("norm", true, "Cheaper converters: LayerNormalization and RMSNormalization in the fewest operators")

constexpr std::int64_t kMostWidth = 1 << 20;

/// 1 / sqrt(mean(x^2) + epsilon) along the last axis, which stays with size 1.
Value inverse_root_mean_square(const Emit& emit, const Value& x, float epsilon) {
  const std::int64_t n = x.dim(-1);
  const Value weights = emit.numbers(DType::float32, {1, n},
                                     std::vector<double>(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n)));
  const Value moment = emit.op("FULLY_CONNECTED", {emit.mul(x, x), weights, emit.constant<float>({1}, {epsilon})},
                               {{"fused_activation_function", "NONE"}, {"keep_num_dims", true}});
  return emit.op("RSQRT", {moment});
}

bool all(const Value& v, double number) {
  if (!v.constant() || v.elements() > kMostWidth) return false;
  const auto numbers = v.read<float>();
  return std::all_of(numbers.begin(), numbers.end(), [&](float x) { return static_cast<double>(x) == number; });
}

/// Declines what core_ops does.
void check(const Node& node, const Emit& emit) {
  decline_if(!enabled(emit, "norm"), "it is switched off");
  const Value x = node.in(0);
  for (const Value& v : node.ins()) decline_if(v && v.dtype() != DType::float32, "only float32 has a cheaper form");
  decline_if(x.rank() < 2 || normalize_axis(node.attr("axis", -1), x.rank()) != x.rank() - 1,
             "only the last axis has a cheaper form");
  decline_if(x.dim(-1) < 1 || x.dim(-1) > kMostWidth, "the last axis is not known");
  decline_if(node.in(1).rank() > 1, "the scale is no vector");
  decline_if(node.in(2) && node.in(2).rank() > 1, "the bias is no vector");
}

Value affine(const Emit& emit, Value y, const Value& scale, const Value& bias) {
  if (!all(scale, 1)) y = emit.mul(y, scale);
  if (bias && !all(bias, 0)) y = emit.add(y, bias);
  return y;
}

}  // namespace

GANTRY_CONVERT(onnx, "LayerNormalization", since(17), to(tflite), priority(10)) {
  check(node, emit);
  const Value x = node.in(0);
  const Value mean = emit.op("MEAN", {x, emit.i32({x.rank() - 1})}, {{"keep_dims", true}});
  const Value centered = emit.sub(x, mean);
  const Value factor = inverse_root_mean_square(emit, centered, node.attr("epsilon", 1e-5f));
  std::vector<Value> results{affine(emit, emit.mul(centered, factor), node.in(1), node.in(2)), mean, factor};
  results.resize(node.out_count());
  return results;
}

GANTRY_CONVERT(onnx, "RMSNormalization", since(23), to(tflite), priority(10)) {
  check(node, emit);
  const Value x = node.in(0);
  const float epsilon = node.attr("epsilon", 1e-5f);
  if (composites(emit) && node.in(1).rank() == 1)
    return composite(emit, "odml.rms_norm", {x, node.in(1)}, x.type(), "epsilon", epsilon,
                     [&](const std::vector<Value>& args) -> std::vector<Value> {
                       const Value factor = inverse_root_mean_square(emit, args[0], epsilon);
                       return {emit.mul(emit.mul(args[0], factor), args[1])};
                     });
  const Value factor = inverse_root_mean_square(emit, x, epsilon);
  return affine(emit, emit.mul(x, factor), node.in(1), Value());
}

}  // namespace transformer
