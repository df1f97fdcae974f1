#include "emit.hpp"

#include <cmath>

#include "constants.hpp"

namespace gantry::quant {
namespace {

using Form = QuantizedWeight::Form;

double lowest(const Uniform& u) { return u.is_signed ? -std::exp2(u.bits - 1) + (u.narrow ? 1 : 0) : 0; }
double highest(const Uniform& u) {
  return u.is_signed ? std::exp2(u.bits - 1) - 1 : std::exp2(u.bits) - 1 - (u.narrow ? 1 : 0);
}

// Quant(x, scale, zero point, bits), version 2 of the domain.
Value quant_node(const Emit& emit, const Value& x, const Uniform& u) {
  const Attributes attributes{{"signed", u.is_signed}, {"narrow", u.narrow}, {"rounding_mode", u.rounding}};
  return emit.make(kQonnx, "Quant", 1, {x, u.step, emit.scalar(DType::float32, 0), emit.scalar(DType::float32, u.bits)},
                   attributes, {}, 2)[0];
}

// QuantizeLinear rounds x / scale to even and saturates; Clip where the range is less than the type's.
Value qcdq(const Emit& emit, const Value& x, const Uniform& u) {
  decline_if(u.bits > 8 || u.bits < 1 + u.is_signed, "QuantizeLinear has no type of ", u.bits, " bits; use --to qonnx");
  decline_if(u.rounding != "ROUND", "QuantizeLinear does not round as ", u.rounding, "; use --to qonnx");
  const DType type = u.is_signed ? DType::int8 : DType::uint8;
  Value scale = u.step;
  Attributes attributes;
  Value zero = emit.scalar(type, 0);
  if (scale.rank() > 0 && scale.elements() > 1) {
    const Dims dims = scale.static_dims();
    std::int64_t axis = -1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      decline_if(axis >= 0, "QuantizeLinear takes scales along one axis");
      axis = static_cast<std::int64_t>(i);
    }
    scale = emit.reshape_constant(scale, {dims[static_cast<std::size_t>(axis)]});
    zero = emit.numbers(type, scale.dims(), std::vector<double>(static_cast<std::size_t>(scale.elements()), 0));
    attributes.emplace_back("axis", axis);
  } else if (scale.rank() > 0) {
    scale = emit.reshape_constant(scale, {});
  }
  // As they were in opset 13: what they got since is not needed, and few runtimes have it.
  constexpr int kVersion = 13;
  Value y = emit.make("", "QuantizeLinear", 1, {x, scale, zero}, attributes, {}, kVersion)[0];
  const bool whole = u.bits == 8 && !u.narrow;
  if (!whole) y = emit.op("Clip", {y, emit.scalar(type, lowest(u)), emit.scalar(type, highest(u))});
  return emit.make("", "DequantizeLinear", 1, {y, scale, zero}, attributes, {}, kVersion)[0];
}

Value floats(const Emit& emit, const Value& x, const Uniform& u) {
  decline_if(u.rounding != "ROUND", "ONNX's Round does not round as ", u.rounding, "; use --to qonnx");
  const Value z = clip(emit, emit.div(x, u.step), lowest(u), highest(u));
  return emit.mul(emit.op("Round", {z}), u.step);
}

std::string output(const Emit& emit) { return emit.call().option<std::string>("output"); }

}  // namespace

Value clip(const Emit& emit, const Value& x, double low, double high) {
  return emit.op("Clip", {x, emit.scalar(DType::float32, low), emit.scalar(DType::float32, high)});
}

Value factor(const Emit& emit, const std::vector<float>& values, int rank) {
  if (values.size() == 1) return emit.scalar(DType::float32, values[0]);
  Dims dims(static_cast<std::size_t>(std::max(rank, 1)), 1);
  dims.back() = static_cast<std::int64_t>(values.size());
  return emit.constant(dims, values);
}

Value emit_uniform(const Emit& emit, const Value& x, const Uniform& u) {
  const std::string form = output(emit);
  if (form == "qonnx") return quant_node(emit, x, u);
  if (form == "qcdq") return qcdq(emit, x, u);
  decline_if(form != "onnx", "the option output is '", form, "', not qonnx, qcdq or onnx");
  return floats(emit, x, u);
}

Value emit_bipolar(const Emit& emit, const Value& x, const Value& step) {
  if (output(emit) == "qonnx") return emit.make(kQonnx, "BipolarQuant", 1, {x, step}, {}, {}, 2)[0];
  const Value negative = emit.op("Less", {x, emit.scalar(DType::float32, 0)});
  return emit.op("Where", {negative, emit.mul(step, -1), step});
}

Value emit_weight(const Emit& emit, const Value& w, const Quantizer& q) {
  if (!q.is_class) return emit_activation(emit, w, q);
  const Dims dims = w.static_dims();
  const QuantizedWeight k = quantize(q, w.read<float>(), dims);
  if (k.form == Form::other) return emit_activation(emit, w, q);
  const Value stored = k.values.empty() ? w : emit.constant(dims, k.values);
  const Value step = factor(emit, k.step, w.rank());
  switch (k.form) {
    case Form::quant:
      return emit_uniform(emit, stored, {step, k.bits, k.is_signed, k.narrow});
    case Form::bipolar:
      return emit_bipolar(emit, stored, step);
    default:
      emit.call().note("the quantized weight is stored as float32 without a quantizer, which has no operator for " +
                       q.name);
      return stored;
  }
}

std::optional<Quantizer> quantizer_in(const Node& node, std::string_view attribute) {
  return parse_quantizer(node.attr<std::string>(attribute, ""));
}

}  // namespace gantry::quant
