// Looking at subgraphs of ai.onnx: who makes a value, who alone reads it, what numbers and polynomials it is.
#pragma once

#include <cmath>
#include <map>
#include <optional>

#include "common.hpp"

namespace transformer {

/// Whether a pattern is switched on: each is an option of its own name.
inline bool enabled(const Emit& emit, std::string_view pattern) { return emit.call().option<bool>(pattern); }

/// The node that makes `v`, if it is that operator of ai.onnx.
inline std::optional<Node> maker(const Value& v, std::string_view op) {
  if (!v) return std::nullopt;
  auto n = v.producer();
  return n && n->is(op) && n->dialect() == "onnx" ? n : std::nullopt;
}

/// The one node that reads `v`, if nothing else does and it is no output.
inline std::optional<Node> sole_user(const Value& v) {
  if (!v || v.use_count() != 1 || v.is_output()) return std::nullopt;
  const std::vector<Node> users = v.users();
  return users.size() == 1 ? std::optional(users[0]) : std::nullopt;
}

/// The number that a constant of one element is.
inline std::optional<double> number(const Value& v) {
  if (!v || !v.constant() || !v.is_static() || v.elements() != 1 || !is_float(v.dtype())) return std::nullopt;
  return v.read<double>()[0];
}

inline bool near(double a, double b, double relative = 1e-6) { return std::fabs(a - b) <= relative * std::fabs(b); }

/// Both of one element type and shape.
inline bool same_type(const Value& a, const Value& b) {
  return a.dtype() == b.dtype() && a.ranked() && b.ranked() && a.dims() == b.dims();
}

/// The other operand of a node of two, where one is `v`; none where both are.
inline Value other_operand(const Node& n, const Value& v) {
  if (n.in_count() != 2 || (n.in(0) == v && n.in(1) == v)) return Value();
  return n.in(0) == v ? n.in(1) : n.in(1) == v ? n.in(0) : Value();
}

/// Coefficients by degree.
using Polynomial = std::map<int, double>;
/// `v` as a polynomial of `x` with degree 4 at most, through Add, Sub, Mul, Div, Neg and Pow by constants.
std::optional<Polynomial> polynomial(const Value& v, const Value& x, int depth = 12);
/// Whether both have the same coefficients, up to rounding.
bool same_polynomial(const Polynomial& a, const Polynomial& b, double relative);

}  // namespace transformer
