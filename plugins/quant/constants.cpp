#include "constants.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace gantry::quant {

using sdk::decline;
using sdk::decline_if;
using Form = QuantizedWeight::Form;
using Floats = std::vector<float>;

namespace {

constexpr float kEpsilon = 1e-7F;

float round_po2(float x) {  // 2^RNE(log2 x)
  return std::exp2(std::nearbyint(std::log(x + kEpsilon) / std::log(2.0F)));
}
float sign(float x) { return x > 0 ? 1.0F : x < 0 ? -1.0F : 0.0F; }

/// Which scale an element has: one for each element of the last axis; of a vector, one in all or each its own.
struct Channels {
  std::size_t count;
  std::size_t of(std::size_t i) const { return i % count; }
};

// Least squares: the scale that brings q nearest to x.
Floats least_squares(const Floats& x, const Floats& q, const Channels& c, bool po2) {
  std::vector<double> xq(c.count), qq(c.count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    xq[c.of(i)] += static_cast<double>(x[i]) * q[i];
    qq[c.of(i)] += static_cast<double>(q[i]) * q[i];
  }
  const double n = static_cast<double>(x.size()) / static_cast<double>(c.count);
  Floats s(c.count);
  for (std::size_t k = 0; k < c.count; ++k) {
    s[k] = static_cast<float>(xq[k] / n) / (static_cast<float>(qq[k] / n) + kEpsilon);
    if (po2) s[k] = round_po2(s[k]);
  }
  return s;
}

Floats largest(const Floats& x, const Channels& c, bool absolute) {
  Floats m(c.count, absolute ? 0.0F : -INFINITY);
  for (std::size_t i = 0; i < x.size(); ++i) m[c.of(i)] = std::max(m[c.of(i)], absolute ? std::fabs(x[i]) : x[i]);
  return m;
}

std::size_t last(const sdk::Dims& dims) {
  return dims.empty() ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(dims.back(), 1));
}

Floats times(const Floats& q, const Floats& s) {
  Floats y(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) y[i] = q[i] * s[i % s.size()];
  return y;
}

void check_factor(const Floats& a, const sdk::Dims& dims, const Quantizer& q) {
  decline_if(a.size() != 1 && a.size() != last(dims), "alpha of ", q.name, " has ", a.size(), " numbers for ",
             last(dims), " channels");
  decline_if(!std::ranges::all_of(a, [](float v) { return v > 0; }), "alpha of ", q.name, " is not positive");
}

// ---- quantized_bits ----

QuantizedWeight bits_from_data(const Quantizer& q, const Floats& w, const sdk::Dims& dims, bool po2) {
  const double bits = q.number("bits", 8);
  const float m = static_cast<float>(std::exp2(q.number("integer", 0)));
  const auto most = static_cast<float>(std::exp2(bits - 1) - 1);  // levels on a side
  // keep_negative has no effect here. One bit leaves no level but zero, which 'auto' divides by.
  decline_if(bits < 2 && !po2, "quantized_bits(1) with alpha 'auto', which is not a number in QKeras");
  if (bits < 2) return {Form::quant, Floats(w.size(), 0), {1}, 2, true, true};
  // A vector's scale: the largest of it; the least squares one an element.
  const bool vector = dims.size() < 2;
  Channels c{vector ? 1 : last(dims)};
  Floats x(w);
  for (float& v : x) v /= m;
  Floats s = largest(x, c, true);
  for (float& v : s) v = v * 2.0F / (most * 2.0F);
  const auto integers = [&] {
    Floats z(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float v = std::floor(std::fabs(x[i]) / s[c.of(i)] + 0.5F);
      z[i] = sign(x[i]) * (v < most ? v : most);
      if (std::isnan(z[i])) z[i] = 0;
    }
    return z;
  };
  if (po2) {
    for (float& v : s) v = round_po2(v);
    for (int round = 0; round < 5; ++round) {
      const Floats z = integers();
      if (vector) c.count = x.size();
      s = least_squares(x, z, c, true);
    }
  }
  for (float& v : s)
    if (v == 0) v = 1;  // all are zero
  const Floats z = integers();
  Floats step(s);
  for (float& v : step) v *= m;
  return {Form::quant, times(z, step), step, bits, true, true};
}

QuantizedWeight bits(const Quantizer& q, const Floats& w, const sdk::Dims& dims) {
  const Alpha alpha = q.alpha();
  if (alpha.from_data()) return bits_from_data(q, w, dims, alpha.kind == Alpha::Kind::automatic_po2);
  const double b = q.number("bits", 8), integer = q.number("integer", 0);
  const bool negative = q.flag("keep_negative", true), symmetric = q.flag("symmetric", false);
  const double u = b - negative;
  const auto m = static_cast<float>(std::exp2(u)), mi = static_cast<float>(std::exp2(integer));
  const auto step = static_cast<float>(std::exp2(integer - u));
  check_factor(alpha.values, dims, q);
  Floats scale(alpha.values);
  if (u == 0) {
    decline_if(!negative, "quantized_bits without bits");
    return {Form::bipolar, {}, scale, 1, true, false};
  }
  for (float& a : scale) a *= step;
  QuantizedWeight out{Form::quant, {}, scale, b, negative, negative && symmetric};
  if (alpha.one()) return out;
  Floats z(w.size());
  for (std::size_t i = 0; i < w.size(); ++i)
    z[i] = mi * std::clamp(std::nearbyint(w[i] * m / mi), negative ? -m + (symmetric ? 1.0F : 0.0F) : 0.0F, m - 1) / m;
  out.values = times(z, alpha.values);
  return out;
}

