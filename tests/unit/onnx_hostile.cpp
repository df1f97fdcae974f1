// Whatever is in the file: a graph or a diagnostic, never a crash. (The sanitizers of the dev build look on.)
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "host/ir/verifier.hpp"
#include "onnx_support.hpp"

namespace gantry::onnx_format {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kModel = R"(
  <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
  net (float[1,2,4,4] x, bool c) => (float[?,?] y)
  <float[2,2,1,1] w = {1, 2, 3, 4}, int64[2] to = {1, -1}, int64[1] n = {3}> {
    a = Conv <kernel_shape = [1, 1], auto_pad = "SAME_UPPER"> (x, w)
    b = f.twice <by = 2.0> (a)
    d = If (c) <then_branch = t () => (p) { p = Relu (b) }, else_branch = e () => (q) { q = Neg (b) }>
    l = Loop (n, c, d) <body = body (i, k, s) => (k2, s2) { k2 = Identity (k) s2 = Add (s, s) }>
    y = Reshape (l, to)
  }
  <domain: "f", opset_import: ["" : 17]>
  twice <by> (x) => (y) { k = Constant <value_float: float = @by> () y = Mul (x, k) })";

// A small model of everything, with a payload that is cut out, one in pieces, a sparse and an external tensor.
std::string seed() {
  return model_bytes(kModel, [](onnx::ModelProto& model) {
    auto& graph = *model.mutable_graph();
    auto& large = *graph.add_initializer();
    large.set_name("large");
    large.set_data_type(onnx::TensorProto::FLOAT);
    large.add_dims(300);
    large.set_raw_data(std::string(1200, '\0'));
    auto& sparse = *graph.add_sparse_initializer();
    sparse.add_dims(4);
    sparse.mutable_values()->set_name("sparse");
    sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
    sparse.mutable_values()->add_dims(1);
    sparse.mutable_values()->add_float_data(1);
    sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(1);
    sparse.mutable_indices()->add_int64_data(2);
  });
}

// Reads and works on what was read. Every error must be one about the input.
void try_all(const std::string& bytes) {
  Result<ReadResult> model = read_bytes(bytes);
  if (!model.ok()) {
    const int code = static_cast<int>(model.error().code);
    EXPECT_TRUE(code / 100 == 3 || code / 100 == 4) << code << ": " << model.error().message;
    EXPECT_FALSE(model.error().message.empty());
    return;
  }
  Graph& graph = model->graph;
  Status sound = verify(graph);
  ASSERT_TRUE(sound.ok()) << sound.error().message;
  for (const NodeId n : graph.nodes(graph.main())) {
    if (!model->semantics->infer(graph, n).ok()) return;
  }
  for (const NodeId n : graph.nodes(graph.main())) {
    if (!model->semantics->expand(graph, n).ok()) return;
  }
  sound = verify(graph);
  ASSERT_TRUE(sound.ok()) << sound.error().message;
}

TEST(OnnxHostile, TheSeedIsSound) {
  const Result<ReadResult> model = read_bytes(seed());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->graph.live_nodes(), 9u);
  try_all(seed());
}

TEST(OnnxHostile, EveryTruncation) {
  const std::string whole = seed();
  for (std::size_t size = 0; size < whole.size(); ++size) try_all(whole.substr(0, size));
}

TEST(OnnxHostile, EveryByteChanged) {
  std::string bytes = seed();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= 32 && bytes[i] == '\0' && bytes[i - 1] == '\0') continue;  // within the large payload
    const char was = bytes[i];
    for (const int change : {0x01, 0x80, 0xFF, 0x7F, 0x08}) {
      bytes[i] = static_cast<char>(was ^ change);
      try_all(bytes);
    }
    bytes[i] = was;
  }
}

