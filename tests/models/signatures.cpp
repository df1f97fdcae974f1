// Language models with a cache of keys and values: prefill and decode in one file, past in and present out by name.
#include <algorithm>
#include <unistd.h>

#include <gtest/gtest.h>

#include "host/formats/tflite/reader.hpp"
#include "host/pipeline.hpp"
#include "host/verify/verify.hpp"
#include "tests/models/networks.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 32, kHeads = 2, kLayers = 2, kWords = 50;

/// Tokens [1, T] after P tokens in the cache; every layer's past_k and past_v in, present_k and present_v out.
class Decoder {
 public:
  Decoder(const std::string& tokens, const std::string& past) {
    const std::string heads = std::to_string(kHeads), head = std::to_string(kWidth / kHeads);
    const std::string cache = "float[1," + heads + "," + past + "," + head + "]";
    inputs_ = "int64[1," + tokens + "] tokens";
    std::string x = gather_embedding();
    for (int i = 0; i < kLayers; ++i) {
      const std::string k = "past_k" + std::to_string(i), v = "past_v" + std::to_string(i);
      inputs_ += ", " + cache + " " + k + ", " + cache + " " + v;
      x = layer(x, i, k, v);
    }
    nodes_ += "logits = MatMul(" + normal(x) + ", " + weight("out", kWidth, kWords) + ") ";
    outputs_ = "float[1," + tokens + "," + std::to_string(kWords) + "] logits" + outputs_;
  }
  Row row() const {
    return {.opset = 17, .inputs = inputs_, .weights = weights_, .nodes = nodes_, .outputs = outputs_};
  }

 private:
  std::string add(const std::string& text) {
    const std::string name = "v" + std::to_string(count_++);
    nodes_ += name + " = " + text + " ";
    return name;
  }
  std::string weight(const std::string& name, int rows, int columns) {
    weights_ += "w_" + name + "=" + std::to_string(rows) + "," + std::to_string(columns) + " ";
    return "w_" + name;
  }
  std::string constant(float value) { return add("Constant<value_float = " + std::to_string(value) + ">()"); }
  std::string ints(const std::string& values) { return add("Constant<value_ints = [" + values + "]>()"); }

  std::string gather_embedding() { return add("Gather<axis = 0>(" + weight("words", kWords, kWidth) + ", tokens)"); }

  /// x / sqrt(mean(x^2) + epsilon)
  std::string normal(const std::string& x) {
    const std::string square = add("Mul(" + x + ", " + x + ")");
    const std::string mean = add("ReduceMean<axes = [-1], keepdims = 1>(" + square + ")");
    return add("Div(" + x + ", " + add("Sqrt(" + add("Add(" + mean + ", " + constant(1e-3F) + ")") + ")") + ")");
  }

  std::string split(const std::string& x, const std::string& w) {
    const std::string y = add("MatMul(" + x + ", " + w + ")");
    const std::string shape = "0,-1," + std::to_string(kHeads) + "," + std::to_string(kWidth / kHeads);
    return add("Transpose<perm = [0,2,1,3]>(" + add("Reshape(" + y + ", " + ints(shape) + ")") + ")");
  }

  std::string layer(const std::string& x, int i, const std::string& past_k, const std::string& past_v) {
    const std::string n = std::to_string(i), normed = normal(x);
    const std::string q = split(normed, weight("q" + n, kWidth, kWidth)),
                      k = split(normed, weight("k" + n, kWidth, kWidth)),
                      v = split(normed, weight("v" + n, kWidth, kWidth));
    const std::string present_k = "present_k" + n, present_v = "present_v" + n;
    nodes_ += present_k + " = Concat<axis = 2>(" + past_k + ", " + k + ") ";
    nodes_ += present_v + " = Concat<axis = 2>(" + past_v + ", " + v + ") ";
    const std::string cache = "float[1," + std::to_string(kHeads) + ",A," + std::to_string(kWidth / kHeads) + "] ";
    outputs_ += ", " + cache + present_k + ", " + cache + present_v;
    const std::string kt = add("Transpose<perm = [0,1,3,2]>(" + present_k + ")");
    const std::string scores = add("Mul(" + add("MatMul(" + q + ", " + kt + ")") + ", " + constant(0.25F) + ")");
    const std::string attended = add("MatMul(" + add("Softmax(" + scores + ")") + ", " + present_v + ")");
    const std::string merged = add("Reshape(" + add("Transpose<perm = [0,2,1,3]>(" + attended + ")") + ", " +
                                   ints("0,-1," + std::to_string(kWidth)) + ")");
    const std::string h =
        add("Add(" + x + ", " + add("MatMul(" + merged + ", " + weight("o" + n, kWidth, kWidth) + ")") + ")");
    const std::string up = add("MatMul(" + normal(h) + ", " + weight("u" + n, kWidth, 4 * kWidth) + ")");
    const std::string silu = add("Mul(" + up + ", " + add("Sigmoid(" + up + ")") + ")");
    return add("Add(" + h + ", " + add("MatMul(" + silu + ", " + weight("d" + n, 4 * kWidth, kWidth) + ")") + ")");
  }

