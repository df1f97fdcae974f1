// Div, Mod and Pow of integers. Operators: ONNX operator specification, ai.onnx.
#include "integers.hpp"

#include <limits>

#include "casts.hpp"

namespace core_ops {

Value widen(const Emit& emit, const Value& v) {
  return v.dtype() == DType::uint64 ? bitcast(emit, v, DType::int64) : emit.cast(v, computed_in(v.dtype()));
}

Value narrow(const Emit& emit, const Value& v, DType to) {
  return to == DType::uint64 ? bitcast(emit, v, to) : emit.cast(v, to);
}

namespace {

Value lowest(const Emit& emit) { return emit.constant<std::int64_t>({}, {std::numeric_limits<std::int64_t>::min()}); }

}  // namespace

Value order_key(const Emit& emit, const Value& v) {
  const Value wide = widen(emit, v);
  return v.dtype() == DType::uint64 ? emit.add(wide, lowest(emit)) : wide;
}

Value from_order_key(const Emit& emit, const Value& v, DType to) {
  return narrow(emit, to == DType::uint64 ? emit.add(v, lowest(emit)) : v, to);
}

/// Each round adds the quotient of what is left, as float32 knows it: the error shrinks by 2^22 a round, and the
/// quotient of the last is exact once it is below 2^21. Products wrap, but what is left does not.
Value divide_exactly(const Emit& emit, const Value& a, const Value& b, int bits) {
  const Value divisor = emit.cast(b, DType::float32);
  Value quotient, left = a;
  for (;;) {
    const Value part = emit.cast(emit.op("ROUND", {emit.div(emit.cast(left, DType::float32), divisor)}), DType::int64);
    quotient = quotient ? emit.add(quotient, part) : part;
    if (bits <= 21) return quotient;
    left = emit.sub(left, emit.mul(part, b));
    bits -= 21;
  }
}

namespace {

/// Remainder with the sign of a, of int32 or int64. FLOOR_MOD's has the sign of b.
Value remainder_toward_zero(const Emit& emit, const Value& a, const Value& b) {
  const Value r = emit.op("FLOOR_MOD", {a, b});
  const Value zero = emit.scalar(a.dtype(), 0);
  const Value differ = emit.op("NOT_EQUAL", {is_negative(emit, a), is_negative(emit, b)});
  const Value off = emit.op("LOGICAL_AND", {differ, emit.op("NOT_EQUAL", {r, zero})});
  return emit.sub(r, select(emit, off, b, emit.mul(b, zero)));
}

/// a and b are int64 with the bits of uint64. b >= 2^63 goes once or not at all into a; else the half of a is divided,
/// and one more b may fit: Hacker's Delight, 9-3.
Value divide_unsigned(const Emit& emit, const Value& a, const Value& b) {
  const Value one = emit.scalar(DType::int64, 1), low = lowest(emit);
  const auto at_least = [&](const Value& x, const Value& y) {
    return emit.cast(emit.op("GREATER_EQUAL", {emit.add(x, low), emit.add(y, low)}), DType::int64);
  };
  const Value huge = is_negative(emit, b), divisor = select(emit, huge, one, b), half = half_unsigned(emit, a);
  const Value rest = emit.op("FLOOR_MOD", {half, divisor});
  const Value twice = emit.mul(divide_exactly(emit, emit.sub(half, rest), divisor, 63), 2);
  const Value left = emit.sub(a, emit.mul(twice, divisor));
  return select(emit, huge, at_least(a, b), emit.add(twice, at_least(left, divisor)));
}

}  // namespace

Value half_unsigned(const Emit& emit, const Value& x) {
  const Value two = emit.scalar(DType::int64, 2);
  const Value half = divide_exactly(emit, emit.sub(x, emit.op("FLOOR_MOD", {x, two})), two, 63);
  return select(emit, is_negative(emit, half), emit.add(half, lowest(emit)), half);
}

Value divide_integers(const Emit& emit, const Value& a, const Value& b) {
  const DType t = a.dtype();
  const Value x = widen(emit, a), y = widen(emit, b);
  if (x.dtype() == DType::int32) return narrow(emit, emit.div(x, y), t);
  if (t == DType::uint64) return narrow(emit, divide_unsigned(emit, x, y), t);
  if (t == DType::uint32)
    return narrow(emit, divide_exactly(emit, emit.sub(x, emit.op("FLOOR_MOD", {x, y})), y, 32), t);
  return divide_exactly(emit, emit.sub(x, remainder_toward_zero(emit, x, y)), y, 63);
}

Value remainder_of_integers(const Emit& emit, const Value& a, const Value& b, bool floor) {
  const DType t = a.dtype();
  const Value x = widen(emit, a), y = widen(emit, b);
  if (t == DType::uint64) return narrow(emit, emit.sub(x, emit.mul(divide_unsigned(emit, x, y), y)), t);
  return narrow(emit, floor ? emit.op("FLOOR_MOD", {x, y}) : remainder_toward_zero(emit, x, y), t);
}

/// Mod: with fmod = 0 the result has the divisor's sign, as FLOOR_MOD; with fmod = 1 the dividend's, as C's fmod.
GANTRY_CONVERT(onnx, "Mod", since(10), to(tflite)) {
  const Value a = node.in(0), b = node.in(1);
  const bool floor = node.attr("fmod", 0) == 0;
  if (is_integer(a.dtype())) return remainder_of_integers(emit, a, b, floor);
  if (floor) return emit.op("FLOOR_MOD", {a, b});
  const Value q = emit.op("FLOOR_MOD", {emit.op("ABS", {a}), emit.op("ABS", {b})});
  return emit.mul(q, emit.op("SIGN", {a}));
}

GANTRY_CONVERT(onnx, "Div", since(7), to(tflite)) {
  const Value a = node.in(0), b = node.in(1);
  return is_integer(a.dtype()) ? divide_integers(emit, a, b) : emit.div(a, b);
}

namespace {

/// x^y by squares, y >= 0 and below 64, of int32; x of int32 or int64.
Value power_by_squares(const Emit& emit, const Value& x, Value y) {
  const Value one = emit.scalar(x.dtype(), 1), two = emit.scalar(DType::int32, 2);
  Value square = x, product;
  for (int bit = 0; bit < 6; ++bit) {
    const Value odd = emit.op("EQUAL", {emit.op("FLOOR_MOD", {y, two}), emit.scalar(DType::int32, 1)});
    const Value factor = select(emit, odd, square, one);
    product = product ? emit.mul(product, factor) : factor;
    if (bit < 5) y = emit.op("FLOOR_DIV", {y, two}), square = emit.mul(square, square);
  }
  return product;
}

/// x^y of integers. Exponents from 64 on matter for 0, 1 and -1 only, and so their last bit; negative ones give 0 but
/// for 1 and -1.
Value integer_power(const Emit& emit, const Value& x, const Value& y) {
  const Value wide = widen(emit, x), exponent = order_key(emit, y);
  const Value e = emit.cast(emit.maximum(exponent, -64), DType::int64), two = emit.scalar(DType::int64, 2);
  const Value size = emit.maximum(e, emit.op("NEG", {e}));
  const Value bounded = emit.cast(emit.minimum(size, emit.add(emit.op("FLOOR_MOD", {size, two}), 62)), DType::int32);
  const Value power = power_by_squares(emit, wide, bounded);
  if (is_unsigned(y.dtype())) return narrow(emit, power, x.dtype());
  const Value unit = emit.op("EQUAL", {emit.mul(wide, wide), emit.scalar(wide.dtype(), 1)});
  const Value inverse = select(emit, unit, power, emit.mul(power, 0));
  return narrow(emit, select(emit, is_negative(emit, e), inverse, power), x.dtype());
}

/// A small constant exponent as products.
std::optional<Value> constant_power(const Emit& emit, const Value& x, double e) {
  if (e == 1) return x;
  if (e == 2) return emit.mul(x, x);
  if (e == 3) return emit.mul(emit.mul(x, x), x);
  if (is_integer(x.dtype())) return std::nullopt;
  if (e == 0.5) return emit.op("SQRT", {x});
  if (e == -0.5) return emit.op("RSQRT", {x});
  if (e == -1) return emit.div(1, x);
  return std::nullopt;
}

}  // namespace

/// Pow: small constant exponents have operators of their own, exact where POW goes through exp and log. Of integers the
/// power is exact too; a float exponent of an integer that is no whole number goes through float32 and toward zero.
GANTRY_CONVERT(onnx, "Pow", since(7), to(tflite)) {
  const Value x = node.in(0), y = node.in(1);
  if (y.constant() && y.is_static() && y.elements() == 1 && y.rank() <= x.rank())
    if (const auto power = constant_power(emit, x, y.scalar<double>())) return *power;
  if (!is_integer(x.dtype())) return emit.pow(x, convert(emit, y, x.dtype()));
  decline_if(y.dtype() == DType::uint64, "an exponent of type uint64");
  if (is_integer(y.dtype())) return integer_power(emit, x, y);
  decline_if(x.dtype() == DType::uint64, "a float power of uint64");
  const Value e = emit.cast(y, DType::float32), whole = emit.op("ROUND", {e});
  const Value exact = integer_power(emit, x, emit.cast(whole, DType::int64));
  const Value power = emit.pow(emit.cast(widen(emit, x), DType::float32), e), near = emit.op("ROUND", {power});
  const Value gap = emit.op("ABS", {emit.sub(power, near)}), slack = emit.mul(emit.op("ABS", {power}), 5e-7);
  const Value rounded = select(emit, emit.op("LESS_EQUAL", {gap, slack}), near, power);
  const Value rest = narrow(emit, emit.cast(rounded, computed_in(x.dtype())), x.dtype());
  return select(emit, emit.op("EQUAL", {e, whole}), exact, rest);
}

}  // namespace core_ops
