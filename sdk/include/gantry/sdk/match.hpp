// Looking at a graph of ai.onnx for a pattern: who makes a value, who alone reads it, what number it is.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "gantry/sdk/graph.hpp"

namespace gantry::sdk {

/// The node that makes `v`, if it is that operator of ai.onnx.
inline std::optional<Node> maker(const Value& v, std::string_view op) {
  if (!v) return std::nullopt;
  auto n = v.producer();
  return n && n->is(op) && n->dialect() == "onnx" ? n : std::nullopt;
}

/// Whether one operand reads `v`, and no output is it.
inline bool used_once(const Value& v) { return v && v.use_count() == 1 && !v.is_output(); }

/// The same where nothing else reads `v`.
inline std::optional<Node> sole_maker(const Value& v, std::string_view op) {
  return used_once(v) ? maker(v, op) : std::nullopt;
}

/// The one node that reads `v`, if nothing else does and it is no output.
inline std::optional<Node> sole_user(const Value& v) {
  if (!used_once(v)) return std::nullopt;
  const std::vector<Node> users = v.users();
  return users.size() == 1 ? std::optional(users[0]) : std::nullopt;
}

/// The other operand of a node of two, where one is `v`; none where both are.
inline Value other_operand(const Node& n, const Value& v) {
  if (n.in_count() != 2 || (n.in(0) == v && n.in(1) == v)) return Value();
  return n.in(0) == v ? n.in(1) : n.in(1) == v ? n.in(0) : Value();
}

/// The number that a floating-point constant of one element is.
inline std::optional<double> number(const Value& v) {
  if (!v || !v.constant() || !v.is_static() || v.elements() != 1 || !is_float(v.dtype())) return std::nullopt;
  return v.read<double>()[0];
}
inline bool near(double a, double b, double relative = 1e-6) { return std::fabs(a - b) <= relative * std::fabs(b); }
/// Whether it is that number, up to rounding.
inline bool is_number(const Value& v, double wanted) {
  const auto is = number(v);
  return is && near(*is, wanted);
}

}  // namespace gantry::sdk
