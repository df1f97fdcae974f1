// Folding of element by element operators. Operators: ONNX operator specification, ai.onnx.
#include <cmath>

#include "fold.hpp"

namespace core_ops {
namespace {

using Float1 = double (*)(double);
using Float2 = double (*)(double, double);
using Int2 = std::int64_t (*)(std::int64_t, std::int64_t);

template <class T, class F>
Value broadcast_fold(const Node& node, const Emit& emit, F f) {
  const Value a = node.in(0), b = node.in(1);
  const Dims dims = broadcast(a.static_dims(), b.static_dims());
  const auto x = elements<T>(a), y = elements<T>(b);
  std::vector<T> out(static_cast<std::size_t>(count_of(dims)));
  const std::array<Dims, 2> strides{broadcast_strides(a.dims(), dims), broadcast_strides(b.dims(), dims)};
  for_each_element(dims, strides, [&](std::int64_t i, const auto& at) {
    out[static_cast<std::size_t>(i)] =
        static_cast<T>(f(x[static_cast<std::size_t>(at[0])], y[static_cast<std::size_t>(at[1])]));
  });
  return make(emit, node.out().dtype(), dims, out);
}

template <Float2 F, Int2 I>
Results fold_binary(const Node& node, const Emit& emit) {
  return is_float(node.in(0).dtype()) ? broadcast_fold<double>(node, emit, F)
                                      : broadcast_fold<std::int64_t>(node, emit, I);
}
/// Any number of operands (Max, Min, Sum).
template <Float2 F, Int2 I>
Results fold_variadic(const Node& node, const Emit& emit) {
  if (node.in_count() == 1) return node.in(0);
  decline_if(node.in_count() != 2, "folding of more than two operands");
  return fold_binary<F, I>(node, emit);
}

template <Float1 F>
Results fold_unary(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  std::vector<double> v = elements<double>(x);
  for (double& e : v) e = F(e);
  return make(emit, x.dtype(), x.dims(), v);
}

// Wrapping integer arithmetic.
std::int64_t wrap(std::uint64_t v) { return static_cast<std::int64_t>(v); }
std::uint64_t bits(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::int64_t divide(std::int64_t a, std::int64_t b) {
  decline_if(b == 0, "integer division by zero");
  return b == -1 ? wrap(0 - bits(a)) : a / b;
}
std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  decline_if(b == 0, "integer division by zero");
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
std::int64_t power(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(std::pow(static_cast<double>(a), static_cast<double>(b)));
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double round_even(double x) { return std::nearbyint(x); }
double negative(double x) { return -x; }
double absolute(double x) { return std::fabs(x); }

constexpr Float2 no_float = [](double, double) -> double { decline("folding of a float operand"); };

}  // namespace

#define FOLD2(op, f, i)                                                            \
  GANTRY_DEFINE(onnx, op,                                                          \
                fold(fold_binary<[](double a, double b) -> double { return (f); }, \
                                 [](std::int64_t a, std::int64_t b) -> std::int64_t { return (i); }>))
FOLD2("Add", a + b, wrap(bits(a) + bits(b)))
FOLD2("Sub", a - b, wrap(bits(a) - bits(b)))
FOLD2("Mul", a* b, wrap(bits(a) * bits(b)))
FOLD2("Div", a / b, divide(a, b))
FOLD2("Pow", std::pow(a, b), power(a, b))
FOLD2("Equal", a == b, a == b)
FOLD2("Less", a < b, a < b)
FOLD2("LessOrEqual", a <= b, a <= b)
FOLD2("Greater", a > b, a > b)
FOLD2("GreaterOrEqual", a >= b, a >= b)
#undef FOLD2
GANTRY_DEFINE(onnx, "And",
              fold(fold_binary<no_float, [](std::int64_t a, std::int64_t b) -> std::int64_t { return a && b; }>))
GANTRY_DEFINE(onnx, "Or",
              fold(fold_binary<no_float, [](std::int64_t a, std::int64_t b) -> std::int64_t { return a || b; }>))
GANTRY_DEFINE(onnx, "Xor",
              fold(fold_binary<no_float, [](std::int64_t a, std::int64_t b) -> std::int64_t { return a != b; }>))
GANTRY_DEFINE(onnx, "Max",
              fold(fold_variadic<[](double a, double b) -> double {
                return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b);
              },
                                 [](std::int64_t a, std::int64_t b) -> std::int64_t { return std::max(a, b); }>))
GANTRY_DEFINE(onnx, "Min",
              fold(fold_variadic<[](double a, double b) -> double {
                return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b);
              },
                                 [](std::int64_t a, std::int64_t b) -> std::int64_t { return std::min(a, b); }>))

namespace {

Results fold_mod(const Node& node, const Emit& emit) {
  const bool fmod = node.attr("fmod", 0) != 0;
  if (is_float(node.in(0).dtype()))
    return broadcast_fold<double>(node, emit, [](double a, double b) { return std::fmod(a, b); });
  return broadcast_fold<std::int64_t>(node, emit, [&](std::int64_t a, std::int64_t b) {
    return fmod ? wrap(bits(a) - bits(divide(a, b)) * bits(b)) : floor_mod(a, b);
  });
}

Results fold_where(const Node& node, const Emit& emit) {
  const Value c = node.in(0), a = node.in(1), b = node.in(2);
  const Dims dims = broadcast(broadcast(c.static_dims(), a.static_dims()), b.static_dims());
  const std::array<Dims, 3> strides{broadcast_strides(c.dims(), dims), broadcast_strides(a.dims(), dims),
                                    broadcast_strides(b.dims(), dims)};
  const auto pick = [&]<class T>(T) -> Value {
    const auto condition = elements<std::int64_t>(c);
    const auto x = elements<T>(a), y = elements<T>(b);
    std::vector<T> out(static_cast<std::size_t>(count_of(dims)));
    for_each_element(dims, strides, [&](std::int64_t i, const auto& at) {
      out[static_cast<std::size_t>(i)] = condition[static_cast<std::size_t>(at[0])]
                                             ? x[static_cast<std::size_t>(at[1])]
                                             : y[static_cast<std::size_t>(at[2])];
    });
    return make(emit, a.dtype(), dims, out);
  };
  return is_float(a.dtype()) ? pick(0.0) : pick(std::int64_t{0});
}

Results fold_neg(const Node& node, const Emit& emit) {
  if (is_float(node.in(0).dtype())) return fold_unary<negative>(node, emit);
  auto v = elements<std::int64_t>(node.in(0));
  for (auto& e : v) e = wrap(0 - bits(e));
  return make(emit, node.in(0).dtype(), node.in(0).dims(), v);
}

Results fold_abs(const Node& node, const Emit& emit) {
  if (is_float(node.in(0).dtype())) return fold_unary<absolute>(node, emit);
  auto v = elements<std::int64_t>(node.in(0));
  for (auto& e : v) e = e < 0 ? wrap(0 - bits(e)) : e;
  return make(emit, node.in(0).dtype(), node.in(0).dims(), v);
}

Results fold_not(const Node& node, const Emit& emit) {
  auto v = elements<std::int64_t>(node.in(0));
  for (auto& e : v) e = !e;
  return make(emit, DType::boolean, node.in(0).dims(), v);
}

/// A cast of a constant is a transform of it, but to bool, which asks for x != 0.
Results fold_cast(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const DType t = node.out().dtype();
  decline_if(x.dtype() == DType::string || t == DType::string, "folding of strings");
  if (t != DType::boolean) return emit.cast_constant(x, t);
  std::vector<bool> v;
  for (double e : elements<double>(x)) v.push_back(e != 0);
  return emit.constant<bool>(x.dims(), v);
}

}  // namespace

GANTRY_DEFINE(onnx, "Mod", fold(fold_mod))
GANTRY_DEFINE(onnx, "Where", fold(fold_where))
GANTRY_DEFINE(onnx, "Neg", fold(fold_neg))
GANTRY_DEFINE(onnx, "Abs", fold(fold_abs))
GANTRY_DEFINE(onnx, "Not", fold(fold_not))
GANTRY_DEFINE(onnx, "Cast", fold(fold_cast))
GANTRY_DEFINE(onnx, "Relu", fold(fold_unary<[](double x) { return x < 0 ? 0 : x; }>))
GANTRY_DEFINE(onnx, "Sign", fold(fold_unary<sign>))
GANTRY_DEFINE(onnx, "Sqrt", fold(fold_unary<[](double x) { return std::sqrt(x); }>))
GANTRY_DEFINE(onnx, "Reciprocal", fold(fold_unary<[](double x) { return 1 / x; }>))
GANTRY_DEFINE(onnx, "Exp", fold(fold_unary<[](double x) { return std::exp(x); }>))
GANTRY_DEFINE(onnx, "Log", fold(fold_unary<[](double x) { return std::log(x); }>))
GANTRY_DEFINE(onnx, "Sin", fold(fold_unary<[](double x) { return std::sin(x); }>))
GANTRY_DEFINE(onnx, "Cos", fold(fold_unary<[](double x) { return std::cos(x); }>))
GANTRY_DEFINE(onnx, "Tanh", fold(fold_unary<[](double x) { return std::tanh(x); }>))
GANTRY_DEFINE(onnx, "Sigmoid", fold(fold_unary<sigmoid>))
GANTRY_DEFINE(onnx, "Erf", fold(fold_unary<[](double x) { return std::erf(x); }>))
GANTRY_DEFINE(onnx, "Floor", fold(fold_unary<[](double x) { return std::floor(x); }>))
GANTRY_DEFINE(onnx, "Ceil", fold(fold_unary<[](double x) { return std::ceil(x); }>))
GANTRY_DEFINE(onnx, "Round", fold(fold_unary<round_even>))

}  // namespace core_ops