  std::string inputs_, weights_, nodes_, outputs_;
  int count_ = 0;
};

class KeyValueCache : public testing::Test {
 protected:
  KeyValueCache() : folder_(fs::temp_directory_path() / ("gantry_signatures_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~KeyValueCache() override {
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }

  fs::path write(const std::string& name, const Decoder& decoder) {
    write_model(folder_ / name, decoder.row());
    return folder_ / name;
  }

  Report convert(const std::vector<SignatureSource>& sources,
                 const std::map<std::string, std::vector<std::int64_t>>& shapes) {
    Report report;
    PluginSearch search{.extra = {GANTRY_TEST_PLUGIN_DIR}, .defaults = false};
    const auto plugins = PluginRegistry::discover(search, {}, report);
    EXPECT_TRUE(plugins.ok());
    PipelineOptions options;
    options.shapes = shapes;
    options.verify_each_pass = true;
    const Status s = convert_files(sources, out(), options, **plugins, report);
    EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
    return report;
  }

  void expect_same(const fs::path& model, const std::string& signature,
                   const std::map<std::string, std::vector<std::int64_t>>& shapes = {}) {
    SCOPED_TRACE(signature);
    VerifyRequest request{.reference = model, .candidate = out(), .shapes = shapes};
    request.candidate_signature = signature;
    request.onnxruntime = request.litert = GANTRY_TEST_RUNTIME_DIR;
    const auto record = verify(request);
    ASSERT_TRUE(record.ok()) << record.error().message;
    EXPECT_EQ(record->outputs.size(), 1u + 2 * kLayers);
    for (const OutputComparison& o : record->outputs)
      EXPECT_TRUE(o.ok && o.note.empty()) << o.name << ": " << o.max_abs << ' ' << o.note;
  }

  fs::path out() const { return folder_ / "m.tflite"; }
  fs::path folder_;
};

TEST_F(KeyValueCache, FixedLengthAndWeightsOnce) {
  const fs::path prefill = write("p.onnx", Decoder("6", "1")), decode = write("d.onnx", Decoder("1", "16"));
  const Report report = convert({{prefill, "prefill"}, {decode, "decode"}}, {});
  const auto names = tflite_format::signatures(out());
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"prefill", "decode"}));
  EXPECT_LT(report.weight_bytes, report.signatures[0].weight_bytes * 11 / 10);
  expect_same(prefill, "prefill");
  expect_same(decode, "decode");
}

TEST_F(KeyValueCache, OpenLength) {
  const fs::path prefill = write("p.onnx", Decoder("T", "P")), decode = write("d.onnx", Decoder("1", "P"));
  convert({{prefill, "prefill"}, {decode, "decode"}}, {});
  for (const std::int64_t past : {1, 5}) {
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (int i = 0; i < kLayers; ++i)
      for (const char* name : {"past_k", "past_v"})
        shapes[name + std::to_string(i)] = {1, kHeads, past, kWidth / kHeads};
    expect_same(decode, "decode", shapes);
    shapes["tokens"] = {1, 3};
    expect_same(prefill, "prefill", shapes);
  }
}

TEST_F(KeyValueCache, OneOpenModelInTwoSizes) {
  const fs::path model = write("m.onnx", Decoder("T", "P"));
  std::map<std::string, std::vector<std::int64_t>> shapes{{"prefill:tokens", {1, 4}}, {"decode:tokens", {1, 1}}};
  std::map<std::string, std::vector<std::int64_t>> caches;
  for (int i = 0; i < kLayers; ++i)
    for (const char* name : {"past_k", "past_v"}) caches[name + std::to_string(i)] = {1, kHeads, 8, kWidth / kHeads};
  shapes.insert(caches.begin(), caches.end());
  const Report report = convert({{model, "prefill"}, {model, "decode"}}, shapes);
  for (const Report& part : report.signatures) {
    for (const TensorRecord& t : part.inputs) EXPECT_EQ(t.type.find('?'), std::string::npos) << t.name << ' ' << t.type;
  }
  caches["tokens"] = {1, 4};
  expect_same(model, "prefill", caches);
  caches["tokens"] = {1, 1};
  expect_same(model, "decode", caches);
}

}  // namespace
}  // namespace gantry::test
