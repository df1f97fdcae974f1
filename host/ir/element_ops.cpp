#include "host/ir/element_ops.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "host/ir/float16.hpp"

namespace gantry::detail {
namespace {

// Element types that C++ lacks, as they lie in memory.
struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t byte;
};

template <class T>
T load(const std::byte* p) {
  T t;
  std::memcpy(&t, p, sizeof(T));
  return t;
}

template <class T>
void store(std::byte* p, T t) {
  std::memcpy(p, &t, sizeof(T));
}

// A number that C++ can compute with, exactly.
template <class T>
auto number(T t) {
  if constexpr (std::is_same_v<T, Half>) {
    return f16_to_f32(t.bits);
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return bf16_to_f32(t.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<std::uint8_t>(t.byte != 0);
  } else {
    return t;
  }
}

// A double that rounds to at most 51 bits as the integer does: 64-bit integers keep their upper bits, and one more bit
// says whether the rest was zero.
template <class T>
double sticky_double(T t) {
  const bool negative = std::cmp_less(t, 0);
  std::uint64_t magnitude = static_cast<std::uint64_t>(t);
  if (negative) magnitude = 0 - magnitude;
  if (magnitude >> 53 == 0) return static_cast<double>(t);
  const double d = static_cast<double>((magnitude >> 11) | std::uint64_t{(magnitude & 0x7ff) != 0}) * 2048.0;
  return negative ? -d : d;
}

template <class To, class From>
To saturate_float(From x) {
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  // The first value that is too large is a power of two, and so exact in any float type.
  constexpr From kHigh = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};
  if (x != x) return 0;
  if (x >= kHigh) return std::numeric_limits<To>::max();
  if (x < kLow) return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

template <class To, class From>
To saturate_integer(From x) {
  if (std::cmp_less(x, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(x, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

template <class To, class From>
To convert_one(From from) {
  if constexpr (std::is_same_v<To, From> && !std::is_same_v<To, Bool>) {
    return from;
  } else {
    const auto x = number(from);
    using X = std::remove_const_t<decltype(x)>;
    if constexpr (std::is_same_v<To, Bool>) {
      return Bool{static_cast<std::uint8_t>(x != X{})};
    } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat>) {
      constexpr bool kHalf = std::is_same_v<To, Half>;
      if constexpr (std::is_same_v<X, float>) {
        return To{kHalf ? f32_to_f16(x) : f32_to_bf16(x)};
      } else if constexpr (std::is_same_v<X, double>) {
        return To{kHalf ? f64_to_f16(x) : f64_to_bf16(x)};
      } else {
        const double d = sticky_double(x);
        return To{kHalf ? f64_to_f16(d) : f64_to_bf16(d)};
      }
    } else if constexpr (std::is_floating_point_v<To>) {
      return static_cast<To>(x);
    } else if constexpr (std::is_floating_point_v<X>) {
      return saturate_float<To>(x);
    } else {
      return saturate_integer<To>(x);
    }
  }
}

// f<T>() for the C++ type T of carrier(t); false if there is none.
template <class F>
bool with_type(DType t, F f) {
  switch (carrier(t)) {
    case DType::float32:
      f.template operator()<float>();
      return true;
    case DType::float16:
      f.template operator()<Half>();
      return true;
    case DType::float64:
      f.template operator()<double>();
      return true;
    case DType::bfloat16:
      f.template operator()<BFloat>();
      return true;
    case DType::int8:
      f.template operator()<std::int8_t>();
      return true;
    case DType::int16:
      f.template operator()<std::int16_t>();
      return true;
    case DType::int32:
      f.template operator()<std::int32_t>();
      return true;
    case DType::int64:
      f.template operator()<std::int64_t>();
      return true;
    case DType::uint8:
      f.template operator()<std::uint8_t>();
      return true;
    case DType::uint16:
      f.template operator()<std::uint16_t>();
      return true;
    case DType::uint32:
      f.template operator()<std::uint32_t>();
      return true;
    case DType::uint64:
      f.template operator()<std::uint64_t>();
      return true;
    case DType::boolean:
      f.template operator()<Bool>();
      return true;
    default:
      return false;
  }
}

bool is_signed_integer(DType t) { return (t >= DType::int8 && t <= DType::int64) || t == DType::int4; }

// Bits of an integer's magnitude, or of a float's mantissa with the leading one.
int precision(DType t) {
  switch (t) {
    case DType::float32:
      return 24;
    case DType::float16:
      return 11;
    case DType::float64:
      return 53;
    case DType::bfloat16:
      return 8;
    case DType::boolean:
      return 1;
    default:
      return static_cast<int>(dtype_bits(t)) - (is_signed_integer(t) ? 1 : 0);
  }
}

// Applies f(x, vector element) to elements of a float type, in float32, or in float64 for float64.
template <class F>
void combine(DType t, std::byte* x, std::int64_t first, std::int64_t count, AxisOf axis, std::span<const float> vector,
             F f) {
  const auto apply = [&]<class T>(std::int64_t at, std::int64_t n, const float* v, std::int64_t v_step) {
    std::byte* p = x + at * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < n; ++i, p += sizeof(T)) {
      const auto value = number(load<T>(p));
      store(p, convert_one<T>(f(value, static_cast<decltype(+value)>(v[i * v_step]))));
    }
  };
  const auto walk = [&]<class T>() {
    std::int64_t index = first / axis.inner % axis.size;
    std::int64_t offset = first % axis.inner;
    for (std::int64_t at = 0; at < count;) {
      // With inner == 1 the vector runs along with the elements, else one of it holds for a run of them.
      const bool along = axis.inner == 1;
      const std::int64_t n = std::min(count - at, along ? axis.size - index : axis.inner - offset);
      apply.template operator()<T>(at, n, &vector[static_cast<std::size_t>(index)], along ? 1 : 0);
      at += n;
      offset = 0;
      index = along ? 0 : (index + 1) % axis.size;
    }
  };
  switch (t) {
    case DType::float32:
      return walk.template operator()<float>();
    case DType::float64:
      return walk.template operator()<double>();
    case DType::float16:
      return walk.template operator()<Half>();
    case DType::bfloat16:
      return walk.template operator()<BFloat>();
    default:
      return;
  }
}

}  // namespace

DType carrier(DType t) {
  if (t == DType::int4) return DType::int8;
  if (t == DType::uint4) return DType::uint8;
  return t;
}

std::int64_t carrier_bytes(DType t) { return dtype_bits(carrier(t)) / 8; }

bool can_convert(DType from, DType to) {
  const auto plain = [](DType t) { return is_float(t) || is_integer(t) || t == DType::boolean; };
  return from == to || (plain(from) && plain(to));
}

bool converts_exactly(DType from, DType to) {
  if (from == to) return true;
  if (!can_convert(from, to) || to == DType::boolean) return false;
  if (is_float(from)) {
    return to == DType::float64 || (to == DType::float32 && from != DType::float64);
  }
  const bool is_signed = is_signed_integer(from);
  if (is_float(to)) return precision(from) <= precision(to);
  return precision(from) <= precision(to) && (!is_signed || is_signed_integer(to));
}

void convert(DType from, const std::byte* in, DType to, std::byte* out, std::int64_t count) {
  if (carrier(from) == carrier(to) && from != DType::boolean) {
    if (in != out) std::memcpy(out, in, static_cast<std::size_t>(count * carrier_bytes(to)));
  } else {
    with_type(from, [&]<class From>() {
      with_type(to, [&]<class To>() {
        for (std::int64_t i = 0; i < count; ++i) {
          store(out + i * static_cast<std::int64_t>(sizeof(To)),
                convert_one<To>(load<From>(in + i * static_cast<std::int64_t>(sizeof(From)))));
        }
      });
    });
  }
  if (to == DType::int4 && from != to) {
    for (std::int64_t i = 0; i < count; ++i) {
      store(out + i, std::clamp<std::int8_t>(load<std::int8_t>(out + i), -8, 7));
    }
  } else if (to == DType::uint4 && from != to) {
    for (std::int64_t i = 0; i < count; ++i) {
      store(out + i, std::min<std::uint8_t>(load<std::uint8_t>(out + i), 15));
    }
  }
}

void unpack4(DType t, const std::byte* packed, std::int64_t first, std::int64_t count, std::byte* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = first + i;
    const auto pair = std::to_integer<unsigned>(packed[at / 2]);
    const unsigned nibble = at % 2 == 0 ? pair & 15u : pair >> 4;
    // int4: 8...15 stand for -8...-1.
    out[i] = static_cast<std::byte>(t == DType::int4 && nibble >= 8 ? nibble | 0xf0u : nibble);
  }
}

void pack4(const std::byte* in, std::int64_t count, std::byte* packed) {
  for (std::int64_t i = 0; i < count; i += 2) {
    const std::byte high = i + 1 < count ? in[i + 1] << 4 : std::byte{0};
    packed[i / 2] = (in[i] & std::byte{15}) | high;
  }
}

void scale(DType t, std::byte* x, std::int64_t first, std::int64_t count, AxisOf axis, std::span<const float> vector) {
  combine(t, x, first, count, axis, vector, [](auto a, auto b) { return a * b; });
}

void shift(DType t, std::byte* x, std::int64_t first, std::int64_t count, AxisOf axis, std::span<const float> vector) {
  combine(t, x, first, count, axis, vector, [](auto a, auto b) { return a + b; });
}

}  // namespace gantry::detail
