// Damaged files: deterministic changes of sound ones. Each is read, or refused with a reason; nothing crashes.
#include <random>

#include "tests/keras/keras_file.hpp"

namespace gantry::test {
namespace {

Json quantizer(const std::string& name, Json config) { return {{"class_name", name}, {"config", std::move(config)}}; }

KerasModel model() {
  KerasModel m;
  m.input("x", {4, 4, 2});
  m.layer("QConv2D", "c", {"x"},
          {{"filters", 2},
           {"kernel_size", {1, 1}},
           {"strides", {1, 1}},
           {"padding", "same"},
           {"kernel_quantizer", quantizer("quantized_bits", {{"bits", 4}, {"integer", 0}, {"alpha", "auto_po2"}})},
           {"bias_quantizer", "quantized_bits(4,0,alpha=1)"},
           {"activation", quantizer("quantized_relu", {{"bits", 4}, {"integer", 1}})}},
          {{"kernel", {1, 1, 2, 2}, {1, 0.5F, -0.25F, 0.125F}}, {"bias", {2}, {0.5F, -0.5F}}});
  m.layer("BatchNormalization", "n", {"c"}, {{"axis", {3}}, {"epsilon", 0.001}},
          {{"gamma", {2}, {1, 2}},
           {"beta", {2}, {0, 1}},
           {"moving_mean", {2}, {0.5F, 0}},
           {"moving_variance", {2}, {1, 4}}});
  m.layer("Flatten", "f", {"n"});
  m.layer("LSTM", "r", {"t"}, {{"units", 1}, {"return_sequences", true}},
          {{"kernel", {4, 4}, std::vector<float>(16, 0.1F)},
           {"recurrent_kernel", {1, 4}, std::vector<float>(4, 0.2F)},
           {"bias", {4}, std::vector<float>(4, 0.0F)}});
  m.layer("Reshape", "t", {"f"}, {{"target_shape", {8, 4}}});
  m.output("r");
  return m;
}
const std::map<std::string, std::string> kKeys = {{"x", "input_layer"}, {"c", "q_conv2d"}, {"n", "batch_normalization"},
                                                  {"f", "flatten"},     {"r", "lstm/cell"},     {"t", "reshape"}};

/// Some bytes changed, a part left out, doubled or overwritten, or the end cut off.
std::string mutated(std::string s, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % std::max<std::size_t>(n, 1); };
  switch (below(6)) {
    case 0:
      return s.substr(0, below(s.size()));
    case 1: {
      const std::size_t at = below(s.size());
      return s.erase(at, below(64));
    }
    case 2: {
      const std::size_t at = below(s.size());
      return s.insert(at, s.substr(below(s.size()), below(64)));
    }
    case 3: {  // sizes and addresses
      const std::size_t at = below(s.size()), n = 1 + below(8);
      for (std::size_t i = at; i < std::min(s.size(), at + n); ++i) s[i] = '\xff';
      return s;
    }
    default:
      for (std::size_t n = 1 + below(4); n > 0; --n) {
        char& c = s[below(s.size())];
        c = static_cast<char>(c ^ (1 << below(8)));
      }
      return s;
  }
}

class Mutations : public KerasTest {
 protected:
  void survives(const std::string& name, const std::string& bytes) {
    const Status s = convert(write(name, bytes), folder_ / "m.onnx", "qonnx");
    if (s.ok()) return;
    EXPECT_FALSE(s.error().message.empty());
    const int status = static_cast<int>(s.error().code) / 100;  // of the program
    EXPECT_TRUE(status == 3 || status == 4) << status << ": " << s.error().message;
  }
  /// `build` makes a file of a changed part.
  template <class Build>
  void all(const std::string& name, const std::string& sound, int count, Build build) {
    const Status s = convert(write(name, build(sound)), folder_ / "m.onnx", "qonnx");
    ASSERT_TRUE(s.ok()) << s.error().message;
    std::mt19937 random(17);
    for (int i = 0; i < count && !HasFailure(); ++i) {
      SCOPED_TRACE(i);
      survives(name, build(mutated(sound, random)));
    }
  }
};

TEST_F(Mutations, Hdf5) {
  all("m.h5", model().hdf5(), 200, [](const std::string& s) { return s; });
}

TEST_F(Mutations, Archive) {
  const std::string sound =
      zip_of({{"metadata.json", R"({"keras_version": "3.1"})"},
              {"config.json", model().config().dump()},
              {"model.weights.h5", model().hdf5_of_objects("_layer_checkpoint_dependencies", kKeys)}});
  all("m.keras", sound, 100, [](const std::string& s) { return s; });
}

TEST_F(Mutations, Configuration) {
  const std::string weights = model().hdf5_of_objects("_layer_checkpoint_dependencies", kKeys);
  all("m.keras", model().config().dump(), 300,
      [&](const std::string& s) { return zip_of({{"config.json", s}, {"model.weights.h5", weights}}); });
}

}  // namespace
}  // namespace gantry::test