// Quant clamps what is negative.
QuantizedWeight relu(const Quantizer& q, const Floats&, const sdk::Dims&) {
  const bool plain = q.number("negative_slope", 0) == 0 && !q.flag("use_sigmoid", false) &&
                     (!q.has("relu_upper_bound") || q.flag("is_quantized_clip", true));
  if (!plain) return {};
  const double b = q.number("bits", 8);
  return {Form::quant, {}, {static_cast<float>(std::exp2(q.number("integer", 0) - b))}, b, false, false};
}

// ---- quantized_linear ----

QuantizedWeight linear(const Quantizer& q, const Floats& w, const sdk::Dims& dims) {
  const double b = q.number("bits", 8);
  const bool negative = q.flag("keep_negative", true), symmetric = q.flag("symmetric", true),
             one_bit = b == 1 && negative;
  const auto u = static_cast<float>(std::exp2(b - negative));
  const float low = one_bit ? -0.5F : negative ? -u + (symmetric ? 1.0F : 0.0F) : 0.0F, high = one_bit ? 0.5F : u - 1;
  const auto step = static_cast<float>(std::exp2(q.number("integer", 0) - b + negative));
  const Alpha alpha = q.alpha();
  Floats s(alpha.values);
  for (float& v : s) v *= step;
  const auto integers = [&](const Channels& c) {
    const float shift = one_bit ? 0.5F : 0.0F;
    Floats z(w.size());
    for (std::size_t i = 0; i < w.size(); ++i)
      z[i] = std::nearbyint(std::clamp(w[i] / s[c.of(i)], low, high) - shift) + shift;
    return z;
  };
  if (alpha.from_data()) {
    const Channels c{last(dims)};
    s = largest(w, c, negative);
    for (float& v : s) v = std::max((negative ? v * 2 : v) / (high - low), kEpsilon);
    if (alpha.kind == Alpha::Kind::automatic_po2) {
      for (float& v : s) v = round_po2(v);
      for (int round = 0; round < (one_bit ? 1 : 5); ++round) {
        const Floats before = s;
        s = least_squares(w, integers(c), c, true);
        if (s == before) break;
      }
    }
  } else {
    check_factor(alpha.values, dims, q);
  }
  const Channels c{s.size()};
  const Floats z = integers(c);
  if (one_bit) {
    Floats half(s);
    for (float& v : half) v /= 2;
    return {Form::bipolar, times(z, s), half, 1, true, false};
  }
  return {Form::quant, times(z, s), s, b, negative, negative && symmetric};
}

// ---- ternary, binary ----

QuantizedWeight ternary(const Quantizer& q, const Floats& w, const sdk::Dims& dims) {
  const Alpha alpha = q.alpha();
  const Channels c{alpha.from_data() ? (dims.size() < 2 ? 1 : last(dims)) : 1};
  const bool po2 = alpha.kind == Alpha::Kind::automatic_po2;
  Floats z(w.size()), s;
  if (!alpha.from_data()) {
    check_factor(alpha.values, dims, q);
    const auto t = static_cast<float>(q.number("threshold", 0.33));
    for (std::size_t i = 0; i < w.size(); ++i) z[i] = std::fabs(w[i]) >= t ? sign(w[i]) : 0.0F;
    s = alpha.values;
  } else {
    s = largest(w, c, true);
    for (float& v : s) v = po2 ? round_po2(2.0F * v / 3.0F) : 2.0F * v / 3.0F;
    Channels now = c;
    const int unrolls = static_cast<int>(std::clamp(q.number("number_of_unrolls", 5), 0.0, 100.0));
    for (int round = 0; round < unrolls; ++round) {
      for (std::size_t i = 0; i < w.size(); ++i) {
        const float v = s[now.of(i)] * std::nearbyint(w[i] / s[now.of(i)]);
        z[i] = std::fabs(v) >= s[now.of(i)] / 2 ? sign(w[i]) : 0.0F;
      }
      if (dims.size() < 2) now.count = w.size();  // of a vector: one an element
      s = least_squares(w, z, now, po2);
    }
  }
  const Floats values = times(z, s);
  for (float& v : s)
    if (!(v > 0)) v = 1;  // where all are zero
  return {Form::quant, values, s, 2, true, true};
}

