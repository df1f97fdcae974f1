#include <memory>
#include <random>
#include <tflite_generated.h>

#include <gmock/gmock.h>

#include "host/formats/tflite/reader_bytes.hpp"
#include "tests/unit/tflite_support.hpp"

namespace gantry::tflite_format {
namespace {

using testing::HasSubstr;
namespace fb = flatbuffers;

const char* const kNet = R"(graph "net" {
  input %go: bool[]
  input %x: f32[?,4]
  const %w: f32[2,4] = [1, 2, 3, 4, 5, 6, 7, 8]
  const %names: str[2] = ["one", "two"]
  %fc: f32[?,2] = tflite.FULLY_CONNECTED@1(%x, %w, _) {fused_activation_function = "RELU"}
  %y: f32[?,2] = tflite.IF@1(%go, %fc) then_subgraph_index: "yes" {
    input %a: f32[?,2]
    %b: f32[?,2] = tflite.SOFTMAX@1(%a) {beta = 1.0}
    output "b" = %b
  } else_subgraph_index: "no" {
    input %c: f32[?,2]
    %d: f32[?,2] = tflite.custom::Thing@1(%c, %names) {a = 1, l = [1, 2], s = ["p", "q"]}
    output "d" = %d
  }
  output "y" = %y
})";

std::string sample_file() {
  const TemporaryFolder folder;
  EXPECT_TRUE(write(graph_of(kNet), folder / "m.tflite").ok());
  return bytes_of(folder / "m.tflite");
}

Result<Graph> read_string(const std::string& file) {
  // A copy of exactly this size, so that the sanitizer sees a byte too many.
  const auto* bytes = reinterpret_cast<const std::byte*>(file.data());
  auto owner = std::make_shared<std::vector<std::byte>>(bytes, bytes + file.size());
  return read_bytes(*owner, owner);
}

void expect_malformed(const std::string& file, std::string_view reason) {
  const auto g = read_string(file);
  ASSERT_FALSE(g.ok());
  EXPECT_EQ(g.error().code, Code::input_malformed);
  EXPECT_THAT(g.error().message, HasSubstr(reason));
}

// A graph that a reader made of damaged bytes must still be sound, and printable.
void expect_error_or_sound(const std::string& file) {
  const auto g = read_string(file);
  if (!g.ok()) return;
  const Status s = verify(*g);
  EXPECT_TRUE(s.ok()) << s.error().message;
  print(*g);
}

TEST(TfliteReader, FromDisk) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write(graph_of(kNet), folder / "m.tflite").ok());
  const auto g = read(folder / "m.tflite");
  ASSERT_TRUE(g.ok()) << g.error().message;
  EXPECT_EQ(g->source, "m.tflite");
  EXPECT_EQ(g->metadata.at("min_runtime_version"), "1.15.0");
  EXPECT_EQ(read(folder / "none").error().code, Code::input_not_found);
  EXPECT_EQ(verify_file(folder / "none").error().code, Code::input_not_found);
}

TEST(TfliteReader, NotATfliteFile) {
  expect_malformed("", "not a TFLite file");
  expect_malformed("TFL3", "not a TFLite file");
  expect_malformed(std::string(1000, 'x'), "not a TFLite file");
  expect_malformed(sample_file().substr(0, 8), "damaged");
  const TemporaryFolder folder;
  std::ofstream(folder / "m.tflite") << "hello, this is text";
  EXPECT_EQ(verify_file(folder / "m.tflite").error().place, (folder / "m.tflite").string());
}

TEST(TfliteReader, EveryTruncation) {
  const std::string file = sample_file();
  for (std::size_t n = 0; n < file.size(); ++n) expect_error_or_sound(file.substr(0, n));
}

TEST(TfliteReader, EveryByteDamaged) {
  const std::string file = sample_file();
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(value);
      expect_error_or_sound(damaged);
    }
  }
}

TEST(TfliteReader, RandomDamage) {
  const std::string file = sample_file();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = file;
    for (int k = 0; k < 4; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    expect_error_or_sound(damaged);
  }
}

/// A file with one subgraph, made by hand where the writer would refuse.
struct Handmade {
  fb::FlatBufferBuilder b;
  std::vector<fb::Offset<tflite::Buffer>> buffers{tflite::CreateBuffer(b)};
  std::vector<fb::Offset<tflite::Tensor>> tensors;
  std::vector<fb::Offset<tflite::OperatorCode>> codes;
  std::vector<fb::Offset<tflite::Operator>> operators;
  std::vector<std::int32_t> inputs, outputs;

  void tensor(std::vector<std::int32_t> shape, std::uint32_t buffer = 0,
              tflite::TensorType type = tflite::TensorType_FLOAT32) {
    tensors.push_back(tflite::CreateTensorDirect(b, &shape, type, buffer, "t"));
  }
  void buffer(std::vector<std::uint8_t> data) { buffers.push_back(tflite::CreateBufferDirect(b, &data)); }
  void code(tflite::BuiltinOperator op, const char* custom = nullptr) {
    codes.push_back(
        tflite::CreateOperatorCodeDirect(b, static_cast<std::int8_t>(std::min<int>(op, 127)), custom, 1, op));
  }
  void op(std::vector<std::int32_t> in, std::vector<std::int32_t> out, std::uint32_t code_index = 0) {
    operators.push_back(tflite::CreateOperatorDirect(b, code_index, &in, &out));
  }
  std::string finish(std::uint32_t version = 3) {
    const std::vector subgraphs{tflite::CreateSubGraphDirect(b, &tensors, &inputs, &outputs, &operators, "main")};
    tflite::FinishModelBuffer(b, tflite::CreateModelDirect(b, version, &codes, &subgraphs, "", &buffers));
    return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
  }
};

