// Trigonometric and hyperbolic functions that TFLite has no operator for. Each is written so that nothing cancels and
// nothing overflows before its result does; where a formula is bad near 0 the Taylor series takes over.
// Operators: ONNX operator specification, ai.onnx.
#include <array>

#include "integers.hpp"

namespace core_ops {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

Value magnitude(const Emit& emit, const Value& x) { return emit.op("ABS", {x}); }
Value below(const Emit& emit, const Value& a, double bound) {
  return emit.op("LESS", {a, emit.scalar(a.dtype(), bound)});
}

/// x + c0 x^3 + c1 x^5 + ...
template <std::size_t N>
Value odd_series(const Emit& emit, const Value& x, const std::array<double, N>& c) {
  const Value square = emit.mul(x, x);
  Value sum = emit.mul(square, c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = emit.mul(emit.add(sum, c[i]), square);
  return emit.add(x, emit.mul(x, sum));
}

/// sqrt((1 - x) (1 + x))
Value cosine_of_arcsine(const Emit& emit, const Value& x) {
  return emit.op("SQRT", {emit.mul(emit.sub(1, x), emit.add(1, x))});
}

/// log(1 + s), s >= 0 and finite: log(u) s / (u - 1) with u = 1 + s rounded (Goldberg 1991, theorem 4).
Value log_of_one_plus(const Emit& emit, const Value& s) {
  const Value u = emit.add(s, 1), d = emit.sub(u, 1);
  const Value tiny = emit.op("EQUAL", {d, emit.scalar(d.dtype(), 0)});
  return select(emit, tiny, s, emit.mul(emit.op("LOG", {u}), emit.div(s, d)));
}

/// exp(|x| / 2): its square is exp(|x|), which would overflow before sinh and cosh do.
Value root_of_exp(const Emit& emit, const Value& x) { return emit.op("EXP", {emit.mul(magnitude(emit, x), 0.5)}); }

}  // namespace

GANTRY_CONVERT(onnx, "Tan", since(7), to(tflite)) {
  return emit.div(emit.op("SIN", {node.in(0)}), emit.op("COS", {node.in(0)}));
}
GANTRY_CONVERT(onnx, "Atan", since(7), to(tflite)) {
  const Value x = node.in(0);
  return emit.op("ATAN2", {x, emit.add(emit.mul(emit.op("SIGN", {x}), 0), 1)});
}
GANTRY_CONVERT(onnx, "Asin", since(7), to(tflite)) {
  return emit.op("ATAN2", {node.in(0), cosine_of_arcsine(emit, node.in(0))});
}
GANTRY_CONVERT(onnx, "Acos", since(7), to(tflite)) {
  return emit.op("ATAN2", {cosine_of_arcsine(emit, node.in(0)), node.in(0)});
}

/// sinh(x) = (h / 2) h - (0.5 / h) / h with h = exp(|x| / 2), and the sign of x.
GANTRY_CONVERT(onnx, "Sinh", since(9), to(tflite)) {
  const Value x = node.in(0), h = root_of_exp(emit, x);
  const Value size = emit.sub(emit.mul(emit.mul(h, 0.5), h), emit.div(emit.div(0.5, h), h));
  const Value series = odd_series(emit, x, std::array{1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880});
  return select(emit, below(emit, magnitude(emit, x), 0.5), series, emit.mul(size, emit.op("SIGN", {x})));
}
GANTRY_CONVERT(onnx, "Cosh", since(9), to(tflite)) {
  const Value h = root_of_exp(emit, node.in(0));
  return emit.add(emit.mul(emit.mul(h, 0.5), h), emit.div(emit.div(0.5, h), h));
}

/// atanh(x) = log((1 + x) / (1 - x)) / 2
GANTRY_CONVERT(onnx, "Atanh", since(9), to(tflite)) {
  const Value x = node.in(0);
  const Value far = emit.mul(emit.op("LOG", {emit.div(emit.add(x, 1), emit.sub(1, x))}), 0.5);
  const Value series = odd_series(emit, x, std::array{1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9});
  return select(emit, below(emit, magnitude(emit, x), 0.25), series, far);
}

/// asinh(x) = log(|x| + sqrt(x^2 + 1)) with the sign of x; log(2 |x|) where x^2 + 1 is x^2.
GANTRY_CONVERT(onnx, "Asinh", since(9), to(tflite)) {
  const Value x = node.in(0), a = magnitude(emit, x);
  const Value middle = emit.op("LOG", {emit.add(a, emit.op("SQRT", {emit.add(emit.mul(a, a), 1)}))});
  const Value far = emit.add(emit.op("LOG", {a}), kLn2);
  const Value series = odd_series(emit, x, std::array{-1.0 / 6, 3.0 / 40, -15.0 / 336, 105.0 / 3456});
  const Value size = select(emit, below(emit, a, 1e4), middle, far);
  return select(emit, below(emit, a, 0.25), series, emit.mul(size, emit.op("SIGN", {x})));
}

/// acosh(x) = log(1 + t + sqrt(t) sqrt(t + 2)) with t = x - 1, which is exact near 1; nothing below it.
GANTRY_CONVERT(onnx, "Acosh", since(9), to(tflite)) {
  const Value x = node.in(0), t = emit.sub(x, 1);
  const Value near =
      log_of_one_plus(emit, emit.add(t, emit.mul(emit.op("SQRT", {t}), emit.op("SQRT", {emit.add(t, 2)}))));
  return select(emit, below(emit, x, 1e4), near, emit.add(emit.op("LOG", {x}), kLn2));
}

}  // namespace core_ops
