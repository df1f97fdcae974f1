// QActivation(quantized_bits) where converters used to lose it, by pattern and number of bits; the quantizers of
// weights.
#include <cmath>
#include <fstream>
#include <numeric>

#include <onnx/onnx_pb.h>

#include "tests/keras/keras_file.hpp"

namespace gantry::test {
namespace {

using Floats = std::vector<float>;

Floats wave(std::size_t n, float height = 3) {
  Floats x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = height * std::sin(1.7F * static_cast<float>(i) + 0.3F);
  return x;
}

float quantized_bits(float x, int bits, int integer) {
  const float step = std::exp2(static_cast<float>(integer - bits + 1)), most = std::exp2(static_cast<float>(bits - 1));
  return std::clamp(std::nearbyint(x / step), -most, most - 1) * step;
}

Json bits(int b, int i, Json alpha = 1.0) {
  return {{"class_name", "quantized_bits"},
          {"config",
           {{"bits", b}, {"integer", i}, {"symmetric", 0}, {"alpha", std::move(alpha)}, {"keep_negative", true}}}};
}

// y = x kernel, one row
Floats times(const Floats& x, const Floats& kernel, std::size_t columns) {
  Floats y(columns, 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j) y[j] += x[i] * kernel[i * columns + j];
  return y;
}

struct Pattern {
  std::string name;
  int bits;
};
void PrintTo(const Pattern& p, std::ostream* out) { *out << p.name << p.bits; }

class QActivationOfBits : public KerasTest, public testing::WithParamInterface<Pattern> {
 protected:
  int b() const { return GetParam().bits; }
  Json quantizer() const { return {{"activation", bits(b(), 2)}}; }
  Floats quantized(Floats x) const {
    for (float& v : x) v = quantized_bits(v, b(), 2);
    return x;
  }
  /// One Quant of so many bits in the file, and these numbers.
  void expect(const KerasModel& model, const std::vector<Floats>& inputs, const Floats& numbers) {
    const std::vector<Floats> y = run(model.hdf5(), inputs);
    ASSERT_EQ(y.size(), 1U);
    ASSERT_EQ(y[0].size(), numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(y[0][i], numbers[i], 1e-5) << i;
    const Status s = convert(folder_ / "m.h5", folder_ / "q.onnx", "qonnx");
    ASSERT_TRUE(s.ok()) << s.error().message;
    onnx::ModelProto file;
    std::ifstream in(folder_ / "q.onnx", std::ios::binary);
    ASSERT_TRUE(file.ParseFromIstream(&in));
    int quants = 0;
    for (const auto& n : file.graph().node()) quants += n.op_type() == "Quant";
    EXPECT_EQ(quants, 1);
  }
};

TEST_P(QActivationOfBits, IsKept) {
  const std::string& pattern = GetParam().name;
  KerasModel m;
  const Floats x = wave(6);
  if (pattern == "at_the_input") {
    m.input("x", {6});
    m.layer("QActivation", "q", {"x"}, quantizer());
    m.output("q");
    expect(m, {x}, quantized(x));
  } else if (pattern == "between_layers") {
    m.input("x", {6});
    const Floats first = wave(24, 1), second = wave(12, 0.5);
    m.layer("Dense", "a", {"x"}, {{"units", 4}, {"use_bias", false}}, {{"kernel", {6, 4}, first}});
    m.layer("QActivation", "q", {"a"}, quantizer());
    m.layer("Dense", "b", {"q"}, {{"units", 3}, {"use_bias", false}}, {{"kernel", {4, 3}, second}});
    m.output("b");
    expect(m, {x}, times(quantized(times(x, first, 4)), second, 3));
  } else if (pattern == "after_batch_normalization") {
    m.input("x", {1, 2, 3});
    m.layer("BatchNormalization", "n", {"x"}, {{"axis", {3}}, {"epsilon", 0.0}},
            {{"gamma", {3}, {1, 2, 0.5F}},
             {"beta", {3}, {0.25F, 0, -0.5F}},
             {"moving_mean", {3}, {0, 0.5F, 0}},
             {"moving_variance", {3}, {1, 4, 0.25F}}});
    m.layer("QActivation", "q", {"n"}, quantizer());
    m.output("q");
    Floats n(x);
    for (std::size_t i = 0; i < n.size(); ++i)
      n[i] = i % 3 == 0 ? x[i] + 0.25F : i % 3 == 1 ? x[i] - 0.5F : x[i] - 0.5F;
    expect(m, {x}, quantized(n));
  } else {
    m.input("x", {6});
    m.input("y", {6});
    m.layer("Add", "s", {"x", "y"});
    m.layer("QActivation", "q", {"s"}, quantizer());
    m.output("q");
    const Floats y = wave(6, 1.25F);
    Floats sum(x);
    for (std::size_t i = 0; i < 6; ++i) sum[i] += y[i];
    expect(m, {x, y}, quantized(sum));
  }
}

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  for (const char* name : {"at_the_input", "between_layers", "after_batch_normalization", "after_add"})
    for (int b = 4; b <= 16; ++b) all.push_back({name, b});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Patterns, QActivationOfBits, testing::ValuesIn(patterns()),
                         [](const auto& made) { return made.param.name + "_" + std::to_string(made.param.bits); });

// ---- the four spellings, and others ----

using Quantizers = KerasTest;

TEST_F(Quantizers, EverySpellingIsRead) {
  const Json config = {{"bits", 4}, {"integer", 1}, {"use_sigmoid", 0}, {"negative_slope", 0.0}};
  const std::vector<Json> spellings = {
      {{"class_name", "quantized_relu"}, {"config", config}},
      {{"class_name", "quantized_relu"}, {"config", config}, {"__passive_serialization__", true}},
      {{"module", "qkeras.quantizers"},
       {"class_name", "quantized_relu"},
       {"config", config},
       {"registered_name", "qkeras>quantized_relu"}},
      {{"class_name", "qkeras>quantized_relu"}, {"config", config}},
      "quantized_relu(4,1)",
      "quantized_relu(bits=4, integer = 1, negative_slope=0.0)"};
  const Floats x = wave(8);
  for (const Json& spelling : spellings) {
    KerasModel m;
    m.input("x", {8});
    m.layer("QActivation", "q", {"x"}, {{"activation", spelling}});
    m.output("q");
    const std::vector<Floats> y = run(m.hdf5(), {x});
    ASSERT_EQ(y.size(), 1U) << spelling;
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_FLOAT_EQ(y[0][i], std::clamp(std::nearbyint(x[i] * 8), 0.0F, 15.0F) / 8) << spelling;
  }
}

TEST_F(Quantizers, AKernelsScaleStaysWithItsChannel) {
  KerasModel m;
  m.input("x", {4});
  const Floats kernel = {0.7F, -0.1F, 0.3F, 0.02F, -0.35F, 0.05F, 0.1F, -0.1F};
  m.layer("QDense", "d", {"x"}, {{"units", 2}, {"use_bias", false}, {"kernel_quantizer", bits(4, 0, "auto")}},
          {{"kernel", {4, 2}, kernel}});
  m.output("d");
  const Floats x = {1, 0, 0, 0};
  const std::vector<Floats> y = run(m.hdf5(), {x});
  ASSERT_EQ(y.size(), 1U);
  EXPECT_NEAR(y[0][0], 0.7, 1e-6);  // the largest of a channel is kept
  EXPECT_NEAR(y[0][1], -0.1, 1e-6);
}

TEST_F(Quantizers, ThatCannotBeExactAreRefusedByTheLayersName) {
  const std::vector<std::pair<Json, std::string>> refused = {{"bernoulli()", "random"},
                                                             {bits(4, 0, "auto"), "follows the data"},
                                                             {"quantized_nothing(3)", "not known"},
                                                             {"quantized_bits(4,", "not understood"}};
  for (const auto& [quantizer, reason] : refused) {
    KerasModel m;
    m.input("x", {4});
    m.layer("QActivation", "the_layer", {"x"}, {{"activation", quantizer}});
    m.output("the_layer");
    const Status s = convert(write("m.h5", m.hdf5()), folder_ / "q.onnx", "qonnx");
    ASSERT_FALSE(s.ok()) << quantizer;
    EXPECT_THAT(s.error().message, testing::HasSubstr(reason)) << quantizer;
    EXPECT_EQ(s.error().node, "the_layer") << quantizer;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "q.onnx"));
  }
}