TEST(OnnxHostile, PartsTakenOutAndDoubled) {
  const std::string whole = seed();
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    for (int edits = 0; edits < 3; ++edits) {
      const std::size_t at = random() % bytes.size();
      const std::size_t size = std::min<std::size_t>(1 + random() % 16, bytes.size() - at);
      if (random() % 2 != 0) {
        bytes.erase(at, size);
      } else {
        bytes.insert(random() % bytes.size(), bytes.substr(at, size));
      }
      if (bytes.empty()) break;
    }
    try_all(bytes);
  }
}

// ---- files that are something else ----

Diagnostic refused_file(const Folder& folder, std::string_view name, std::string_view bytes) {
  Result<ReadResult> model = read(folder.write(name, bytes));
  EXPECT_FALSE(model.ok());
  return model.ok() ? Diagnostic() : model.take_error();
}

TEST(OnnxHostile, FilesThatAreNoModels) {
  const Folder folder;
  for (const auto& [bytes, part] : std::initializer_list<std::pair<std::string, std::string_view>>{
           {"", "is empty"},
           {"once upon a time\n", "a text file"},
           {"<!DOCTYPE html><html>", "an HTML page"},
           {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"},
           {"PK\x03\x04 and so on", "a zip archive"},
           {std::string("\x1C\0\0\0TFL3", 8), "a TFLite model"},
           {std::string("\x89HDF\r\n\x1a\n", 8), "an HDF5 file"},
           {"\x1F\x8B\x08", "gzip"},
           {"{\"a\": 1}", "a JSON text"},
       }) {
    const Diagnostic d = refused_file(folder, "model.onnx", bytes);
    EXPECT_EQ(d.code, Code::input_format) << part;
    EXPECT_THAT(d.message, HasSubstr("'model.onnx'"));
    EXPECT_THAT(d.message, HasSubstr(part));
    EXPECT_THAT(d.place, HasSubstr("model.onnx"));
  }
}

TEST(OnnxHostile, FilesThatCannotBeRead) {
  const Folder folder;
  const Result<ReadResult> missing = read(folder.path() / "none.onnx");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::input_not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
  const Result<ReadResult> a_folder = read(folder.path());
  ASSERT_FALSE(a_folder.ok());
  EXPECT_THAT(a_folder.error().message, HasSubstr("it is a folder"));
}

TEST(OnnxHostile, ProtobufThatIsNoModel) {
  const Folder folder;
  EXPECT_THAT(refused_file(folder, "m.onnx", "\x08\x0A").message, HasSubstr("no ONNX graph"));
  EXPECT_EQ(refused_file(folder, "m.onnx", "\x08\x0A\x3A\x7F").code, Code::input_malformed);
}

TEST(FileFormats, AreDetected) {
  const auto detect = [](std::string_view bytes, std::string_view name) {
    return detect_format(std::as_bytes(std::span(bytes)), name);
  };
  EXPECT_EQ(detect("", "m.onnx"), FileFormat::empty);
  EXPECT_EQ(detect("\x08\x0A\x3A", "model"), FileFormat::onnx);
  EXPECT_EQ(detect("\x3A\x01\x01", "m.onnx"), FileFormat::onnx);
  EXPECT_EQ(detect("\x3A\x01\x01", "m.bin"), FileFormat::unknown);
  EXPECT_EQ(detect(std::string_view("\x1C\0\0\0TFL3", 8), "m.onnx"), FileFormat::tflite);
  EXPECT_EQ(detect("\x89HDF\r\n\x1a\n", "m"), FileFormat::hdf5);
  EXPECT_EQ(detect("PK\x03\x04", "m.keras"), FileFormat::zip);
  EXPECT_EQ(detect("hello", "m.onnx"), FileFormat::text);
}

TEST(MappedFiles, HoldTheBytes) {
  const Folder folder;
  const auto file = MappedFile::open(folder.write("f", "abc"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->bytes().size(), 3u);
  EXPECT_EQ(static_cast<char>((*file)->bytes()[2]), 'c');
  const auto empty = MappedFile::open(folder.write("e", ""));
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE((*empty)->bytes().empty());
}

}  // namespace
}  // namespace gantry::onnx_format
