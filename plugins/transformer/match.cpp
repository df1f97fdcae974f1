#include "match.hpp"

namespace transformer {
namespace {

constexpr int kMostDegree = 4;

Polynomial sum(const Polynomial& a, const Polynomial& b, double factor_of_b) {
  Polynomial c = a;
  for (const auto& [degree, k] : b) c[degree] += factor_of_b * k;
  return c;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial c;
  for (const auto& [i, k] : a)
    for (const auto& [j, l] : b) {
      if (i + j > kMostDegree) return std::nullopt;
      c[i + j] += k * l;
    }
  return c;
}

std::optional<Polynomial> power(const Polynomial& base, const Value& exponent) {
  const auto e = number(exponent);
  if (!e || (*e != 1 && *e != 2 && *e != 3 && *e != 4)) return std::nullopt;
  std::optional<Polynomial> p = base;
  for (int i = 1; p && i < static_cast<int>(*e); ++i) p = product(*p, base);
  return p;
}

}  // namespace

std::optional<Polynomial> polynomial(const Value& v, const Value& x, int depth) {
  if (v == x) return Polynomial{{1, 1.0}};
  if (const auto k = number(v)) return Polynomial{{0, *k}};
  const auto n = v ? v.producer() : std::nullopt;
  if (depth == 0 || !n || n->dialect() != "onnx" || !n->domain().empty() || n->out_count() != 1) return std::nullopt;
  const auto a = polynomial(n->in(0), x, depth - 1);
  if (!a) return std::nullopt;
  if (n->op() == "Neg") return sum({}, *a, -1);
  if (n->in_count() != 2) return std::nullopt;
  if (n->op() == "Pow") return power(*a, n->in(1));
  const auto b = polynomial(n->in(1), x, depth - 1);
  if (!b) return std::nullopt;
  if (n->op() == "Add") return sum(*a, *b, 1);
  if (n->op() == "Sub") return sum(*a, *b, -1);
  if (n->op() == "Mul") return product(*a, *b);
  const auto divisor = number(n->in(1));
  if (n->op() == "Div" && divisor && *divisor != 0) return sum({}, *a, 1 / *divisor);
  return std::nullopt;
}

bool same_polynomial(const Polynomial& a, const Polynomial& b, double relative) {
  for (int i = 0; i <= kMostDegree; ++i) {
    const auto at = [&](const Polynomial& p) { return p.contains(i) ? p.at(i) : 0.0; };
    if (!near(at(a), at(b), relative)) return false;
  }
  return true;
}

}  // namespace transformer