TEST(TfliteReader, WrongIndices) {
  const auto one_op = [](std::vector<std::int32_t> in, std::vector<std::int32_t> out) {
    Handmade h;
    h.tensor({2});
    h.tensor({2});
    h.inputs = {0};
    h.code(tflite::BuiltinOperator_NEG);
    h.op(std::move(in), std::move(out));
    return h.finish();
  };
  EXPECT_TRUE(read_string(one_op({0}, {1})).ok());
  expect_malformed(one_op({2}, {1}), "does not exist");
  expect_malformed(one_op({-2}, {1}), "does not exist");
  expect_malformed(one_op({1}, {1}), "nothing gave a value yet");
  expect_malformed(one_op({0}, {0}), "has a value already");
  expect_malformed(one_op({0}, {-1}), "does not exist");
}

TEST(TfliteReader, WrongConstants) {
  const auto constant = [](std::vector<std::int32_t> shape, std::size_t bytes, tflite::TensorType type) {
    Handmade h;
    h.buffer(std::vector<std::uint8_t>(bytes));
    h.tensor(std::move(shape), 1, type);
    h.outputs = {0};
    return h.finish();
  };
  EXPECT_TRUE(read_string(constant({3}, 12, tflite::TensorType_FLOAT32)).ok());
  EXPECT_TRUE(read_string(constant({3}, 2, tflite::TensorType_INT4)).ok());
  expect_malformed(constant({3}, 11, tflite::TensorType_FLOAT32), "11 bytes");
  expect_malformed(constant({-3}, 12, tflite::TensorType_FLOAT32), "negative");
  expect_malformed(constant({2147483647, 2147483647, 2147483647}, 0, tflite::TensorType_FLOAT32), "too large");
  expect_malformed(constant({1}, 4, tflite::TensorType_STRING), "does not hold strings");
  expect_malformed(constant({1}, 8, tflite::TensorType_STRING), "does not hold strings");
  expect_malformed(constant({2}, 4, static_cast<tflite::TensorType>(99)), "unknown type");
  EXPECT_EQ(read_string(constant({4}, 1, tflite::TensorType_INT2)).error().code, Code::unsupported_type);
}

TEST(TfliteReader, UnknownOperatorsAndVersions) {
  Handmade unknown;
  unknown.code(static_cast<tflite::BuiltinOperator>(3000));
  expect_malformed(unknown.finish(), "unknown");
  Handmade nameless;
  nameless.code(tflite::BuiltinOperator_CUSTOM);
  expect_malformed(nameless.finish(), "no name");
  expect_malformed(Handmade().finish(2), "version 2");
}

TEST(TfliteReader, WhatIsNotKeptIsNotWritten) {
  Handmade h;
  const std::vector<float> scale{0.5f};
  const std::vector<std::int64_t> zero{0};
  const std::vector<std::int32_t> shape{2};
  const auto quantization = tflite::CreateQuantizationParametersDirect(h.b, nullptr, nullptr, &scale, &zero);
  h.tensors.push_back(tflite::CreateTensorDirect(h.b, &shape, tflite::TensorType_INT8, 0, "x", quantization));
  h.inputs = h.outputs = {0};
  const auto g = read_string(h.finish());
  ASSERT_TRUE(g.ok()) << g.error().message;
  EXPECT_EQ(g->metadata.at(std::string(kNotKept)), "quantization parameters");
  const TemporaryFolder folder;
  const auto r = write(*g, folder / "m.tflite");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::declined);
}

TEST(TfliteReader, SubgraphsWithoutEnd) {
  Handmade h;
  h.tensor({2});
  h.tensor({2});
  h.inputs = {0};
  h.outputs = {1};
  h.code(tflite::BuiltinOperator_CALL);
  const std::vector<std::int32_t> in{0}, out{1};
  h.operators.push_back(tflite::CreateOperatorDirect(h.b, 0, &in, &out, tflite::BuiltinOptions_CallOptions,
                                                     tflite::CreateCallOptions(h.b, 0).Union()));
  expect_malformed(h.finish(), "use each other without end");
}

TEST(TfliteReader, BuffersOutsideTheFile) {
  for (const auto& [offset, size] :
       {std::pair<std::uint64_t, std::uint64_t>{1u << 20, 8}, {16, ~0ull}, {~0ull, 16}, {16, 1u << 30}}) {
    Handmade h;
    h.buffers.push_back(tflite::CreateBuffer(h.b, 0, offset, size));
    h.tensor({2}, 1);
    expect_malformed(h.finish(), "outside the file");
  }
}

}  // namespace
}  // namespace gantry::tflite_format