TEST_F(Quantizers, TiesRoundAsTheOptionSays) {
  KerasModel m;
  m.input("x", {4});
  m.layer("QActivation", "q", {"x"}, {{"activation", bits(4, 0)}});
  m.output("q");
  const std::filesystem::path model = write("m.h5", m.hdf5()), out = folder_ / "q.onnx";
  for (const char* mode : {"ROUND", "HALF_UP", "FLOOR"}) {
    rounding_ = mode;
    ASSERT_TRUE(convert(model, out, "qonnx").ok()) << mode;
    onnx::ModelProto file;
    std::ifstream in(out, std::ios::binary);
    ASSERT_TRUE(file.ParseFromIstream(&in));
    ASSERT_EQ(file.graph().node_size(), 1);
    for (const auto& a : file.graph().node(0).attribute()) {
      if (a.name() == "rounding_mode") {
        EXPECT_EQ(a.s(), mode);
      }
    }
    EXPECT_EQ(convert(model, folder_ / "c.onnx", "qcdq").ok(), mode == std::string("ROUND")) << mode;
  }
  rounding_ = "SIDEWAYS";
  const Status s = convert(model, out, "qonnx");
  ASSERT_FALSE(s.ok());
  EXPECT_THAT(s.error().message, testing::HasSubstr("SIDEWAYS"));
}

