// Element types, dimensions, tensor types, and the 16-bit floats.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "host/ir/float16.hpp"
#include "host/ir/text_quote.hpp"
#include "host/ir/type.hpp"

namespace gantry {
namespace {

TEST(IrType, NamesReadBack) {
  for (int i = 0; i <= 18; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(t)), t);
  }
  EXPECT_EQ(dtype_name(DType::bfloat16), "bf16");
  EXPECT_EQ(dtype_name(static_cast<DType>(200)), "?");
  EXPECT_FALSE(dtype_from_name("float"));
  EXPECT_FALSE(dtype_from_name(""));
}

TEST(IrType, Classes) {
  EXPECT_TRUE(is_float(DType::bfloat16));
  EXPECT_FALSE(is_float(DType::complex64));
  EXPECT_TRUE(is_integer(DType::int4));
  EXPECT_TRUE(is_integer(DType::uint64));
  EXPECT_FALSE(is_integer(DType::boolean));
  EXPECT_EQ(dtype_bits(DType::int4), 4u);
  EXPECT_EQ(dtype_bits(DType::complex128), 128u);
  EXPECT_EQ(dtype_bits(DType::string), 0u);
}

TEST(IrType, Text) {
  EXPECT_EQ(Type{}.str(), "?[*]");
  EXPECT_EQ(Type::unranked(DType::int64).str(), "i64[*]");
  EXPECT_EQ(Type::of(DType::float32, {}).str(), "f32[]");
  Type t = Type::of(DType::float32, {1, -1, 3});
  EXPECT_EQ(t.str(), "f32[1,?,3]");
  t.dims[1] = Dim::named("N");
  EXPECT_EQ(t.str(), "f32[1,N,3]");
  t.dims[1] = Dim::named("2*N]");
  EXPECT_EQ(t.str(), "f32[1,\"2*N]\",3]");
  EXPECT_EQ(t.sizes(), (std::vector<std::int64_t>{1, -1, 3}));
  EXPECT_FALSE(t.is_static());
  EXPECT_FALSE(t.elements());
}

TEST(IrType, Counts) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3}), 6);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}), 0);
  EXPECT_EQ(element_count({2, -1}), std::nullopt);
  EXPECT_EQ(element_count({0, -1}), std::nullopt);
  EXPECT_EQ(packed_bytes(DType::int4, 3), 2u);
  EXPECT_EQ(packed_bytes(DType::float64, 3), 24u);
  EXPECT_EQ(packed_bytes(DType::float64, std::uint64_t{1} << 61), std::nullopt);
  EXPECT_EQ(packed_bytes(DType::uint4, std::numeric_limits<std::uint64_t>::max()), std::uint64_t{1} << 63);
  EXPECT_EQ(packed_bytes(DType::string, 3), std::nullopt);
  EXPECT_EQ(Type::of(DType::float32, {2, 0}).elements(), 0);
}

TEST(IrType, Quoting) {
  EXPECT_EQ(detail::quoted("a\"b\\c\n\t\r\x01"), R"("a\"b\\c\n\t\r\x01")");
  EXPECT_EQ(detail::quoted("\xc3\xa4"), "\"\xc3\xa4\"");           // UTF-8 stays
  EXPECT_EQ(detail::quoted("\xc3\xa4\xff"), R"("\xc3\xa4\xff")");  // what is none is escaped as a whole
  EXPECT_FALSE(detail::is_utf8("\xed\xa0\x80"));                   // a surrogate
  EXPECT_FALSE(detail::is_utf8("\xc0\x80"));                       // overlong
  EXPECT_FALSE(detail::is_utf8("\xe2\x82"));                       // cut off
  EXPECT_TRUE(detail::is_utf8("\xf0\x9f\x98\x80"));
  EXPECT_TRUE(detail::is_identifier("_a1"));
  EXPECT_FALSE(detail::is_identifier("1a"));
  EXPECT_TRUE(detail::is_plain_name("/a/b.1-2"));
  EXPECT_FALSE(detail::is_plain_name("a:0"));
}

// ---- float16 and bfloat16 ----

// By the definition of the format (IEEE 754-2008, binary16).
double half_value(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const int mantissa = h & 1023;
  const double sign = (h & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double bfloat_value(std::uint16_t b) {
  const int exponent = (b >> 7) & 255;
  const int mantissa = b & 127;
  const double sign = (b & 0x8000) != 0 ? -1 : 1;
  if (exponent == 255) return mantissa != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return exponent == 0 ? sign * std::ldexp(mantissa, -133) : sign * std::ldexp(128 + mantissa, exponent - 134);
}

TEST(IrFloat16, EveryPatternReadsBack) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float half = f16_to_f32(bits);
    const float bfloat = bf16_to_f32(bits);
    if (std::isnan(half_value(bits))) {
      ASSERT_TRUE(std::isnan(half)) << i;
    } else {
      ASSERT_EQ(half, half_value(bits)) << i;
      ASSERT_EQ(std::signbit(half), (bits & 0x8000) != 0) << i;
      ASSERT_EQ(f64_to_f16(half), bits) << i;
    }
    if (std::isnan(bfloat_value(bits))) {
      ASSERT_TRUE(std::isnan(bfloat)) << i;
    } else {
      ASSERT_EQ(bfloat, bfloat_value(bits)) << i;
      ASSERT_EQ(f64_to_bf16(bfloat), bits) << i;
    }
    ASSERT_EQ(f32_to_f16(half), bits) << i;
    ASSERT_EQ(f32_to_bf16(bfloat), bits) << i;
  }
}

// Between every two neighbours: the middle goes to the even one, and what is just beside it to the nearer one.
template <class Value, class From32, class From64>
void check_rounding(std::uint16_t largest, Value value, From32 from32, From64 from64) {
  for (std::uint16_t low = 0; low < largest; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const std::uint16_t even = low % 2 == 0 ? low : high;
    const double middle = (value(low) + value(high)) / 2;
    const auto f = static_cast<float>(middle);
    ASSERT_EQ(from64(middle), even) << low;
    ASSERT_EQ(from64(-middle), even | 0x8000) << low;
    ASSERT_EQ(from64(std::nextafter(middle, 0.0)), low) << low;
    ASSERT_EQ(from64(std::nextafter(middle, 1e300)), high) << low;
    if (static_cast<double>(f) != middle) continue;  // bfloat16 subnormals have middles that float lacks: none, in fact
    ASSERT_EQ(from32(f), even) << low;
    ASSERT_EQ(from32(std::nextafterf(f, 0.0f)), low) << low;
    ASSERT_EQ(from32(std::nextafterf(f, std::numeric_limits<float>::infinity())), high) << low;
  }
}

TEST(IrFloat16, RoundsToNearestEven) {
  check_rounding(0x7bff, half_value, f32_to_f16, f64_to_f16);
  check_rounding(0x7f7f, bfloat_value, f32_to_bf16, f64_to_bf16);
}

TEST(IrFloat16, Overflow) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f64_to_f16(65519.9999999), 0x7bff);
  EXPECT_EQ(f32_to_f16(-1e10f), 0xfc00);
  EXPECT_EQ(f64_to_f16(1e300), 0x7c00);
  EXPECT_EQ(f64_to_bf16(-1e300), 0xff80);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f64_to_f16(1e-300), 0);
  EXPECT_EQ(f64_to_f16(-1e-300), 0x8000);
  const float thin_nan = std::bit_cast<float>(0x7f800001u);  // its payload fits in neither
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(thin_nan))));
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(thin_nan))));
}

}  // namespace
}  // namespace gantry
