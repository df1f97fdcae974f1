#include "host/ir/text_elements.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "host/ir/element_ops.hpp"
#include "host/ir/float16.hpp"

namespace gantry::detail {
namespace {

template <class Bits>
std::string nan_text(Bits bits, Bits usual) {
  if (bits == usual) return "nan";
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, bits, 16).ptr;
  return "nan(0x" + std::string(buffer, end) + ")";
}

template <class Bits>
bool parse_nan(std::string_view text, Bits usual, Bits& bits) {
  bits = usual;
  if (text == "nan") return true;
  if (!text.starts_with("nan(0x") || !text.ends_with(')')) return false;
  text = text.substr(6, text.size() - 7);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  return failure == std::errc{} && end == text.data() + text.size();
}

template <class F>
std::string number_text(F x) {
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, x).ptr};
}

template <class N>
bool parse_number(std::string_view text, N& x) {
  if constexpr (std::is_floating_point_v<N>) {
    x = std::numeric_limits<N>::infinity();
    if (text == "inf") return true;
    x = -x;
    if (text == "-inf") return true;
    if (text.find_first_of("ni") != text.npos) return false;  // other spellings that from_chars takes
  }
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), x);
  return failure == std::errc{} && end == text.data() + text.size();
}

constexpr std::uint16_t kNan16 = 0x7e00, kNanBfloat = 0x7fc0;
constexpr std::uint32_t kNan32 = 0x7fc00000;
constexpr std::uint64_t kNan64 = 0x7ff8000000000000;

template <class T>
T load(const std::byte* p) {
  T t;
  std::memcpy(&t, p, sizeof(T));
  return t;
}

template <class T>
void append(std::vector<std::byte>& bytes, T t) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &t, sizeof(T));
}

// With as few digits as read back to the same bits.
std::string half_text(DType t, std::uint16_t bits) {
  const bool is_half = t == DType::float16;
  const float value = is_half ? f16_to_f32(bits) : bf16_to_f32(bits);
  if (std::isnan(value)) return nan_text(bits, is_half ? kNan16 : kNanBfloat);
  std::string shortest = number_text(value);  // as a float
  if (std::isinf(value)) return shortest;
  char buffer[64];
  for (int digits = 1; digits < 9; ++digits) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr;
    const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
    double back = 0;
    if (parse_number(text, back) && (is_half ? f64_to_f16(back) : f64_to_bf16(back)) == bits) {
      if (text.size() < shortest.size()) shortest = text;
      break;
    }
  }
  return shortest;
}

std::string element_text(DType t, const std::byte* p) {
  switch (t) {
    case DType::float32: {
      const auto bits = load<std::uint32_t>(p);
      const auto x = std::bit_cast<float>(bits);
      return std::isnan(x) ? nan_text(bits, kNan32) : number_text(x);
    }
    case DType::float64: {
      const auto bits = load<std::uint64_t>(p);
      const auto x = std::bit_cast<double>(bits);
      return std::isnan(x) ? nan_text(bits, kNan64) : number_text(x);
    }
    case DType::float16:
    case DType::bfloat16:
      return half_text(t, load<std::uint16_t>(p));
    case DType::int4:
    case DType::int8:
      return std::to_string(load<std::int8_t>(p));
    case DType::int16:
      return std::to_string(load<std::int16_t>(p));
    case DType::int32:
      return std::to_string(load<std::int32_t>(p));
    case DType::int64:
      return std::to_string(load<std::int64_t>(p));
    case DType::uint4:
    case DType::uint8:
      return std::to_string(load<std::uint8_t>(p));
    case DType::uint16:
      return std::to_string(load<std::uint16_t>(p));
    case DType::uint32:
      return std::to_string(load<std::uint32_t>(p));
    case DType::uint64:
      return std::to_string(load<std::uint64_t>(p));
    case DType::boolean:
      return load<std::uint8_t>(p) != 0 ? "true" : "false";
    case DType::complex64:
    case DType::complex128: {
      const DType part = component(t);
      return "(" + element_text(part, p) + ", " + element_text(part, p + carrier_bytes(part)) + ")";
    }
    default:
      return "?";
  }
}

