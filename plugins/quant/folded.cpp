// Layers with a batch normalization folded in, and QBatchNormalization.
#include <algorithm>
#include <cmath>

#include "constants.hpp"
#include "layers.hpp"

namespace gantry::quant {
namespace {

using Floats = std::vector<float>;

struct Row {
  std::string_view op, plain, quantizer;
};
constexpr Row kRows[] = {{"QConv2DBatchnorm", "Conv2D", "kernel_quantizer"},
                         {"QDepthwiseConv2DBatchnorm", "DepthwiseConv2D", "depthwise_quantizer"},
                         {"QDenseBatchnorm", "Dense", "kernel_quantizer"}};

bool flag(const Node& node, std::string_view name) { return node.attr<std::int64_t>(name, 1) != 0; }

// inv = gamma / sqrt(variance + epsilon); kernel' = Qk(inv kernel); bias' = Qb(inv (bias - mean) + beta). Channels are
// along the last axis, of a depthwise kernel along the last two.
Value rewritten(const Node& node, const Emit& emit, const Row& row) {
  std::size_t next = operand_count(node);
  const auto read = [&](bool there, std::size_t n, float otherwise) {
    return there ? node.in(next++).read<float>() : Floats(n, otherwise);
  };
  const Value kernel = node.in(next++);
  const bool has_bias = flag(node, "use_bias");
  Floats bias = has_bias ? node.in(next++).read<float>() : Floats{};
  const Floats gamma0 = flag(node, "scale") ? node.in(next++).read<float>() : Floats{};
  const Floats beta0 = flag(node, "center") ? node.in(next++).read<float>() : Floats{};
  const Floats mean = read(true, 0, 0), variance = read(true, 0, 0);
  const std::size_t n = mean.size();
  decline_if(n == 0 || variance.size() != n || (has_bias && bias.size() != n), "the sizes of its weights do not fit");
  const Floats gamma = gamma0.empty() ? Floats(n, 1) : gamma0, beta = beta0.empty() ? Floats(n, 0) : beta0;
  decline_if(gamma.size() != n || beta.size() != n, "the sizes of its weights do not fit");
  if (bias.empty()) bias.assign(n, 0);
  const auto epsilon =
      node.attribute_kind("epsilon") == GANTRY_ATTR_FLOAT ? static_cast<float>(node.attr<double>("epsilon")) : 1e-3F;
  Floats w = kernel.read<float>();
  decline_if(w.size() % n != 0, "the sizes of its weights do not fit");
  Floats inv(n);
  for (std::size_t i = 0; i < n; ++i) {
    inv[i] = 1.0F / std::sqrt(variance[i] + epsilon) * gamma[i];
    bias[i] = inv[i] * (bias[i] - mean[i]) + beta[i];
  }
  for (std::size_t i = 0; i < w.size(); ++i) w[i] *= inv[i % n];
  Attributes attributes = plain_attributes(node);
  set_attribute(attributes, "use_bias", 1);
  const Value k = quantized_weight(node, emit, emit.constant(kernel.dims(), w), row.quantizer);
  const Value b =
      quantized_weight(node, emit, emit.constant(Dims{static_cast<std::int64_t>(n)}, bias), "bias_quantizer");
  const Value y = keras_node(emit, "", row.plain, {node.in(0), k, b}, attributes);
  return activated(node, emit, y, node.attr<std::string>("activation", ""));
}

Results folded(const Node& node, const Emit& emit, const Row& row) {
  return or_refused(node, emit, [&] { return rewritten(node, emit, row); });
}
GANTRY_TABLE(qkeras, kRows, folded, to(qkeras))

// i = Qi(Qg(gamma) / sqrt(Qv(variance) + epsilon)); y = x i + (Qb(beta) - Qm(mean) i)
GANTRY_CONVERT(qkeras, "QBatchNormalization", to(onnx)) {
  std::size_t next = operand_count(node);
  const Value x = node.in(0);
  const auto read = [&](std::string_view quantizer) {
    const Value w = node.in(next++);
    const auto q = quantizer_in(node, quantizer);
    return q ? quantized_values(*q, w.read<float>(), w.static_dims()) : w.read<float>();
  };
  const bool scale = flag(node, "scale"), center = flag(node, "center");
  Floats gamma = scale ? read("gamma_quantizer") : Floats{}, beta = center ? read("beta_quantizer") : Floats{};
  const Floats mean = read("mean_quantizer"), variance = read("variance_quantizer");
  const std::size_t n = mean.size();
  if (gamma.empty()) gamma.assign(n, 1);
  if (beta.empty()) beta.assign(n, 0);
  decline_if(gamma.size() != n || beta.size() != n || variance.size() != n, "the sizes of its weights do not fit");
  const auto epsilon =
      node.attribute_kind("epsilon") == GANTRY_ATTR_FLOAT ? static_cast<float>(node.attr<double>("epsilon")) : 1e-3F;
  Floats inv(n), shift(n);
  for (std::size_t i = 0; i < n; ++i) inv[i] = 1.0F / std::sqrt(variance[i] + epsilon) * gamma[i];
  if (const auto q = quantizer_in(node, "inverse_quantizer"))
    inv = quantized_values(*q, inv, {static_cast<std::int64_t>(n)});
  for (std::size_t i = 0; i < n; ++i) shift[i] = beta[i] - mean[i] * inv[i];
  const int rank = x.rank();
  std::int64_t axis = -1;
  if (node.attribute_kind("axis") == GANTRY_ATTR_INTS) {
    const Dims axes = node.attr<Dims>("axis");
    decline_if(axes.size() != 1, "QBatchNormalization over ", axes.size(), " axes");
    axis = axes[0];
  } else {
    axis = node.attr<std::int64_t>("axis", -1);
  }
  Dims dims(static_cast<std::size_t>(rank - normalize_axis(axis, rank)), 1);
  dims[0] = static_cast<std::int64_t>(n);
  return emit.add(emit.mul(x, emit.constant(dims, inv)), emit.constant(dims, shift));
}

}  // namespace
}  // namespace gantry::quant
