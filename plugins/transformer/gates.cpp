// Newer small fusions: gates, norms by branch, linear attention under its first name.
#include "activation.hpp"
#include "sizes.hpp"

namespace transformer {
namespace {

/// x / sqrt(mean of squares + epsilon) over groups of `width` numbers of the last axis.
Value grouped_rms(const Emit& emit, const Value& x, std::int64_t width, float epsilon) {
  const std::int64_t all = x.dim(-1);
  decline_if(all < 1 || width < 1 || all % width, "groups of ", width, " of ", all);
  const int rank = x.rank();
  Value v = x;
  if (all != width) {
    Dims dims(static_cast<std::size_t>(rank), 0);
    dims.back() = all / width;
    dims.push_back(width);
    v = reshape(emit, x, dims);
  }
  return emit.op("RMSNormalization",
                 {v, emit.constant<float>({width}, std::vector<float>(static_cast<std::size_t>(width), 1))},
                 {{"axis", -1}, {"epsilon", epsilon}});
}
/// Its groups joined again.
Value joined(const Emit& emit, const Value& v, const Value& like) {
  if (v.rank() == like.rank()) return v;
  Dims dims(static_cast<std::size_t>(like.rank()), 0);
  dims.back() = like.dim(-1);
  return reshape(emit, v, dims);
}

}  // namespace

/// X normalised, times scale, times the gate's SiLU or sigmoid.
GANTRY_UPGRADE(kMicrosoft, "GatedRMSNorm", since(1)) {
  const Value x = widened(emit, node.in(0)), scale = widened(emit, node.in(1)), gate = widened(emit, node.in(2));
  const auto activation = node.attr("activation", "silu");
  const Value normal = emit.mul(grouped_rms(emit, x, scale.dim(-1), node.attr("epsilon", 1e-5f)), scale);
  decline_if(activation != "silu" && activation != "swish" && activation != "sigmoid", "activation = ", activation);
  const Value factor = activation == "sigmoid" ? emit.op("Sigmoid", {gate}) : silu(emit, gate);
  return emit.cast(emit.mul(joined(emit, normal, x), factor), node.in(0).dtype());
}

/// X + Y * gate
GANTRY_UPGRADE(kMicrosoft, "GatedAdd", since(1)) {
  decline_if(bool(node.in(3)), "gate_weight, which has a kernel for bfloat16 only");
  return emit.add(node.in(0), emit.mul(node.in(1), node.in(2)));
}

/// z = s X;  z sigmoid(z)
GANTRY_UPGRADE(kMicrosoft, "ScaledSiLU", since(1)) {
  const Value x = widened(emit, node.in(0));
  const Value scale = widened(emit, node.in(1));
  const Value z = scale ? emit.mul(x, scale) : emit.mul(x, node.attr("alpha", 1.0f));
  return emit.cast(silu(emit, z), node.in(0).dtype());
}

/// Group or head: see grouped_rms; the scale has a number for each element of a row, or of a group.
GANTRY_UPGRADE(kMicrosoft, "BranchwiseRMSNorm", since(1)) {
  const Value x = widened(emit, node.in(0));
  const auto branches = node.attr<std::int64_t>("num_branches", 0);
  const std::int64_t width = branches > 0 ? x.dim(-1) / branches : x.dim(-1);
  Value y = grouped_rms(emit, x, width, node.attr("epsilon", 1e-5f));
  if (const Value scale = widened(emit, node.in(1))) {
    const std::int64_t n = scale.elements();
    y = emit.mul(y, n == width ? emit.reshape(scale, {width}) : emit.reshape(scale, {n / width, width}));
  }
  return emit.cast(joined(emit, y, x), node.in(0).dtype());
}

/// q cos(emb) + q_rot sin(emb), and the same of k.
GANTRY_UPGRADE(kMicrosoft, "GemmaRotaryEmbedding", since(1)) {
  const DType t = node.in(1).dtype();
  const Value angle = unsqueeze(emit, node.in(0), {1});
  const Value cos = emit.op("Cos", {angle}), sin = emit.op("Sin", {angle});
  const auto turned = [&](std::size_t i) {
    const Value a = emit.mul(widened(emit, node.in(i)), cos), b = emit.mul(widened(emit, node.in(i + 1)), sin);
    return emit.cast(emit.add(a, b), t);
  };
  return std::vector<Value>{turned(1), turned(3)};
}

GANTRY_UPGRADE(kMicrosoft, "LinearAttention", since(1)) {
  decline_if(node.attr("state_window", 0) != 0, "state_window: several states");
  Attributes attributes = attributes_of(node);
  std::erase_if(attributes, [](const Attribute& a) { return a.name() == "state_window" || a.name() == "scale"; });
  if (const float scale = node.attr("scale", 0.0f); scale != 0) attributes.emplace_back("scale", scale);
  return emit.ops("LinearAttention", node.out_count(), node.ins(), attributes);
}

GANTRY_UPGRADE(kMicrosoft, "CausalConvWithState", since(1)) {
  for (const char* name : {"channels_last", "state_window", "state_update_capacity", "state_length", "input_channels"})
    decline_if(node.attr(name, 0) != 0, name, " = ", node.attr(name, 0));
  decline_if(node.attr("dilation", 1) != 1 || node.attr("ndim", 1) != 1, "a dilation, or several spatial axes");
  return emit.ops("CausalConvWithState", node.out_count(), node.ins(),
                  {{"activation", node.attr("activation", "none")}});
}

}  // namespace transformer