template <class N>
bool parse_integer(std::string_view text, std::vector<std::byte>& bytes, N low = std::numeric_limits<N>::min(),
                   N high = std::numeric_limits<N>::max()) {
  N x = 0;
  if (!parse_number(text, x) || x < low || x > high) return false;
  append(bytes, x);
  return true;
}

template <class F, class Bits>
bool parse_wide_float(std::string_view text, Bits usual_nan, std::vector<std::byte>& bytes) {
  Bits bits = 0;
  F x = 0;
  if (parse_number(text, x)) {
    bits = std::bit_cast<Bits>(x);
  } else if (!parse_nan(text, usual_nan, bits) || !std::isnan(std::bit_cast<F>(bits))) {
    return false;
  }
  append(bytes, bits);
  return true;
}

// Through double: a decimal is then rounded to the narrow type as good as once, and every value of that type is exact.
bool parse_half(std::string_view text, DType t, std::vector<std::byte>& bytes) {
  const bool is_half = t == DType::float16;
  std::uint16_t bits = 0;
  double x = 0;
  if (parse_number(text, x)) {
    bits = is_half ? f64_to_f16(x) : f64_to_bf16(x);
    if (std::isfinite(x) && std::isinf(is_half ? f16_to_f32(bits) : bf16_to_f32(bits))) return false;
  } else if (!parse_nan(text, is_half ? kNan16 : kNanBfloat, bits) ||
             !std::isnan(is_half ? f16_to_f32(bits) : bf16_to_f32(bits))) {
    return false;
  }
  append(bytes, bits);
  return true;
}

}  // namespace

std::string float_text(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  std::string s = element_text(DType::float32, reinterpret_cast<const std::byte*>(&bits));
  if (s.find_first_of(".en") == s.npos) s += ".0";  // e: exponent; n: inf and nan
  return s;
}

bool parse_float(std::string_view text, float& x) {
  std::vector<std::byte> bytes;
  if (!parse_element(text, DType::float32, bytes)) return false;
  x = load<float>(bytes.data());
  return true;
}

Result<std::string> elements_text(const Constant& c) {
  const DType t = c.dtype();
  std::vector<std::byte> bytes(c.byte_size());
  GANTRY_TRY(c.write(bytes));
  if (carrier(t) != t) {
    std::vector<std::byte> one_each(static_cast<std::size_t>(c.elements()));
    unpack4(t, bytes.data(), 0, c.elements(), one_each.data());
    bytes = std::move(one_each);
  }
  std::string s;
  for (std::int64_t i = 0; i < c.elements(); ++i) {
    if (i > 0) s += ", ";
    s += element_text(t, bytes.data() + i * carrier_bytes(t));
  }
  return s;
}

DType component(DType t) {
  if (t == DType::complex64) return DType::float32;
  if (t == DType::complex128) return DType::float64;
  return t;
}

bool parse_element(std::string_view text, DType t, std::vector<std::byte>& bytes) {
  switch (t) {
    case DType::float32:
      return parse_wide_float<float>(text, kNan32, bytes);
    case DType::float64:
      return parse_wide_float<double>(text, kNan64, bytes);
    case DType::float16:
    case DType::bfloat16:
      return parse_half(text, t, bytes);
    case DType::int4:
      return parse_integer<std::int8_t>(text, bytes, -8, 7);
    case DType::int8:
      return parse_integer<std::int8_t>(text, bytes);
    case DType::int16:
      return parse_integer<std::int16_t>(text, bytes);
    case DType::int32:
      return parse_integer<std::int32_t>(text, bytes);
    case DType::int64:
      return parse_integer<std::int64_t>(text, bytes);
    case DType::uint4:
      return parse_integer<std::uint8_t>(text, bytes, 0, 15);
    case DType::uint8:
      return parse_integer<std::uint8_t>(text, bytes);
    case DType::uint16:
      return parse_integer<std::uint16_t>(text, bytes);
    case DType::uint32:
      return parse_integer<std::uint32_t>(text, bytes);
    case DType::uint64:
      return parse_integer<std::uint64_t>(text, bytes);
    case DType::boolean:
      if (text != "true" && text != "false") return false;
      append(bytes, static_cast<std::uint8_t>(text == "true"));
      return true;
    default:
      return false;
  }
}

}  // namespace gantry::detail
