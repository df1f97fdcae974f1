// Constants one property at a time. ir_constant_random.cpp tries chains of transforms against an oracle.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/constant.hpp"
#include "host/ir/float16.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Dims = std::vector<std::int64_t>;

template <class T>
std::vector<T> all(const Constant& c) {
  auto r = c.read<T>();
  EXPECT_TRUE(r.ok()) << r.error().message;
  return r.ok() ? *r : std::vector<T>{};
}

std::vector<std::byte> written(const Constant& c) {
  std::vector<std::byte> out(c.byte_size());
  const Status s = c.write(out);
  EXPECT_TRUE(s.ok()) << s.error().message;
  return out;
}

Constant permuted(const Constant& c, const Dims& perm) { return *c.permute(perm); }

TEST(IrConstant, Making) {
  const Constant c = Constant::of<float>({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(c);
  EXPECT_EQ(c.type().str(), "f32[2,2]");
  EXPECT_EQ(c.elements(), 4);
  EXPECT_EQ(c.byte_size(), 16u);
  EXPECT_THAT(all<float>(c), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(c.direct());
  EXPECT_EQ(c.direct()->size(), 16u);
  EXPECT_EQ(Constant::of<std::int64_t>({1}, {5}).dtype(), DType::int64);
  EXPECT_EQ(Constant::of<std::uint16_t>({0}, {}).elements(), 0);
  EXPECT_EQ(all<float>(Constant::of<double>({}, {2.5})), std::vector<float>{2.5});
}

TEST(IrConstant, Booleans) {
  const std::array<bool, 3> values{true, false, true};
  const Constant c = Constant::of<bool>({3}, std::span<const bool>(values));
  EXPECT_EQ(c.type().str(), "bool[3]");
  EXPECT_THAT(all<bool>(c), ElementsAre(true, false, true));
  EXPECT_THAT(all<float>(c), ElementsAre(1, 0, 1));
  EXPECT_THAT(all<bool>(Constant::of<float>({3}, {0, -0.5f, std::nanf("")})), ElementsAre(false, true, true));
  // A byte that is neither 0 nor 1 is true.
  const Constant odd = Constant::own(DType::boolean, {2}, {std::byte{2}, std::byte{0}});
  EXPECT_THAT(all<std::int32_t>(odd), ElementsAre(1, 0));
  EXPECT_THAT(all<bool>(odd), ElementsAre(true, false));
}

TEST(IrConstant, WrongSizesAreNoConstant) {
  EXPECT_FALSE(Constant::own(DType::float32, {2}, std::vector<std::byte>(7)));
  EXPECT_FALSE(Constant::own(DType::float32, {2, -1}, {}));
  EXPECT_FALSE(Constant::own(DType::undefined, {0}, {}));
  EXPECT_FALSE(Constant::own(DType::string, {0}, {}));
  EXPECT_FALSE(Constant::own(DType::float64, {std::int64_t{1} << 31, std::int64_t{1} << 31}, {}));
  EXPECT_FALSE(Constant::strings({2}, {"a"}));
  EXPECT_FALSE(Constant::of<float>({3}, {1, 2}));
  EXPECT_FALSE(Constant::placeholder(DType::int8, {std::int64_t{1} << 60}, 1));
  const Constant none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.dtype(), DType::undefined);
  EXPECT_EQ(none.elements(), 0);
  EXPECT_FALSE(none.direct());
  EXPECT_FALSE(none.permute({}).ok());
  EXPECT_FALSE(none.read<float>().ok());
  EXPECT_FALSE(none.write({}).ok());
  EXPECT_TRUE(none.same(Constant{}));
}

TEST(IrConstant, ViewKeepsItsOwner) {
  auto owner = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::weak_ptr<const std::vector<float>> watch = owner;
  Constant moved;
  {
    const auto bytes = std::as_bytes(std::span(*owner));
    const Constant c = Constant::view(DType::float32, {3}, owner, bytes);
    owner.reset();
    EXPECT_EQ(c.direct()->data(), bytes.data());
    moved = *c.slice({{2}, {-1}, {3}});
  }
  EXPECT_FALSE(watch.expired());
  EXPECT_THAT(all<float>(moved), ElementsAre(3, 2, 1));
  moved = {};
  EXPECT_TRUE(watch.expired());
}

TEST(IrConstant, Moves) {
  const Constant c = Constant::of<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Constant t = permuted(c, {1, 0});
  EXPECT_EQ(t.dims(), (Dims{3, 2}));
  EXPECT_THAT(all<std::int32_t>(t), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_FALSE(t.direct());
  EXPECT_THAT(all<std::int32_t>(*t.reshape({6})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(all<std::int32_t>(*c.slice({{1, 2}, {-1, -2}, {2, 2}})), ElementsAre(6, 4, 3, 1));
  EXPECT_THAT(all<std::int32_t>(*t.slice({{0, 1}, {2, 1}, {2, 1}})), ElementsAre(4, 6));
  EXPECT_THAT(all<std::int32_t>(*c.slice({{0, 5}, {1, 1}, {2, 0}})), ElementsAre());
  EXPECT_THAT(*t.read<std::int32_t>(1, 3), ElementsAre(4, 2, 5));
}

TEST(IrConstant, ListsAreCanonical) {
  const Constant c = Constant::of<float>({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(permuted(permuted(c, {2, 0, 1}), {1, 2, 0}).transforms().empty());
  EXPECT_THAT(permuted(c, {1, 0, 2}).transforms(), ElementsAre(Transform(Reshape{{1, 2, 3}})));
  EXPECT_TRUE(permuted(c, {1, 0, 2}).direct());
  EXPECT_TRUE(c.reshape({6})->reshape({2, 1, 3})->transforms().empty());
  EXPECT_TRUE(c.slice({{0, 0, 0}, {1, 1, 1}, {2, 1, 3}})->transforms().empty());
  EXPECT_TRUE(c.scale(0, {1, 1})->shift(2, {0, 0, 0})->cast(DType::float32)->transforms().empty());
  EXPECT_THAT(c.scale(0, {2, 3})->scale(0, {4, 5})->transforms(), ElementsAre(Transform(ScaleAxis{0, {8, 15}})));
  EXPECT_EQ(c.scale(0, {2, 3})->scale(2, {4, 5, 6})->transforms().size(), 2u);
  EXPECT_EQ(c.scale(0, {1e-30f, 1})->scale(0, {1e-30f, 1})->transforms().size(), 2u);  // would underflow
  EXPECT_THAT(c.cast(DType::float64)->cast(DType::int8)->transforms(), ElementsAre(Transform(Cast{DType::int8})));
  EXPECT_EQ(c.cast(DType::int8)->cast(DType::float64)->transforms().size(), 2u);
  // What moves goes before what changes, a slice before a permute.
  EXPECT_THAT(c.cast(DType::float16)
                  ->scale(2, {1, 2, 3})
                  ->permute(Dims{2, 1, 0})
                  ->slice({{2, 0, 1}, {-1, 1, 1}, {2, 1, 1}})
                  ->transforms(),
              ElementsAre(Transform(Slice{{1, 0, 2}, {1, 1, -1}, {1, 1, 2}}), Transform(Reshape{{2, 1, 1}}),
                          Transform(Cast{DType::float16}), Transform(ScaleAxis{0, {3, 2}})));
}

TEST(IrConstant, TwoWaysAreTheSame) {
  const Constant c = Constant::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Constant a = *permuted(c, {1, 0}).scale(0, {1, 2, 3});
  const Constant b = *c.scale(1, {1, 2, 3})->permute(Dims{1, 0});
  EXPECT_TRUE(a.same(b));
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_FALSE(a.same(c));
  EXPECT_FALSE(c.same(Constant::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));  // other bytes, if equal ones
  EXPECT_EQ(*c.content_hash(), *Constant::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}).content_hash());
  EXPECT_NE(*c.content_hash(), *permuted(c, {1, 0}).content_hash());
  EXPECT_FALSE(c.scale(0, {0.0f, 1})->same(*c.scale(0, {-0.0f, 1})));
  const Constant n = *c.scale(0, {std::nanf(""), 1});
  EXPECT_TRUE(n.same(*c.scale(0, {std::nanf(""), 1})));
}

TEST(IrConstant, WhatDoesNotFitIsAnError) {
  const Constant c = Constant::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto bad = [](const auto& r) {
    EXPECT_FALSE(r.ok());
    if (!r.ok()) {
      EXPECT_EQ(r.error().code, Code::input_type);
      EXPECT_THAT(r.error().message, HasSubstr("f32[2,3]"));
    }
  };
  bad(c.permute(Dims{0}));
  bad(c.permute(Dims{0, 0}));
  bad(c.permute(Dims{0, 2}));
  bad(c.permute(Dims{0, -1}));
  bad(c.reshape({5}));
  bad(c.reshape({-1, 6}));
  bad(c.reshape({std::int64_t{1} << 40, std::int64_t{1} << 40}));
  bad(c.slice({{0}, {1}, {1}}));
  bad(c.slice({{0, 0}, {1, 0}, {1, 1}}));
  bad(c.slice({{0, 0}, {1, 1}, {1, -1}}));
  bad(c.slice({{0, 0}, {1, 1}, {1, 4}}));
  bad(c.slice({{0, 2}, {1, -1}, {1, 4}}));
  bad(c.slice({{-1, 0}, {1, 1}, {1, 1}}));
  bad(c.slice({{0, 0}, {1, std::numeric_limits<std::int64_t>::max()}, {1, 3}}));
  bad(c.slice({{0, 0}, {1, 1}, {1, std::numeric_limits<std::int64_t>::max()}}));
  bad(c.cast(DType::string));
  bad(c.cast(DType::undefined));
  bad(c.cast(DType::complex64));
  bad(c.scale(2, {1, 1}));
  bad(c.scale(-1, {1, 1, 1}));
  bad(c.scale(0, {1, 1, 1}));
  bad(c.shift(1, {1}));
  bad(c.read<float>(0, 7));
  bad(c.read<float>(-1, 1));
  bad(c.read<float>(6, std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(Constant::of<std::int32_t>({1}, {1}).scale(0, {2}).ok());
  EXPECT_FALSE(Constant::of<float>({}, {1}).scale(0, {2}).ok());
  std::vector<std::byte> small(23);
  EXPECT_FALSE(c.write(small).ok());
}

TEST(IrConstant, CastsSaturate) {
  const Constant f = Constant::of<float>({7}, {-1e30f, -1.9f, -0.9f, 1.9f, 300, 1e30f, std::nanf("")});
  EXPECT_THAT(all<std::int8_t>(f), ElementsAre(-128, -1, 0, 1, 127, 127, 0));
  EXPECT_THAT(all<std::uint8_t>(f), ElementsAre(0, 0, 0, 1, 255, 255, 0));
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(all<std::int64_t>(f), ElementsAre(kMin, -1, 0, 1, 300, kMax, 0));
  const Constant i = Constant::of<std::int64_t>({4}, {kMin, -1, 70000, kMax});
  EXPECT_THAT(all<std::int16_t>(i), ElementsAre(-32768, -1, 32767, 32767));
  EXPECT_THAT(all<std::uint64_t>(i), ElementsAre(0u, 0u, 70000u, static_cast<std::uint64_t>(kMax)));
  const Constant u = Constant::of<std::uint64_t>({1}, {std::numeric_limits<std::uint64_t>::max()});
  EXPECT_THAT(all<std::int64_t>(u), ElementsAre(kMax));
  EXPECT_THAT(all<float>(u), ElementsAre(18446744073709551616.0f));
  EXPECT_THAT(all<float>(*Constant::of<double>({2}, {1e300, 0.1}).cast(DType::float16)),
              ElementsAre(std::numeric_limits<float>::infinity(), f16_to_f32(0x2e66)));
  // In two steps the range of the first holds.
  EXPECT_THAT(all<float>(*f.cast(DType::int4)), ElementsAre(-8, -1, 0, 1, 7, 7, 0));
  EXPECT_THAT(all<float>(*f.cast(DType::uint4)), ElementsAre(0, 0, 0, 1, 15, 15, 0));
}

TEST(IrConstant, IntegersRoundOnceToNarrowFloats) {
  // 2^62 + 2^54 is the middle of two bfloat16s; one more is above it, though double cannot tell.
  const std::int64_t middle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const Constant c = *Constant::of<std::int64_t>({4}, {middle, middle + 1, -middle, -middle - 1}).cast(DType::bfloat16);
  const double low = std::ldexp(1.0, 62);
  const double high = low + std::ldexp(1.0, 55);
  EXPECT_THAT(all<double>(c), ElementsAre(low, high, -low, -high));
}

TEST(IrConstant, FourBits) {
  const Constant c = Constant::own(DType::int4, {5}, {std::byte{0x21}, std::byte{0xf8}, std::byte{0x07}});
  EXPECT_EQ(c.byte_size(), 3u);
  EXPECT_THAT(all<std::int32_t>(c), ElementsAre(1, 2, -8, -1, 7));
  EXPECT_THAT(*c.read<float>(3, 2), ElementsAre(-1, 7));
  const Constant reversed = *c.slice({{4}, {-1}, {5}});
  EXPECT_THAT(all<std::int8_t>(reversed), ElementsAre(7, -1, -8, 2, 1));
  EXPECT_THAT(written(reversed), ElementsAre(std::byte{0xf7}, std::byte{0x28}, std::byte{0x01}));
  const Constant u = Constant::own(DType::uint4, {2, 2}, {std::byte{0x21}, std::byte{0xf8}});
  EXPECT_THAT(all<std::int32_t>(*u.permute(Dims{1, 0})), ElementsAre(1, 8, 2, 15));
  EXPECT_THAT(all<std::int32_t>(*u.cast(DType::int4)), ElementsAre(1, 2, 7, 7));
  EXPECT_THAT(written(*Constant::of<float>({3}, {3, -9, 2.5f}).cast(DType::int4)),
              ElementsAre(std::byte{0x83}, std::byte{0x02}));
}

TEST(IrConstant, ScaleAndShiftInTheTypesOwnWidth) {
  const Constant h = *Constant::of<float>({2}, {1.0f, 2.0f}).cast(DType::float16);
  const Constant s = *h.scale(0, {0.1f, 0.1f})->shift(0, {1.0f, 0.5f});
  EXPECT_EQ(s.dtype(), DType::float16);
  const float a = f16_to_f32(f32_to_f16(f16_to_f32(f32_to_f16(0.1f)) + 1.0f));
  const float b = f16_to_f32(f32_to_f16(f16_to_f32(f32_to_f16(0.2f)) + 0.5f));
  EXPECT_THAT(all<float>(s), ElementsAre(a, b));
  const Constant d = *Constant::of<double>({1}, {1.0 + 1e-12}).scale(0, {3});
  EXPECT_THAT(all<double>(d), ElementsAre((1.0 + 1e-12) * 3));
}

TEST(IrConstant, Complex) {
  const std::array<float, 4> parts{1, 2, 3, 4};
  const auto bytes = std::as_bytes(std::span(parts));
  const Constant c = Constant::own(DType::complex64, {2}, {bytes.begin(), bytes.end()});
  ASSERT_TRUE(c);
  const auto out = written(*c.slice({{1}, {-1}, {2}}));
  std::array<float, 4> got{};
  std::memcpy(got.data(), out.data(), out.size());
  EXPECT_THAT(got, ElementsAre(3, 4, 1, 2));
  EXPECT_FALSE(c.read<float>().ok());
  EXPECT_FALSE(c.cast(DType::float32).ok());
}

TEST(IrConstant, Strings) {
  const Constant c = Constant::strings({2, 2}, {"a", "b", "c", "d"});
  ASSERT_TRUE(c);
  EXPECT_EQ(c.byte_size(), 0u);
  EXPECT_THAT(permuted(c, {1, 0}).string_values(), ElementsAre("a", "c", "b", "d"));
  EXPECT_THAT(c.slice({{1, 0}, {-1, 1}, {2, 1}})->string_values(), ElementsAre("c", "a"));
  EXPECT_EQ(c.reshape({4})->dims(), (Dims{4}));
  EXPECT_THAT(c.reshape({4})->string_values(), ElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(c.cast(DType::int8).ok());
  EXPECT_TRUE(c.cast(DType::string)->same(c));
  EXPECT_FALSE(c.scale(0, {1, 1}).ok());
  EXPECT_FALSE(c.direct());
  EXPECT_FALSE(c.read<float>().ok());
  EXPECT_FALSE(c.write({}).ok());
  EXPECT_NE(*c.content_hash(), *permuted(c, {1, 0}).content_hash());
}

TEST(IrConstant, Placeholders) {
  const Constant c = Constant::placeholder(DType::float32, {2, 3}, 0xabc);
  EXPECT_TRUE(c.is_placeholder());
  EXPECT_FALSE(c.direct());
  EXPECT_EQ(*c.content_hash(), 0xabcu);
  EXPECT_THAT(all<float>(*permuted(c, {1, 0}).shift(0, {1, 2, 3})), ElementsAre(1, 1, 2, 2, 3, 3));
  EXPECT_NE(*permuted(c, {1, 0}).content_hash(), 0xabcu);
  EXPECT_TRUE(c.same(Constant::placeholder(DType::float32, {2, 3}, 0xabc)));
  EXPECT_FALSE(c.same(Constant::placeholder(DType::float32, {2, 3}, 0xabd)));
  // The size is only on paper.
  const Constant huge = Constant::placeholder(DType::float32, {1 << 20, 1 << 20}, 1);
  ASSERT_TRUE(huge);
  EXPECT_THAT(*permuted(huge, {1, 0}).read<float>((std::int64_t{1} << 40) - 2, 2), ElementsAre(0, 0));
}

TEST(IrConstant, EmptyConstants) {
  const Constant c = Constant::of<float>({2, 0, 3}, {});
  EXPECT_TRUE(permuted(c, {2, 1, 0}).direct());
  EXPECT_TRUE(written(*c.reshape({0, 7})->cast(DType::int8)).empty());
  EXPECT_TRUE(all<float>(*c.scale(1, {})->permute(Dims{1, 2, 0})).empty());
  EXPECT_TRUE(all<float>(*c.scale(0, {2, 3})->reshape({3, 0})).empty());
}

TEST(IrConstant, ManyAxes) {
  const Dims ones(1000, 1);
  Constant c = *Constant::of<float>({1}, {7}).reshape(ones);
  Dims perm;
  for (std::int64_t i = 999; i >= 0; --i) perm.push_back(i);
  EXPECT_THAT(all<float>(permuted(c, perm)), ElementsAre(7));
  const Dims twos(12, 2);
  std::vector<float> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  c = Constant::of<float>(twos, std::span<const float>(values));
  const Constant reversed = permuted(c, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  const auto got = all<float>(reversed);
  EXPECT_EQ(got[1], 2048);
  EXPECT_EQ(got[2048], 1);
  EXPECT_EQ(got[0b110100000000], 0b000000001011);
}

}  // namespace
}  // namespace gantry
