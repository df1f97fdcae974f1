// Patterns of this plugin: their switches, and values that are polynomials of another.
#pragma once

#include <map>
#include <optional>

#include "common.hpp"

namespace transformer {

/// Whether a pattern is switched on: each is an option of its own name.
inline bool enabled(const Emit& emit, std::string_view pattern) { return emit.call().option<bool>(pattern); }

/// Both of one element type and shape.
inline bool same_type(const Value& a, const Value& b) {
  return a.dtype() == b.dtype() && a.ranked() && b.ranked() && a.dims() == b.dims();
}

/// Coefficients by degree.
using Polynomial = std::map<int, double>;
/// `v` as a polynomial of `x` with degree 4 at most, through Add, Sub, Mul, Div, Neg and Pow by constants.
std::optional<Polynomial> polynomial(const Value& v, const Value& x, int depth = 12);
/// Whether both have the same coefficients, up to rounding.
bool same_polynomial(const Polynomial& a, const Polynomial& b, double relative);

}  // namespace transformer
