// Activations that are x times a function of x, spelled out:
//   Gelu       x/2 * (1 + erf(x / sqrt(2)))                        tanh: x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715
//   x^3))) SiLU       x / (1 + exp(-x))                                    as x * Sigmoid(x) HardSwish  x * clip(x + 3,
//   0, 6) / 6
// The argument of the function is compared as a polynomial of x, so it does not matter how it is written; the factors
// around it may come in any order.
#include "activation.hpp"
#include "match.hpp"

namespace transformer {
namespace {

GANTRY_OPTION("gelu", true, "Pattern: Gelu by erf or tanh, spelled out, is one operator")
GANTRY_OPTION("silu", true, "Pattern: x / (1 + exp(-x)) is x * Sigmoid(x)")

/// value = factor * (f + 1) for a function's result f: 1 + f, or f/2 + 1/2.
struct Gate {
  Value value;
  double factor = 1;
};
std::optional<Gate> one_more(const Value& f) {
  Gate g{f, 1};
  for (int i = 0; i < 2; ++i) {
    const auto user = sole_user(g.value);
    const auto k = user ? number(other_operand(*user, g.value)) : std::nullopt;
    if (!k) return std::nullopt;
    if (user->is("Add")) return near(*k, g.factor) ? std::optional(Gate{user->out(), g.factor}) : std::nullopt;
    if (!user->is("Mul")) return std::nullopt;
    g = {user->out(), g.factor * *k};
  }
  return std::nullopt;
}

/// v as factor * x, one step deep.
struct Scaled {
  Value x;
  double factor = 1;
};
std::vector<Scaled> scaled(const Value& v) {
  std::vector<Scaled> all{{v, 1}};
  if (const auto mul = maker(v, "Mul")) {
    for (std::size_t i = 0; i < 2; ++i)
      if (const auto k = number(mul->in(i))) all.push_back({mul->in(1 - i), *k});
  } else if (const auto div = maker(v, "Div")) {
    if (const auto k = number(div->in(1)); k && *k != 0) all.push_back({div->in(0), 1 / *k});
  }
  return all;
}

/// The product of a gate, x and numbers that is `wanted` * x * gate, in any order; `is_x` says whether a value is x.
/// Nobody else reads what comes between.
struct Product {
  Value x, result;
};
template <class IsX>
std::optional<Product> times_x(Gate gate, double wanted, IsX is_x) {
  Value x;
  for (int i = 0; i < 4; ++i) {
    const auto user = sole_user(gate.value);
    if (!user || user->in_count() != 2) return std::nullopt;
    if (user->is("Div")) {
      const auto k = number(user->in(1));
      if (!(user->in(0) == gate.value) || !k || *k == 0) return std::nullopt;
      gate.factor /= *k;
    } else if (user->is("Mul")) {
      const Value other = other_operand(*user, gate.value);
      if (!other) return std::nullopt;
      if (const auto k = number(other)) {
        gate.factor *= *k;
      } else {
        if (x) return std::nullopt;
        for (const Scaled& s : scaled(other)) {
          if (!is_x(s.x)) continue;
          x = s.x;
          gate.factor *= s.factor;
          break;
        }
        if (!x) return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
    gate.value = user->out();
    if (x && near(gate.factor, wanted)) {
      if (!same_type(x, gate.value)) return std::nullopt;
      return Product{x, gate.value};
    }
  }
  return std::nullopt;
}

bool match_gelu(const Node& f, const Emit& emit, const Polynomial& argument, double relative, bool tanh) {
  if (!enabled(emit, "gelu") || f.in(0).dtype() != DType::float32) return false;
  const auto gate = one_more(f.out());
  if (!gate) return false;
  const auto found = times_x(*gate, 0.5, [&](const Value& x) {
    const auto p = polynomial(f.in(0), x);
    return p && same_polynomial(*p, argument, relative);
  });
  if (!found) return false;
  emit.replace(found->result, gelu(emit, found->x, tanh));
  return true;
}

}  // namespace

GANTRY_PATTERN("gelu_erf", onnx, "Erf", also("Mul", "Add")) {
  return match_gelu(node, emit, {{1, std::sqrt(0.5)}}, 1e-6, false);
}

/// Exporters round the two constants to 5 digits or more.
GANTRY_PATTERN("gelu_tanh", onnx, "Tanh", also("Mul", "Add")) {
  const double k = std::sqrt(2 / std::acos(-1.0));
  return match_gelu(node, emit, {{1, k}, {3, k * 0.044715}}, 1e-5, true);
}

GANTRY_PATTERN("silu_exp", onnx, "Exp", also("Div", "Add")) {
  if (!enabled(emit, "silu") || node.in(0).dtype() != DType::float32) return false;
  const auto add = sole_user(node.out());
  if (!add || !add->is("Add") || number(other_operand(*add, node.out())) != 1.0) return false;
  const auto div = sole_user(add->out());
  if (!div || !div->is("Div") || !(div->in(1) == add->out())) return false;
  const Value x = div->in(0);
  const auto p = polynomial(node.in(0), x);
  if (!p || !same_polynomial(*p, {{1, -1.0}}, 0) || !same_type(x, div->out())) return false;
  emit.replace(div->out(), silu(emit, x));
  return true;
}

}  // namespace transformer
