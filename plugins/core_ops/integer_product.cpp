// Products of quantized matrices and convolutions, in terms of float32 MatMul and Conv: MatMulInteger, ConvInteger,
// QLinearMatMul, QLinearConv. Sums of integers are exact in float32 while they stay below 2^24. Where they may not, an
// operand is split, x = 16 * high + low, and the parts' sums are joined in int32. Operators: ONNX operator
// specification.
#include <algorithm>
#include <cmath>
#include <functional>

#include "quantization.hpp"

namespace core_ops {
namespace {

constexpr double kExact = 1 << 24;

/// Integers as float32 with the zero point off, and what they can be.
struct Factor {
  Value v;
  double largest = 255;  // of |v|
  double row_sum = -1;   // greatest sum of |v| that goes into one result, where v is constant
};

double largest_magnitude(DType t, const Value& zero_point) {
  const auto [lowest, highest] = quantized_range(t);
  if (zero_point && !zero_point.constant()) return highest - lowest;
  double m = zero_point ? 0 : std::max(-lowest, highest);
  if (zero_point)
    for (double z : zero_point.read<double>()) m = std::max({m, z - lowest, highest - z});
  return m;
}

Factor factor(const Emit& emit, const Value& x, const Value& zero_point) {
  Factor f;
  f.v = emit.cast(x, DType::float32);
  f.largest = largest_magnitude(x.dtype(), zero_point);
  if (!zero_point) return f;
  const bool scalar = zero_point.constant() && zero_point.elements() == 1;
  if (scalar && zero_point.read<float>()[0] == 0) return f;
  if (scalar && x.constant() && x.rank() > 0)
    f.v = emit.shift_constant(f.v, 0,
                              std::vector<float>(static_cast<std::size_t>(x.dim(0)), -zero_point.read<float>()[0]));
  else
    f.v = emit.sub(f.v, emit.cast(zero_point, DType::float32));
  return f;
}

using Product = std::function<Value(const Value&, const Value&)>;

struct Halves {
  Value high, low;
};
Halves split(const Emit& emit, const Value& v) {
  const Value high = emit.op("Floor", {emit.mul(v, 1.0 / 16)});
  return {high, emit.sub(v, emit.mul(high, 16))};
}

/// product(a, b) with `terms` terms a sum, in int32.
Value exact_product(const Emit& emit, const Factor& a, const Factor& b, std::int64_t terms, const Product& product) {
  const double n = static_cast<double>(terms), sum = b.row_sum >= 0 ? b.row_sum : n * b.largest;
  const auto whole = [&](const Value& x, const Value& y) { return emit.cast(product(x, y), DType::int32); };
  if (a.largest * sum < kExact) return whole(a.v, b.v);
  const auto join = [&](const Value& high, const Value& low) { return emit.add(emit.mul(high, 16), low); };
  const Halves x = split(emit, a.v);
  if (16 * sum < kExact) return join(whole(x.high, b.v), whole(x.low, b.v));
  decline_if(16 * 16 * n >= kExact, "sums of ", terms,
             " products are beyond what is exact in float32, 2^24, even in parts");
  const Halves y = split(emit, b.v);
  return join(join(whole(x.high, y.high), whole(x.high, y.low)), join(whole(x.low, y.high), whole(x.low, y.low)));
}

/// A parameter of each row of a matrix, or of each column, shaped to broadcast against it.
Value row_parameter(const Emit& emit, const Value& p) {
  if (!p || p.rank() != 1) return p;
  return p.dim(0) == 1 ? emit.reshape(p, {}) : emit.reshape(p, {p.dim(0), 1});
}
Value column_parameter(const Emit& emit, const Value& p) {
  return p && p.rank() == 1 && p.dim(0) == 1 ? emit.reshape(p, {}) : p;
}

/// In terms of ONNX operators: (a - a_zero)(b - b_zero) in int32, always exact.
Value exact_matmul(const Emit& emit, const Value& a, const Value& a_zero, const Value& b, const Value& b_zero) {
  decline_if(a.rank() < 1 || b.rank() < 1, "a scalar operand");
  const std::int64_t terms = a.dim(-1) >= 0 ? a.dim(-1) : b.dim(b.rank() > 1 ? -2 : -1);
  decline_if(terms < 0, "the length of the sums is not known; give input shapes with --shape");
  Factor x = factor(emit, a, row_parameter(emit, a_zero)), y = factor(emit, b, column_parameter(emit, b_zero));
  if (b.constant() && y.v.constant() && b.rank() == 2) {
    const std::vector<float> list = y.v.read<float>();
    std::vector<double> sums(static_cast<std::size_t>(b.dim(1)));
    for (std::size_t i = 0; i < list.size(); ++i) sums[i % sums.size()] += std::abs(static_cast<double>(list[i]));
    y.row_sum = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  }
  return exact_product(emit, x, y, terms, [&](const Value& l, const Value& r) { return emit.op("MatMul", {l, r}); });
}

// ---- convolutions ----

Value exact_conv(const Node& node, const Emit& emit, const Value& x, const Value& x_zero, const Value& w,
                 Value w_zero) {
  const Dims filter = w.static_dims();
  decline_if(filter.size() < 3, "weights of rank ", filter.size());
  std::int64_t terms = 1;
  for (std::size_t i = 1; i < filter.size(); ++i) terms *= filter[i];
  if (w_zero && w_zero.rank() == 1) {
    Dims dims(filter.size(), 1);
    dims[0] = w_zero.dim(0);
    w_zero = w_zero.dim(0) == 1 ? emit.reshape(w_zero, {}) : emit.reshape(w_zero, dims);
  }
  Value x_zero_scalar = x_zero;
  if (x_zero && x_zero.rank() == 1) x_zero_scalar = emit.reshape(x_zero, {});
  const Factor a = factor(emit, x, x_zero_scalar);
  Factor b = factor(emit, w, w_zero);
  if (b.v.constant() && terms > 0) {
    const std::vector<float> list = b.v.read<float>();
    double top = 0;
    for (std::size_t o = 0; o < list.size(); o += static_cast<std::size_t>(terms)) {
      double sum = 0;
      for (std::int64_t k = 0; k < terms; ++k)
        sum += std::abs(static_cast<double>(list[o + static_cast<std::size_t>(k)]));
      top = std::max(top, sum);
    }
    b.row_sum = top;
  }
  const Attributes attributes = attributes_of(node);
  return exact_product(emit, a, b, terms,
                       [&](const Value& l, const Value& r) { return emit.op("Conv", {l, r}, attributes); });
}

/// x_scale * w_scale / y_scale in float32, a constant where they are.
Value factor_of_scales(const Emit& emit, const Value& x, const Value& w, const Value& y) {
  const Value a = in_float32(emit, x), b = in_float32(emit, w), c = in_float32(emit, y);
  if (a.constant() && b.constant() && c.constant() && a.elements() == 1 && c.elements() == 1) {
    std::vector<float> m = b.read<float>();
    for (float& s : m) s = a.read<float>()[0] * s / c.read<float>()[0];
    return emit.constant<float>(b.dims(), m);
  }
  return emit.div(emit.mul(a, b), c);
}

Value requantize(const Emit& emit, const Value& sums, const Value& factor, Value zero_point, DType t) {
  const Value scaled = emit.mul(emit.cast(sums, DType::float32), factor);
  if (zero_point && zero_point.rank() == 1) zero_point = emit.reshape(zero_point, {});
  return emit.op("QuantizeLinear",
                 {scaled, emit.scalar(DType::float32, 1), zero_point ? zero_point : emit.scalar(t, 0)});
}

}  // namespace

/// int32: (A - a_zero_point)(B - b_zero_point)
GANTRY_UPGRADE(onnx, "MatMulInteger", since(10)) {
  return exact_matmul(emit, node.in(0), node.in(2), node.in(1), node.in(3));
}

/// int32: Conv(x - x_zero_point, w - w_zero_point)
GANTRY_UPGRADE(onnx, "ConvInteger", since(10)) {
  return exact_conv(node, emit, node.in(0), node.in(2), node.in(1), node.in(3));
}

/// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
GANTRY_UPGRADE(onnx, "QLinearMatMul", since(10)) {
  const Value y_scale = column_parameter(emit, node.in(6));
  decline_if(!y_scale.is_static() || y_scale.elements() != 1, "y_scale of several elements");
  const Value sums = exact_matmul(emit, node.in(0), node.in(2), node.in(3), node.in(5));
  const Value factor =
      factor_of_scales(emit, row_parameter(emit, node.in(1)), column_parameter(emit, node.in(4)), y_scale);
  return requantize(emit, sums, factor, node.in(7), node.in(7).dtype());
}

/// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B (int32, of scale x_scale * w_scale)
GANTRY_UPGRADE(onnx, "QLinearConv", since(10)) {
  const Value x = node.in(0);
  Value sums = exact_conv(node, emit, x, node.in(2), node.in(3), node.in(5));
  Dims channels(static_cast<std::size_t>(x.rank() - 1), 1);
  if (const Value bias = node.in(8)) {
    channels[0] = bias.dim(0);
    sums = emit.add(sums, emit.reshape(bias, channels));
  }
  Value w_scale = node.in(4), x_scale = node.in(1), y_scale = node.in(6);
  if (w_scale.rank() == 1) {
    channels[0] = w_scale.dim(0);
    w_scale = w_scale.dim(0) == 1 ? emit.reshape(w_scale, {}) : emit.reshape(w_scale, channels);
  }
  if (x_scale.rank() == 1) x_scale = emit.reshape(x_scale, {});
  if (y_scale.rank() == 1) y_scale = emit.reshape(y_scale, {});
  return requantize(emit, sums, factor_of_scales(emit, x_scale, w_scale, y_scale), node.in(7), node.in(7).dtype());
}

}  // namespace core_ops
