// QONNX to TFLite in float, exactly as written: y = (round(clamp(x / scale + zero, low, high)) - zero) scale.
#include <cmath>

#include "emit.hpp"

using namespace gantry::quant;

namespace {

std::string upper(std::string s) {
  for (char& c : s)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return s;
}

// Of |x|, with the sign put back: what rounds by magnitude.
Value by_magnitude(const Emit& emit, const Value& x, Value (*f)(const Emit&, const Value&)) {
  return emit.mul(emit.op("SIGN", {x}), f(emit, emit.op("ABS", {x})));
}

Value rounded(const Emit& emit, const Value& x, const std::string& mode) {
  if (mode == "ROUND" || mode == "HALF_EVEN") return emit.op("ROUND", {x});
  if (mode == "CEIL") return emit.op("CEIL", {x});
  if (mode == "FLOOR") return emit.op("FLOOR", {x});
  if (mode == "UP") return by_magnitude(emit, x, [](const Emit& e, const Value& v) { return e.op("CEIL", {v}); });
  if (mode == "DOWN") return by_magnitude(emit, x, [](const Emit& e, const Value& v) { return e.op("FLOOR", {v}); });
  if (mode == "HALF_UP")
    return by_magnitude(emit, x, [](const Emit& e, const Value& v) { return e.op("FLOOR", {e.add(v, 0.5)}); });
  if (mode == "HALF_DOWN")
    return by_magnitude(emit, x, [](const Emit& e, const Value& v) { return e.op("CEIL", {e.sub(v, 0.5)}); });
  decline("the rounding mode ", mode, " is not known");
}

Value bipolar(const Emit& emit, const Value& x, const Value& scale) {
  const Value sign = emit.op("SELECT_V2", {emit.op("GREATER_EQUAL", {x, emit.scalar(DType::float32, 0)}),
                                           emit.scalar(DType::float32, 1), emit.scalar(DType::float32, -1)});
  return emit.mul(sign, scale);
}

Results quant(const Node& node, const Emit& emit) {
  const Value x = node.in(0), scale = node.in(1), zero = node.in(2);
  decline_if(!node.has_attr("signed") || !node.has_attr("narrow"),
             "it does not say whether it is signed and narrow, of which readers differ");
  const bool is_signed = node.attr<std::int64_t>("signed", 1) != 0, narrow = node.attr<std::int64_t>("narrow", 0) != 0;
  const auto bits = static_cast<double>(node.in(3).scalar<float>());
  if (bits == 1 && is_signed) return bipolar(emit, x, scale);
  const bool at_zero = zero.constant() && zero.elements() == 1 && zero.scalar<float>() == 0;
  const double low = is_signed ? -std::exp2(bits - 1) + narrow : 0;
  const double high = is_signed ? std::exp2(bits - 1) - 1 : std::exp2(bits) - 1 - narrow;
  Value y = emit.div(x, scale);
  if (!at_zero) y = emit.add(y, zero);
  y = rounded(emit, emit.minimum(emit.maximum(y, low), high), upper(node.attr<std::string>("rounding_mode", "ROUND")));
  if (!at_zero) y = emit.sub(y, zero);
  emit.call().note("quantizers are computed in float32, exactly as written; there are no quantized kernels yet");
  return emit.mul(y, scale);
}

GANTRY_CONVERT(qonnx, "Quant", to(tflite)) { return quant(node, emit); }
GANTRY_CONVERT(qonnx, "IntQuant", to(tflite)) { return quant(node, emit); }
GANTRY_CONVERT(qonnx, "BipolarQuant", to(tflite)) { return bipolar(emit, node.in(0), node.in(1)); }

}  // namespace
