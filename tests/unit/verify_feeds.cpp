// What a model gets to run on.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>

#include "host/verify/feeds.hpp"
#include "host/verify/npy.hpp"
#include "verify_models.hpp"

namespace gantry {
namespace {

using models::as_floats;
using models::floats;
using models::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Port port(const std::string& name, DType t, const std::vector<Dim>& dims) {
  Port p{name, Type::unranked(t)};
  p.type.ranked = true;
  p.type.dims = dims;
  return p;
}

std::string save(const TempDir& dir, const std::string& name, const Tensor& t) {
  const auto bytes = to_npy(t);
  return dir.write(name, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

TEST(VerifyFeeds, RandomNumbersAreTheSameOnEveryMachine) {
  // The numbers are part of what --seed promises: they must never change.
  EXPECT_THAT(as_floats(random_tensor(DType::float32, {3}, "x", 0)),
              ElementsAre(0x1.4d95000000000p+0f, 0x1.6cf3000000000p+0f, 0x1.f4c2000000000p-1f));
  EXPECT_THAT(as_floats(random_tensor(DType::float32, {3}, "x", 1)),
              ElementsAre(0x1.d47f000000000p+0f, 0x1.159e000000000p+0f, 0x1.b2ba000000000p-1f));
  EXPECT_NE(random_tensor(DType::float32, {3}, "y", 0), random_tensor(DType::float32, {3}, "x", 0));
}

TEST(VerifyFeeds, RandomNumbersHaveMean0AndVariance1) {
  double sum = 0, squares = 0;
  const auto values = as_floats(random_tensor(DType::float32, {100, 1000}, "x", 7));
  for (const float v : values) {
    sum += v;
    squares += double{v} * v;
    EXPECT_LE(std::abs(v), 6);
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(VerifyFeeds, RandomIntegersAreSmallAndAlikeInEveryType) {
  std::vector<int> seen(11);
  const Tensor wide = random_tensor(DType::int64, {1000}, "x", 0), narrow = random_tensor(DType::uint8, {1000}, "x", 0);
  for (std::size_t i = 0; i < 1000; ++i) {
    std::int64_t v = 0;
    std::memcpy(&v, &wide.bytes[i * 8], 8);
    ASSERT_TRUE(v >= 0 && v <= 10);
    EXPECT_EQ(v, std::to_integer<int>(narrow.bytes[i]));
    ++seen[static_cast<std::size_t>(v)];
  }
  for (const int n : seen) EXPECT_GT(n, 0);
  for (const std::byte b : random_tensor(DType::boolean, {100}, "x", 0).bytes) EXPECT_LE(std::to_integer<int>(b), 1);
}

TEST(VerifyFeeds, OpenDimensionsAreOneUnlessGiven) {
  const std::vector<Port> inputs{port("x", DType::float32, {Dim::named("N"), 3, Dim()}),
                                 port("y", DType::float32, {Dim::named("N")})};
  auto feeds = make_feeds(inputs, {});
  ASSERT_TRUE(feeds.ok());
  EXPECT_THAT(feeds->at("x").dims, ElementsAre(1, 3, 1));
  EXPECT_THAT(feeds->at("y").dims, ElementsAre(1));
  feeds = make_feeds(inputs, {.given = {}, .shapes = {{"x", {4, 3, 2}}}});
  ASSERT_TRUE(feeds.ok());
  EXPECT_THAT(feeds->at("x").dims, ElementsAre(4, 3, 2));
  EXPECT_THAT(feeds->at("y").dims, ElementsAre(4)) << "the symbol N is 4";
}

TEST(VerifyFeeds, AShapeWithoutNameIsForASingleInput) {
  const std::vector<Port> one{port("x", DType::float32, {Dim()})};
  EXPECT_THAT(make_feeds(one, {.given = {}, .shapes = {{"", {5}}}})->at("x").dims, ElementsAre(5));
  const std::vector<Port> two{one[0], port("y", DType::float32, {Dim()})};
  EXPECT_EQ(make_feeds(two, {.given = {}, .shapes = {{"", {5}}}}).error().code, Code::usage);
}

TEST(VerifyFeeds, WrongShapesAreErrorsOfUse) {
  const std::vector<Port> inputs{port("x", DType::float32, {Dim(), 3})};
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{4}, {4, 5}, {-1, 3}}) {
    const auto feeds = make_feeds(inputs, {.given = {}, .shapes = {{"x", dims}}});
    ASSERT_FALSE(feeds.ok());
    EXPECT_EQ(feeds.error().code, Code::usage);
    EXPECT_THAT(feeds.error().message, HasSubstr("f32[?,3]"));
  }
  const auto unknown = make_feeds(inputs, {.given = {}, .shapes = {{"z", {1, 3}}}});
  EXPECT_EQ(unknown.error().message, "a shape is given for 'z', but the model has no such input");
  EXPECT_EQ(unknown.error().hint, "it has x");
  EXPECT_EQ(make_feeds({port("x", DType::float32, {1 << 30, 1 << 30})}, {}).error().code, Code::input_too_large);
  EXPECT_EQ(make_feeds({port("x", DType::string, {1})}, {}).error().code, Code::unsupported_type);
}

TEST(VerifyFeeds, TakesGivenTensors) {
  const TempDir dir;
  const std::string x = save(dir, "x.npy", floats({1}, {3})), other = save(dir, "other.npy", floats({1}, {4}));
  const std::vector<Port> inputs{port("x", DType::float32, {1}), port("in=1", DType::float32, {1})};
  auto given = read_given({x, "in=1=" + other});
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ(make_feeds(inputs, {.given = *given, .shapes = {}})->at("x"), floats({1}, {3}));
  EXPECT_EQ(make_feeds(inputs, {.given = *given, .shapes = {}})->at("in=1"), floats({1}, {4}));
  given = read_given({"x=" + other});
  EXPECT_EQ(make_feeds(inputs, {.given = *given, .shapes = {}})->at("x"), floats({1}, {4}));
  EXPECT_EQ(read_given({x, "x=" + other}).error().code, Code::usage);
  EXPECT_EQ(read_given({dir.path() + "/none.npz"}).error().code, Code::input_not_found);
}

TEST(VerifyFeeds, AFileOfAnotherNameIsForASingleInputOnly) {
  const TempDir dir;
  const auto given = read_given({save(dir, "picture.npy", floats({1}, {3}))});
  const std::vector<Port> one{port("x", DType::float32, {1})}, two{one[0], port("y", DType::float32, {1})};
  EXPECT_EQ(make_feeds(one, {.given = *given, .shapes = {}})->at("x"), floats({1}, {3}));
  EXPECT_EQ(make_feeds(two, {.given = *given, .shapes = {}}).error().code, Code::usage);
}

TEST(VerifyFeeds, GivenTensorsMustFit) {
  const TempDir dir;
  const auto given = read_given({save(dir, "x.npy", floats({2}, {1, 2}))});
  for (const Port& p :
       {port("x", DType::float64, {2}), port("x", DType::float32, {3}), port("x", DType::float32, {2, 1})}) {
    const auto feeds = make_feeds({p}, {.given = *given, .shapes = {}});
    ASSERT_FALSE(feeds.ok());
    EXPECT_EQ(feeds.error().code, Code::input_type);
    EXPECT_THAT(feeds.error().message, HasSubstr("but the file holds f32[2]"));
    EXPECT_THAT(feeds.error().place, HasSubstr("x.npy"));
  }
  const auto feeds =
      make_feeds({port("x", DType::float32, {Dim::named("N")}), port("y", DType::float32, {Dim::named("N")})},
                 {.given = *given, .shapes = {}});
  ASSERT_TRUE(feeds.ok());
  EXPECT_THAT(feeds->at("y").dims, ElementsAre(2)) << "given tensors fix symbols";
}

}  // namespace
}  // namespace gantry