QuantizedWeight binary(const Quantizer& q, const Floats& w, const sdk::Dims& dims) {
  const Alpha alpha = q.alpha();
  const bool zero_one = q.flag("use_01", false);
  Floats z(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) z[i] = w[i] >= 0 ? 1.0F : zero_one ? 0.0F : -1.0F;
  Floats s = alpha.values;
  if (alpha.from_data())
    s = least_squares(w, z, {dims.size() < 2 ? w.size() : last(dims)}, alpha.kind == Alpha::Kind::automatic_po2);
  else
    check_factor(s, dims, q);
  const bool positive = std::ranges::all_of(s, [](float v) { return v > 0; });
  if (!positive) return {Form::plain, times(z, s), s, 1, true, false};
  if (zero_one) return {Form::quant, times(z, s), s, 1, false, false};
  return {Form::bipolar, times(z, s), s, 1, true, false};
}

// ---- powers of two ----

float po2_of(float magnitude, const Po2Range& r) {
  float e;
  if (magnitude < kEpsilon) {
    e = static_cast<float>(r.low);
  } else {
    if (r.max_value > 0 && magnitude >= static_cast<float>(r.max_value)) magnitude = static_cast<float>(r.max_value);
    const float x = r.quadratic ? std::sqrt(magnitude) : magnitude;
    const float log = std::log(x) / std::log(2.0F);
    e = std::clamp(r.floor ? std::floor(log) : std::nearbyint(log), static_cast<float>(r.low),
                   static_cast<float>(r.high));
    if (r.quadratic) e *= 2;
  }
  return std::exp2(e);
}

QuantizedWeight po2(const Quantizer& q, const Floats& w, const sdk::Dims&) {
  const Po2Range r = po2_range(q);
  const bool relu = q.name == "quantized_relu_po2";
  const auto slope = static_cast<float>(relu ? q.number("negative_slope", 0) : 1);
  Floats values(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w[i] >= 0 || slope == 0)
      values[i] = po2_of(std::max(w[i], 0.0F), r);
    else
      values[i] = -po2_of(-w[i] * slope, r);
  }
  const double bits = r.highest() - r.lowest() + 2;
  if (bits > 31) return {Form::plain, values, {1}, bits, true, false};
  return {Form::quant, values, {static_cast<float>(std::exp2(r.lowest()))}, bits, true, true};
}

using Function = QuantizedWeight (*)(const Quantizer&, const Floats&, const sdk::Dims&);
const std::map<std::string, Function, std::less<>> kFunctions = {
    {"quantized_bits", bits},      {"quantized_linear", linear},    {"quantized_relu", relu},
    {"ternary", ternary},          {"stochastic_ternary", ternary}, {"binary", binary},
    {"stochastic_binary", binary}, {"quantized_po2", po2},          {"quantized_relu_po2", po2}};

}  // namespace

Po2Range po2_range(const Quantizer& q) {
  Po2Range r;
  r.quadratic = q.flag("quadratic_approximation", false);
  r.max_value = q.number("max_value", 0);
  r.floor = q.has("log2_rounding") && q.config["log2_rounding"] == "floor";
  const double sign_bit = q.name == "quantized_po2" ? 1 : 0;
  const double exponent_sign = r.max_value == 0 || r.max_value > 1 ? 1 : 0;
  const double k = q.number("bits", 8) - sign_bit - exponent_sign;
  r.low = -std::exp2(k);
  r.high = std::exp2(k) - 1;
  if (r.quadratic) r.high = 2 * std::floor(r.high / 2);
  return r;
}

QuantizedWeight quantize(const Quantizer& q, const Floats& w, const sdk::Dims& dims) {
  decline_if(q.name == "bernoulli",
             "the quantizer bernoulli is random, also at inference; use binary or stochastic_binary");
  decline_if(q.number("qnoise_factor", 1) != 1, "the quantizer ", q.name, " of a weight with qnoise_factor ",
             q.number("qnoise_factor", 1), ", which quantizes in part only; set it to 1");
  const auto it = kFunctions.find(q.name);
  return it == kFunctions.end() ? QuantizedWeight{} : it->second(q, w, dims);
}

Floats quantized_values(const Quantizer& q, const Floats& w, const sdk::Dims& dims) {
  QuantizedWeight y = quantize(q, w, dims);
  if (y.form == Form::other) decline("the quantizer ", q.name, " of a weight that is folded");
  if (!y.values.empty() || w.empty()) return y.values;
  Floats out(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    const float s = y.step[i % y.step.size()];
    const auto most = static_cast<float>(std::exp2(y.bits - y.is_signed));
    if (y.form == Form::bipolar)
      out[i] = w[i] >= 0 ? s : -s;
    else
      out[i] =
          std::clamp(std::nearbyint(w[i] / s), y.is_signed ? -most + (y.narrow ? 1.0F : 0.0F) : 0.0F, most - 1) * s;
  }
  return out;
}

}  // namespace gantry::quant
