// Numbers in the text form. Private to host/ir.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/constant.hpp"
#include "host/ir/type.hpp"

namespace gantry::detail {

/// The shortest decimal form that reads back to the same float, with a point or an exponent; inf, -inf, nan, or
/// nan(0x...) with the bits of a NaN that is not the usual one.
std::string float_text(float x);
bool parse_float(std::string_view text, float& x);

/// All elements of a constant of numbers: "1, 2, 3".
Result<std::string> elements_text(const Constant& c);
/// Appends one element as carrier(t) bytes: as elements_text writes it; "(re, im)" of complex numbers comes as two.
bool parse_element(std::string_view text, DType t, std::vector<std::byte>& bytes);
/// The type of what parse_element takes: float32 for complex64, float64 for complex128, else `t`.
DType component(DType t);

}  // namespace gantry::detail
