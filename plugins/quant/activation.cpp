// Quantizers of activations: the function, then rounding. facts: QKeras' quantizers.py; what each is here was checked
// against it value by value. _sigmoid within them is the hard one, clip(x / 2 + 1/2, 0, 1), which is QKeras' default;
// which one was set is not in the file.
#include <cmath>
#include <map>
#include <set>

#include "constants.hpp"
#include "emit.hpp"

namespace gantry::quant {
namespace {

std::string rounding(const Emit& emit) {
  static const std::set<std::string, std::less<>> kModes = {"ROUND", "HALF_EVEN", "CEIL",    "FLOOR",
                                                            "UP",    "DOWN",      "HALF_UP", "HALF_DOWN"};
  std::string mode = emit.call().option<std::string>("rounding_mode");
  decline_if(!kModes.contains(mode), "the option rounding_mode is '", mode,
             "', not ROUND, HALF_EVEN, CEIL, FLOOR, UP, DOWN, HALF_UP or HALF_DOWN");
  return mode;
}

Value hard_sigmoid(const Emit& emit, const Value& x) {
  return emit.op("HardSigmoid", {x}, {{"alpha", 0.5F}, {"beta", 0.5F}});
}
Value smooth_sigmoid(const Emit& emit, const Value& x) {
  return emit.op("HardSigmoid", {x}, {{"alpha", 0.1875F}, {"beta", 0.5F}});
}
Value twice_less_one(const Emit& emit, const Value& p) { return emit.sub(emit.mul(p, 2), 1); }
Value times(const Emit& emit, const Value& x, double a) { return a == 1 ? x : emit.mul(x, a); }

/// round(x / step) within the range of so many bits, times step.
Value rounded(const Emit& emit, const Value& x, double step, double bits, bool is_signed, bool narrow) {
  return emit_uniform(emit, x, {emit.scalar(DType::float32, step), bits, is_signed, narrow, rounding(emit)});
}

// Steps of 2^(integer - fraction bits), one or one a channel.
Value steps(const Emit& emit, const Value& x, const Quantizer& q, double unsigned_bits) {
  std::vector<float> s = q.numbers("integer", 0);
  for (float& v : s) v = static_cast<float>(std::exp2(v - unsigned_bits));
  return factor(emit, s, x.ranked() ? x.rank() : 1);
}

Value with_alpha(const Emit& emit, const Value& y, const Alpha& alpha) {
  return alpha.one() ? y : emit.mul(y, factor(emit, alpha.values, y.ranked() ? y.rank() : 1));
}

void check_alpha(const Quantizer& q) {
  decline_if(q.alpha().from_data(), "the activation's quantizer ", q.name,
             " has alpha 'auto': its scale follows the data at inference; set alpha to a number, or to 1");
}

Value bits(const Emit& emit, const Value& x, const Quantizer& q) {
  check_alpha(q);
  const bool negative = q.flag("keep_negative", true);
  const double b = q.number("bits", 8), u = b - negative;
  Value y;
  if (u == 0)
    y = emit_bipolar(emit, x, emit.scalar(DType::float32, 1));
  else
    y = emit_uniform(emit, x,
                     {steps(emit, x, q, u), b, negative, negative && q.flag("symmetric", false), rounding(emit)});
  return with_alpha(emit, y, q.alpha());
}

// alpha is part of the step
Value linear(const Emit& emit, const Value& x, const Quantizer& q) {
  check_alpha(q);
  const bool negative = q.flag("keep_negative", true);
  const double b = q.number("bits", 8);
  std::vector<float> s = q.alpha().values;
  for (float& v : s) v *= static_cast<float>(std::exp2(q.number("integer", 0) - b + negative));
  if (b == 1 && negative) {
    for (float& v : s) v /= 2;
    return emit_bipolar(emit, x, factor(emit, s, x.rank()));
  }
  return emit_uniform(emit, x,
                      {factor(emit, s, x.rank()), b, negative, negative && q.flag("symmetric", true), rounding(emit)});
}

// m_i clip(round(2 p / ...)): 2 round(hs(x / m_i) m) / m - 1, in [0, 1 - 1/m]
Value relu_by_sigmoid(const Emit& emit, const Value& x, const Quantizer& q, double b, double mi) {
  decline_if(q.number("negative_slope", 0) != 0, "quantized_relu with use_sigmoid and a negative slope");
  const Value p = rounded(emit, hard_sigmoid(emit, times(emit, x, 1 / mi)), std::exp2(-b), b + 1, false, false);
  return times(emit, clip(emit, twice_less_one(emit, p), 0, 1 - std::exp2(-b)), mi);
}

Value relu(const Emit& emit, const Value& x, const Quantizer& q) {
  const double slope = q.number("negative_slope", 0), b = q.number("bits", 8);
  Value y;
  if (q.flag("use_sigmoid", false)) {
    y = relu_by_sigmoid(emit, x, q, b, std::exp2(q.number("integer", 0)));
  } else if (slope == 0) {
    y = emit_uniform(emit, emit.op("Relu", {x}), {steps(emit, x, q, b), b, false, false, rounding(emit)});
  } else {
    decline_if(slope < 0 || std::exp2(std::round(std::log2(slope))) != slope, "quantized_relu with the negative slope ",
               slope, ", which is no power of two");
    const double mi = std::exp2(q.number("integer", 0));
    // The bound is a multiple of the step, or less than one.
    const bool on_grid = slope * std::exp2(b - 1) >= 1;
    Value leaky = emit.op("LeakyRelu", {x}, {{"alpha", static_cast<float>(slope)}});
    if (on_grid) leaky = emit.maximum(leaky, -slope * mi);
    y = emit_uniform(emit, leaky, {steps(emit, x, q, b - 1), b, true, false, rounding(emit)});
    if (!on_grid) y = emit.maximum(y, -slope * mi);
  }
  // By default the bits alone bound it.
  if (q.has("relu_upper_bound") && !q.has("is_quantized_clip"))
    emit.call().warn(
        "QKeras does not store is_quantized_clip of quantized_relu: its relu_upper_bound is taken to be without "
        "effect, which is the default, as QKeras does when it loads the file");
  const bool bounded = q.has("relu_upper_bound") && !q.flag("is_quantized_clip", true);
  return bounded ? emit.minimum(y, q.number("relu_upper_bound", 0)) : y;
}

Value tanh(const Emit& emit, const Value& x, const Quantizer& q) {
  const double b = q.number("bits", 8);
  const Value p = q.flag("use_real_tanh", false) ? emit.op("Tanh", {x}) : twice_less_one(emit, hard_sigmoid(emit, x));
  const bool symmetric = q.flag("symmetric", false);
  if (b > 1) return rounded(emit, p, std::exp2(1 - b), b, true, symmetric);
  return clip(emit, rounded(emit, p, 1, 2, true, true), symmetric ? 0 : -1, 0);  // one bit: -1 and 0
}

Value sigmoid(const Emit& emit, const Value& x, const Quantizer& q) {
  const double b = q.number("bits", 8), step = std::exp2(-b);
  Value p = q.flag("use_real_sigmoid", false) ? emit.op("Sigmoid", {x}) : hard_sigmoid(emit, x);
  if (q.flag("symmetric", false)) p = emit.maximum(p, step);
  return rounded(emit, p, step, b, false, false);
}

// a sign(x) where |x| >= t, else 0
Value ternary(const Emit& emit, const Value& x, const Quantizer& q) {
  check_alpha(q);
  const auto t = static_cast<float>(q.number("threshold", 0.33));
  const Value outside = emit.op("Less", {emit.op("Abs", {x}), emit.scalar(DType::float32, t)});
  const Value y = emit.op("Where", {outside, emit.scalar(DType::float32, 0), emit.op("Sign", {x})});
  return with_alpha(emit, rounded(emit, y, 1, 2, true, true), q.alpha());
}

Value binary(const Emit& emit, const Value& x, const Quantizer& q) {
  check_alpha(q);
  const Value y = emit_bipolar(emit, x, emit.scalar(DType::float32, 1));
  return with_alpha(emit, q.flag("use_01", false) ? emit.mul(emit.add(y, 1), 0.5) : y, q.alpha());
}

// 2^e of a magnitude
Value power(const Emit& emit, const Value& magnitude, const Po2Range& r) {
  Value x = emit.maximum(magnitude, 1e-7F);
  if (r.max_value > 0) x = emit.minimum(x, r.max_value);
  if (r.quadratic) x = emit.op("Sqrt", {x});
  Value e = emit.div(emit.op("Log", {x}), std::log(2.0F));
  e = clip(emit, emit.op(r.floor ? "Floor" : "Round", {e}), r.low, r.high);
  if (r.quadratic) e = emit.mul(e, 2);
  const Value y = emit.op("Pow", {emit.scalar(DType::float32, 2), e});
  const Value tiny = emit.op("Less", {magnitude, emit.scalar(DType::float32, 1e-7F)});
  return emit.op("Where", {tiny, emit.scalar(DType::float32, std::exp2(r.low)), y});
}

Value po2(const Emit& emit, const Value& x, const Quantizer& q) {
  const Po2Range r = po2_range(q);
  const bool relu = q.name == "quantized_relu_po2";
  const double slope = relu ? q.number("negative_slope", 0) : 1;
  if (slope == 0) return power(emit, emit.op("Relu", {x}), r);
  const Value negative = emit.op("Less", {x, emit.scalar(DType::float32, 0)});
  const Value low = times(emit, emit.op("Relu", {emit.op("Neg", {x})}), slope);
  return emit.op("Where", {negative, emit.op("Neg", {power(emit, low, r)}), power(emit, emit.op("Relu", {x}), r)});
}

// mu-law: sign(p) log(1 + u |p|) / log(1 + u) of the rounded p
Value ulaw(const Emit& emit, const Value& x, const Quantizer& q) {
  const double b = q.number("bits", 8), mi = std::exp2(q.number("integer", 0)), m = std::exp2(b - 1),
               u = q.number("u", 255);
  const Value hs = hard_sigmoid(emit, times(emit, x, 1 / mi));
  const Value p = twice_less_one(emit, rounded(emit, hs, 1 / m, b, false, false));
  const Value law = emit.div(emit.op("Log", {emit.add(emit.mul(emit.op("Abs", {p}), u), 1)}), std::log1p(u));
  const Value y = clip(emit, emit.mul(emit.op("Sign", {p}), law), -1 + q.number("symmetric", 0) / m, 1 - 1 / m);
  return times(emit, y, mi);
}

// quantized_bits of x clip(x + 3, 0, 6) / 6
Value hswish(const Emit& emit, const Value& x, const Quantizer& q) {
  const double shift = q.number("relu_shift", 3), bound = q.number("relu_upper_bound", 6);
  return bits(emit, emit.div(emit.mul(x, clip(emit, emit.add(x, shift), 0, bound)), bound), q);
}

Value round_half_even(const Emit& emit, const Value& x) { return emit.op("Round", {x}); }

using Function = Value (*)(const Emit&, const Value&, const Quantizer&);
const std::map<std::string, Function, std::less<>> kQuantizers = {
    {"quantized_bits", bits},
    {"quantized_linear", linear},
    {"quantized_relu", relu},
    {"quantized_tanh", tanh},
    {"quantized_sigmoid", sigmoid},
    {"ternary", ternary},
    {"stochastic_ternary", ternary},
    {"binary", binary},
    {"stochastic_binary", binary},
    {"quantized_po2", po2},
    {"quantized_relu_po2", po2},
    {"quantized_ulaw", ulaw},
    {"quantized_hswish", hswish},
    {"hard_sigmoid", [](const Emit& e, const Value& x, const Quantizer&) { return hard_sigmoid(e, x); }},
    {"smooth_sigmoid", [](const Emit& e, const Value& x, const Quantizer&) { return smooth_sigmoid(e, x); }},
    {"binary_sigmoid",
     [](const Emit& e, const Value& x, const Quantizer&) { return round_half_even(e, hard_sigmoid(e, x)); }},
    {"hard_tanh",
     [](const Emit& e, const Value& x, const Quantizer&) { return twice_less_one(e, hard_sigmoid(e, x)); }},
    {"smooth_tanh",
     [](const Emit& e, const Value& x, const Quantizer&) { return twice_less_one(e, smooth_sigmoid(e, x)); }},
    {"binary_tanh", [](const Emit& e, const Value& x, const Quantizer&) {
       return twice_less_one(e, round_half_even(e, hard_sigmoid(e, x)));
     }}};

}  // namespace

Value emit_activation(const Emit& emit, const Value& x, const Quantizer& q) {
  decline_if(q.name == "bernoulli",
             "the quantizer bernoulli is random, also at inference; use binary or stochastic_binary");
  const auto it = kQuantizers.find(q.name);
  decline_if(it == kQuantizers.end(), "the quantizer '", q.name, "' is not known");
  decline_if(q.flag("use_stochastic_rounding", false) && q.number("qnoise_factor", 1) != 1,
             "stochastic rounding with noise");
  const double noise = q.number("qnoise_factor", 1);
  const Value y = it->second(emit, x, q);
  if (noise == 1) return y;
  const Value before = q.name == "quantized_relu"
                           ? emit.op("LeakyRelu", {x}, {{"alpha", static_cast<float>(q.number("negative_slope", 0))}})
                           : x;
  decline_if(q.name == "quantized_relu" && !q.has("relu_upper_bound"), "quantized_relu with qnoise_factor ", noise);
  return emit.add(before, emit.mul(emit.sub(y, before), noise));
}

}  // namespace gantry::quant
