// What is fused in diffusion networks: group normalisation of channels-last images, biases, gates.
#include "activation.hpp"
#include "sizes.hpp"

namespace transformer {
namespace {

/// y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, mean and variance of each group of channels; then SiLU
/// where the attribute `activation` says so.
Value group_norm(const Node& node, const Emit& emit, const Value& x) {
  const bool last = node.attr("channels_last", 1) != 0;
  const int rank = x.rank();
  const Value image = last ? emit.transpose(x, channels_first(rank)) : x;
  Value y = emit.op("GroupNormalization", {image, widened(emit, node.in(1)), widened(emit, node.in(2))},
                    {{"num_groups", node.attr<std::int64_t>("groups")}, {"epsilon", node.attr("epsilon", 1e-5f)}});
  if (last) y = emit.transpose(y, channels_last(rank));
  const auto activation = node.attr<std::int64_t>("activation", 0);
  decline_if(activation != 0 && activation != 1, "activation = ", activation);
  return activation == 1 ? silu(emit, y) : y;
}

}  // namespace

GANTRY_UPGRADE(kMicrosoft, "GroupNorm", since(1)) {
  return emit.cast(group_norm(node, emit, widened(emit, node.in(0))), node.in(0).dtype());
}

/// X, gamma, beta, skip, bias: of x + skip + bias, which is the second result.
GANTRY_UPGRADE(kMicrosoft, "SkipGroupNorm", since(1)) {
  const Value x = widened(emit, node.in(0));
  const int rank = x.rank();
  const bool last = node.attr("channels_last", 1) != 0;
  Value skip = widened(emit, node.in(3)), bias = widened(emit, node.in(4));
  Dims spatial;  // axes that a skip of [n, c], or a bias of [c], lacks
  for (int i = 0; i < rank - 2; ++i) spatial.push_back(last ? i + 1 : i + 2);
  if (skip.rank() == 2) skip = unsqueeze(emit, skip, spatial);
  Value sum = emit.add(x, skip);
  if (bias) {
    if (!last)
      for (int i = 2; i < rank; ++i) bias = unsqueeze(emit, bias, {i - 1});
    sum = emit.add(sum, bias);
  }
  const DType t = node.in(0).dtype();
  std::vector<Value> results{emit.cast(group_norm(node, emit, sum), t), emit.cast(sum, t)};
  results.resize(node.out_count());
  return results;
}

/// x + bias + skip
GANTRY_UPGRADE(kMicrosoft, "BiasAdd", since(1)) { return emit.add(emit.add(node.in(0), node.in(1)), node.in(2)); }

/// Of x + bias the left half times Gelu of the right half.
GANTRY_UPGRADE(kMicrosoft, "BiasSplitGelu", since(1)) {
  const Value x = emit.add(node.in(0), node.in(1));
  const std::int64_t width = x.dim(-1);
  decline_if(width < 2 || width % 2, "a width of ", width);
  const auto halves = split(emit, x, x.rank() - 1, {width / 2, width / 2});
  return emit.mul(halves[0], gelu(emit, halves[1], false));
}

}  // namespace transformer
