// Patterns in the ONNX dialect: exact rewrites to fewer nodes, before conversion.
#include <cmath>

#include "common.hpp"

namespace core_ops {
namespace {

bool constants(const Node& node, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (!node.in(i) || !node.in(i).constant()) return false;
  return true;
}

/// BatchNormalization at inference as y = factor * x + offset, one of each a channel; nullopt if it is not that.
struct Affine {
  std::vector<float> factor;
  std::vector<double> offset;
};
std::optional<Affine> affine(const Node& bn) {
  if (bn.attr("training_mode", 0) != 0 || !constants(bn, 1, 5) || bn.in(1).dtype() != DType::float32)
    return std::nullopt;
  const auto scale = bn.in(1).read<double>(), shift = bn.in(2).read<double>(), mean = bn.in(3).read<double>(),
             variance = bn.in(4).read<double>();
  const auto epsilon = static_cast<double>(bn.attr("epsilon", 1e-5f));
  Affine a;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double f = scale[c] / std::sqrt(variance[c] + epsilon);
    a.factor.push_back(static_cast<float>(f));
    a.offset.push_back(shift[c] - mean[c] * f);
  }
  return a;
}

/// Folds a BatchNormalization into the weights and bias of the convolution before it; `axis` is the weights' output
/// axis.
bool fold_batch_norm(const Node& bn, const Emit& emit, std::string_view op, std::int64_t axis) {
  const auto conv = sole_maker(bn.in(0), op);
  if (!conv || !conv->in(1).constant() || conv->in(1).dtype() != DType::float32) return false;
  if (axis == 1 && conv->attr("group", 1) != 1) return false;
  if (conv->in(2) && !conv->in(2).constant()) return false;
  const auto a = affine(bn);
  if (!a || static_cast<std::int64_t>(a->factor.size()) != conv->in(1).dim(static_cast<int>(axis))) return false;
  std::vector<double> bias = a->offset;
  if (conv->in(2)) {
    const auto old = conv->in(2).read<double>();
    for (std::size_t c = 0; c < bias.size(); ++c) bias[c] += old[c] * static_cast<double>(a->factor[c]);
  }
  const Value new_bias = emit.numbers(DType::float32, {static_cast<std::int64_t>(bias.size())}, bias);
  emit.replace(bn.out(), emit.op(op, {conv->in(0), emit.scale_constant(conv->in(1), axis, a->factor), new_bias},
                                 attributes_of(*conv)));
  return true;
}

}  // namespace

GANTRY_PATTERN("conv_batch_norm", onnx, "BatchNormalization", also("Conv")) {
  return fold_batch_norm(node, emit, "Conv", 0);
}
GANTRY_PATTERN("conv_transpose_batch_norm", onnx, "BatchNormalization", also("ConvTranspose")) {
  return fold_batch_norm(node, emit, "ConvTranspose", 1);
}

/// Pad by zeros along the spatial axes before a Conv: the Conv pads.
GANTRY_PATTERN("pad_conv", onnx, "Conv", also("Pad")) {
  const auto pad = sole_maker(node.in(0), "Pad");
  if (!pad || pad->attr("mode", "constant") != "constant" || !pad->in(1).constant() || pad->in(3)) return false;
  if (pad->in(2) && (!pad->in(2).constant() || pad->in(2).scalar<double>() != 0)) return false;
  const std::string auto_pad = node.attr("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;
  const Dims extra = pad->in(1).read<std::int64_t>();
  const std::size_t rank = extra.size() / 2;
  for (std::size_t i = 0; i < extra.size(); ++i)
    if (extra[i] < 0 || (i % rank < 2 && extra[i] != 0)) return false;
  Dims pads = node.attr("pads", Dims(2 * (rank - 2), 0));
  if (auto_pad == "VALID") std::fill(pads.begin(), pads.end(), 0);
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    pads[i] += extra[i + 2];
    pads[i + rank - 2] += extra[i + 2 + rank];
  }
  Attributes attributes = attributes_of(node);
  set_attribute(attributes, "pads", pads);
  set_attribute(attributes, "auto_pad", std::string("NOTSET"));
  std::vector<Value> inputs = node.ins();
  inputs[0] = pad->in(0);
  emit.replace(node.out(), emit.op("Conv", inputs, attributes));
  return true;
}

/// x * HardSigmoid(x) with alpha = 1/6, beta = 1/2 is HardSwish.
GANTRY_PATTERN("hard_swish", onnx, "Mul", also("HardSigmoid")) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto gate = sole_maker(node.in(i), "HardSigmoid");
    if (!gate || !(gate->in(0) == node.in(1 - i))) continue;
    if (std::fabs(gate->attr("alpha", 0.2f) * 6.0f - 1.0f) > 1e-6f || gate->attr("beta", 0.5f) != 0.5f) continue;
    emit.replace(node.out(), emit.op("HardSwish", {node.in(1 - i)}));
    return true;
  }
  return false;
}

/// x * clip(x + 3, 0, 6) / 6, in any order of factors, is HardSwish.
GANTRY_PATTERN("hard_swish_clip", onnx, "Clip", also("Add", "Mul")) {
  if (node.in(0).dtype() != DType::float32 || !is_number(node.in(1), 0) || !is_number(node.in(2), 6)) return false;
  const auto add = node.in(0).producer();
  if (!add || !add->is("Add")) return false;
  const Value x = is_number(add->in(1), 3) ? add->in(0) : is_number(add->in(0), 3) ? add->in(1) : Value();
  Value v = node.out();
  bool times_x = false, sixth = false;
  for (int i = 0; x && i < 2; ++i) {
    const auto user = sole_user(v);
    if (!user) return false;
    const Value other = other_operand(*user, v);
    if (user->is("Mul") && other == x && !times_x)
      times_x = true;
    else if (!sixth && ((user->is("Mul") && is_number(other, 1.0 / 6)) ||
                        (user->is("Div") && user->in(0) == v && is_number(other, 6))))
      sixth = true;
    else
      return false;
    v = user->out();
  }
  if (!times_x || !sixth || !x.ranked() || !v.ranked() || x.dims() != v.dims()) return false;
  emit.replace(v, emit.op("HardSwish", {x}));
  return true;
}

}  // namespace core_ops
