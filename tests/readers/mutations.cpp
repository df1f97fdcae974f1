// Damaged files: deterministic changes of sound ones. Each is read, or refused with a reason; nothing crashes, and
// nothing takes more memory than the file warrants.
#include <random>
#include <stdexcept>

#include "plugins/keras/attributes.hpp"
#include "plugins/keras/hdf5_file.hpp"
#include "plugins/keras/json.hpp"
#include "plugins/keras/model.hpp"
#include "plugins/keras/roles.hpp"
#include "plugins/keras/weights.hpp"
#include "plugins/keras/zip.hpp"
#include "plugins/quant/quantizer.hpp"
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
const std::map<std::string, std::string> kKeys = {{"x", "input_layer"},         {"c", "q_conv2d"},
                                                  {"n", "batch_normalization"}, {"f", "flatten"},
                                                  {"r", "lstm/cell"},           {"t", "reshape"}};

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

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }
std::string_view text_of(std::span<const std::byte> b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

/// Layers of a configuration, all of their weights and attributes; how many weights were found.
std::size_t read_layers(const keras::Json& config, const keras::Hdf5File& file) {
  const keras::Model model = keras::describe_model(config);
  const keras::Weights weights(file);
  std::size_t found = 0;
  for (const keras::Layer& layer : model.layers) {
    for (const sdk::Attribute& a : keras::attributes_of_config(*layer.config)) (void)a;
    for (const keras::Role& role : keras::roles_of(layer.class_name, *layer.config))
      if (const auto path = weights.find(weights.layer(weights.root(), layer.name, layer.key), role)) {
        const keras::Dataset data = file.read(*path);
        std::size_t elements = 1;
        for (const std::int64_t d : data.dims) elements *= static_cast<std::size_t>(d);
        EXPECT_EQ(data.bytes.size(), elements * sizeof(float));
        found += std::ranges::count(data.bytes, std::byte{0}) <= std::ssize(data.bytes);  // every byte is there
      }
    const keras::Json& q = keras::member(*layer.config, "kernel_quantizer");
    if (!q.is_null())
      if (const auto quantizer = quant::parse_quantizer(q.dump())) (void)quantizer->alpha();
  }
  return found;
}

std::size_t read_hdf5(const std::string& s) {
  const keras::Hdf5File file(bytes_of(s));
  return read_layers(keras::parse_json(file.text("/", "model_config").value_or(""), "model_config"), file);
}

std::size_t read_archive(const std::string& s) {
  const keras::Zip zip(bytes_of(s));
  std::vector<std::byte> config, weights;
  const keras::Json json = keras::parse_json(text_of(zip.read("config.json", 1 << 24, config)), "config.json");
  const keras::Hdf5File file(zip.read("model.weights.h5", 1 << 24, weights));
  return read_layers(json, file);
}

template <class Read>
void all(const std::string& sound, int count, Read read) {
  EXPECT_EQ(read(sound), 9U);
  std::mt19937 random(17);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    try {
      (void)read(mutated(sound, random));
    } catch (const std::runtime_error& e) {  // what a reader may throw, a refusal among it
      EXPECT_STRNE(e.what(), "");
      ++refused;
    }
  }
  EXPECT_GT(refused, count / 20);
}

TEST(Mutations, Hdf5) { all(model().hdf5(), 400, read_hdf5); }

TEST(Mutations, Archive) {
  all(zip_of({{"config.json", model().config().dump()},
              {"model.weights.h5", model().hdf5_of_objects("_layer_checkpoint_dependencies", kKeys)}}),
      300, read_archive);
}

TEST(Mutations, Configuration) {
  const std::string weights = model().hdf5_of_objects("_layer_checkpoint_dependencies", kKeys);
  const keras::Hdf5File file(bytes_of(weights));
  all(model().config().dump(), 3000,
      [&](const std::string& s) { return read_layers(keras::parse_json(s, "config.json"), file); });
}

TEST(Mutations, Quantizers) {
  std::mt19937 random(17);
  for (const char* sound : {"quantized_bits(4, 0, alpha='auto', keep_negative=True)",
                            "quantized_bits(bits=4,alpha=[0.5,(1,2)],symmetric=None)",
                            R"({"class_name":"quantized_relu","config":{"bits":4,"alpha":[1,2.5]},"module":"qkeras"})"})
    for (int i = 0; i < 2000; ++i) try {
        const auto q = quant::parse_quantizer(mutated(sound, random));
        if (q) (void)q->alpha(), (void)q->number("bits", 8);
      } catch (const sdk::Declined& e) {
        EXPECT_STRNE(e.what(), "");
      }
  EXPECT_THROW((void)quant::parse_quantizer("{\"a\":" + std::string(100'000, '[')), sdk::Declined);
}

}  // namespace
}  // namespace gantry::test
