// Comparison of tensors as numpy.allclose with equal_nan does it.
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include "host/verify/compare.hpp"
#include "verify_models.hpp"

namespace gantry {
namespace {

using models::floats;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor of(DType t, const std::vector<T>& values) {
  Tensor r{t, {static_cast<std::int64_t>(values.size())}, std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(r.bytes.data(), values.data(), r.bytes.size());
  return r;
}

OutputComparison run(const std::vector<float>& want, const std::vector<float>& got, double atol = 1e-4,
                     double rtol = 0) {
  const auto n = static_cast<std::int64_t>(want.size());
  return compare("y", floats({n}, want), floats({n}, got), atol, rtol);
}

TEST(VerifyCompare, EqualTensorsDifferByNothing) {
  const auto c = run({1, -2, 0}, {1, -2, 0}, 0);
  EXPECT_TRUE(c.ok);
  EXPECT_EQ(c.max_abs, 0);
  EXPECT_EQ(c.max_rel, 0);
  EXPECT_EQ(c.note, "");
  EXPECT_TRUE(run({}, {}).ok);
}

TEST(VerifyCompare, TheToleranceIsThatOfAllclose) {
  EXPECT_TRUE(run({0}, {0.5f}, 0.5).ok);
  EXPECT_FALSE(run({0}, {0.5f}, 0.49).ok);
  EXPECT_TRUE(run({100}, {101}, 0, 0.01).ok);  // |101 - 100| <= 0.01 * |100|
  EXPECT_FALSE(run({100}, {101.1f}, 0, 0.01).ok);
  EXPECT_FALSE(run({99}, {100}, 0, 0.01).ok);  // of the reference, not of the larger one
}

TEST(VerifyCompare, TellsTheLargestErrorsAndWhere) {
  const auto c = compare("y", floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {1, 2.5f, 3, 4.25f}), 1e-4, 0);
  EXPECT_FALSE(c.ok);
  EXPECT_EQ(c.max_abs, 0.5);
  EXPECT_EQ(c.max_rel, 0.25);
  EXPECT_EQ(c.note, "2 of 4 elements differ, most at [0,1]: 2.5, not 2");
}

TEST(VerifyCompare, RelativeErrorsNearZeroDoNotCount) {
  const auto c = run({1e-9f, 10}, {2e-9f, 10.5f}, 1e-4);
  EXPECT_NEAR(c.max_rel, 0.05, 1e-9);
}

TEST(VerifyCompare, NanEqualsNanAndInfinityItself) {
  EXPECT_TRUE(run({kNan, kInf, -kInf}, {kNan, kInf, -kInf}, 0).ok);
  EXPECT_EQ(run({kNan, kInf}, {kNan, kInf}).max_abs, 0);
  for (const auto& [want, got] :
       std::vector<std::pair<float, float>>{{kNan, 1}, {1, kNan}, {kInf, -kInf}, {kInf, 1}, {1, kInf}, {kNan, kInf}}) {
    const auto c = run({want}, {got}, 1e30, 1e30);
    EXPECT_FALSE(c.ok) << want << " " << got;
    EXPECT_TRUE(std::isinf(c.max_abs));
  }
}

TEST(VerifyCompare, LargeIntegersAreComparedExactly) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_FALSE(compare("y", of<std::int64_t>(DType::int64, {big}), of<std::int64_t>(DType::int64, {big - 1}), 0, 0).ok);
  EXPECT_TRUE(compare("y", of<std::int64_t>(DType::int64, {big}), of<std::int64_t>(DType::int64, {big - 1}), 1, 0).ok);
  const auto extremes =
      compare("y", of<std::int64_t>(DType::int64, {INT64_MIN}), of<std::int64_t>(DType::int64, {INT64_MAX}), 0, 0);
  EXPECT_EQ(extremes.max_abs, 18446744073709551615.0);
  EXPECT_EQ(
      compare("y", of<std::uint64_t>(DType::uint64, {0}), of<std::uint64_t>(DType::uint64, {UINT64_MAX}), 0, 0).max_abs,
      18446744073709551615.0);
}

TEST(VerifyCompare, EveryTypeHasItsNumbers) {
  EXPECT_EQ(compare("y", of<std::int8_t>(DType::int8, {-1}), of<std::int8_t>(DType::int8, {2}), 0, 0).max_abs, 3);
  EXPECT_EQ(compare("y", of<std::uint8_t>(DType::uint8, {255}), of<std::uint8_t>(DType::uint8, {0}), 0, 0).max_abs,
            255);
  EXPECT_EQ(compare("y", of<std::uint8_t>(DType::boolean, {1}), of<std::uint8_t>(DType::boolean, {0}), 0, 0).max_abs,
            1);
  EXPECT_EQ(compare("y", of<std::uint16_t>(DType::float16, {0x3c00}), of<std::uint16_t>(DType::float16, {0x4000}), 0, 0)
                .max_abs,
            1);
  EXPECT_EQ(
      compare("y", of<std::uint16_t>(DType::bfloat16, {0x3f80}), of<std::uint16_t>(DType::bfloat16, {0x4000}), 0, 0)
          .max_abs,
      1);
  EXPECT_EQ(compare("y", of<double>(DType::float64, {1e300}), of<double>(DType::float64, {0}), 0, 0).max_abs, 1e300);
  Tensor a = of<float>(DType::complex64, {0, 0}), b = of<float>(DType::complex64, {3, 4});
  a.dims = b.dims = {1};
  EXPECT_EQ(compare("y", a, b, 0, 0).max_abs, 5);
}

TEST(VerifyCompare, OtherShapesDiffer) {
  const auto c = compare("y", floats({2, 1}, {1, 2}), floats({1, 2}, {1, 2}), 1, 1);
  EXPECT_FALSE(c.ok);
  EXPECT_EQ(c.note, "f32[1,2], but the reference gives f32[2,1]");
  EXPECT_FALSE(compare("y", floats({}, {1}), floats({1}, {1}), 1, 1).ok);
}

TEST(VerifyCompare, OtherTypesAreComparedAndNoted) {
  const auto c = compare("y", of<std::int64_t>(DType::int64, {3}), of<std::int32_t>(DType::int32, {3}), 0, 0);
  EXPECT_TRUE(c.ok);
  EXPECT_THAT(c.note, HasSubstr("i32[1], while the reference gives i64[1]"));
}

}  // namespace
}  // namespace gantry
