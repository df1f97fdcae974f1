// float16 and bfloat16, as bits. Every conversion to them rounds to nearest, ties to even, once; infinities, NaNs
// (with the bits of the payload that fit) and subnormals are kept.
#pragma once

#include <bit>
#include <cstdint>

namespace gantry {

inline float f16_to_f32(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1fu;
  const std::uint32_t mantissa = h & 0x3ffu;
  std::uint32_t bits = 0;
  if (exponent == 0) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
  } else if (exponent == 31) {
    bits = 0x7f800000u | (mantissa << 13);
  } else {
    bits = ((exponent + 112) << 23) | (mantissa << 13);
  }
  return std::bit_cast<float>(sign | bits);
}

inline std::uint16_t f32_to_f16(float f) {
  const std::uint32_t all = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t sign = (all >> 16) & 0x8000u;
  const std::uint32_t bits = all & 0x7fffffffu;
  std::uint32_t h = 0;
  if (bits > 0x7f800000u) {  // NaN; one whose upper payload is empty must not become an infinity
    const std::uint32_t payload = (bits >> 13) & 0x3ffu;
    h = 0x7c00u | (payload != 0 ? payload : 0x200u);
  } else if (bits >= 0x477ff000u) {  // 65520, half way from the largest float16 to the next power of two
    h = 0x7c00u;
  } else if (bits >= 0x38800000u) {  // normal: re-bias the exponent, round off 13 bits
    const std::uint32_t rebiased = bits - 0x38000000u;
    h = (rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13;
  } else if (bits >= 0x33000000u) {  // subnormal: a multiple of 2^-24, not below the half of it
    const std::uint32_t mantissa = (bits & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126 - (bits >> 23);
    const std::uint32_t half = 1u << (shift - 1);
    h = (mantissa + half - 1 + ((mantissa >> shift) & 1u)) >> shift;
  }
  return static_cast<std::uint16_t>(sign | h);
}

inline float bf16_to_f32(std::uint16_t b) { return std::bit_cast<float>(std::uint32_t{b} << 16); }

inline std::uint16_t f32_to_bf16(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    const std::uint32_t upper = bits >> 16;
    return static_cast<std::uint16_t>((upper & 0x7fu) != 0 ? upper : upper | 0x40u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// The float nearest to `d` towards zero, with the last bit set if that is not `d`. Rounding this to a narrower format
/// is the same as rounding `d` ("round to odd"; Boldo and Melquiond 2008).
inline float f64_to_f32_odd(double d) {
  const float f = static_cast<float>(d);
  const double back = static_cast<double>(f);
  if (back == d || d != d) return f;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const bool away = d < 0 ? back < d : back > d;
  if (away) --bits;  // magnitude and sign are apart: one less is towards zero
  return std::bit_cast<float>(bits | 1u);
}

inline std::uint16_t f64_to_f16(double d) { return f32_to_f16(f64_to_f32_odd(d)); }
inline std::uint16_t f64_to_bf16(double d) { return f32_to_bf16(f64_to_f32_odd(d)); }

}  // namespace gantry