// Values between: the bound of the negative side is less than a step; one bit of tanh is -1 and 0.
TEST_F(Quantizers, OfFewBits) {
  const Floats x = {-8, -3, -1, -0.3F, 0, 0.2F, 0.6F, 2};
  const std::vector<std::pair<Json, Floats>> cases = {
      {"quantized_relu(3,0,negative_slope=0.125)", {-0.125F, -0.125F, 0, 0, 0, 0.25F, 0.5F, 0.75F}},
      {"quantized_tanh(1)", {-1, -1, -1, 0, 0, 0, 0, 0}}};
  for (const auto& [quantizer, numbers] : cases) {
    KerasModel m;
    m.input("x", {8});
    m.layer("QActivation", "q", {"x"}, {{"activation", quantizer}});
    m.output("q");
    const std::vector<Floats> y = run(m.hdf5(), {x});
    ASSERT_EQ(y.size(), 1U) << quantizer;
    EXPECT_EQ(y[0], numbers) << quantizer;
  }
}

TEST_F(Quantizers, QcdqIsWrittenWhereItIsExact) {
  KerasModel m;
  m.input("x", {4});
  m.layer("QActivation", "q", {"x"}, {{"activation", bits(4, 0)}});
  m.output("q");
  EXPECT_TRUE(convert(write("m.h5", m.hdf5()), folder_ / "q.onnx", "qcdq").ok());
  KerasModel wide;
  wide.input("x", {4});
  wide.layer("QActivation", "q", {"x"}, {{"activation", bits(12, 0)}});
  wide.output("q");
  const Status s = convert(write("w.h5", wide.hdf5()), folder_ / "w.onnx", "qcdq");
  ASSERT_FALSE(s.ok());
  EXPECT_THAT(s.error().message, testing::HasSubstr("12 bits"));
}

}  // namespace
}  // namespace gantry::test
