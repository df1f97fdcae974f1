// Constants from tensors: every way to hold numbers, every size that does not fit, external files.
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "onnx_support.hpp"

namespace gantry::onnx_format {
namespace {

using onnx::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model whose output is the tensor.
std::string model_of(const TensorProto& tensor) {
  return model_bytes("g () => (float y) { y = Identity (w) }", [&](onnx::ModelProto& model) {
    auto& graph = *model.mutable_graph();
    graph.mutable_output(0)->clear_type();
    *graph.add_initializer() = tensor;
    graph.mutable_initializer(0)->set_name("w");
  });
}

TensorProto tensor_of(TensorProto::DataType type, std::initializer_list<std::int64_t> dims) {
  TensorProto tensor;
  tensor.set_data_type(type);
  for (const std::int64_t d : dims) tensor.add_dims(d);
  return tensor;
}

Constant read_tensor(const TensorProto& tensor) {
  Result<ReadResult> model = read_bytes(model_of(tensor));
  if (!model.ok()) {
    ADD_FAILURE() << model.error().message;
    return Constant::of<float>({}, {0});
  }
  return model->graph.value(model->graph.find_value("w")).constant;
}

template <class T>
std::vector<T> numbers(const Constant& constant) {
  const Result<std::vector<T>> read = constant.read<T>();
  EXPECT_TRUE(read.ok());
  return read.ok() ? *read : std::vector<T>();
}

// ---- where the numbers are ----

TEST(OnnxTensor, RawData) {
  TensorProto tensor = tensor_of(TensorProto::INT16, {3});
  const std::int16_t values[] = {1, -2, 300};
  tensor.set_raw_data(values, sizeof values);
  const Constant constant = read_tensor(tensor);
  EXPECT_EQ(constant.dtype(), DType::int16);
  EXPECT_THAT(numbers<std::int64_t>(constant), ElementsAre(1, -2, 300));
}

TEST(OnnxTensor, SmallIntegersInInt32Data) {
  for (const auto type : {TensorProto::INT8, TensorProto::INT16, TensorProto::INT32}) {
    TensorProto tensor = tensor_of(type, {2});
    tensor.add_int32_data(-7);
    tensor.add_int32_data(100);
    EXPECT_THAT(numbers<std::int64_t>(read_tensor(tensor)), ElementsAre(-7, 100));
  }
  for (const auto type : {TensorProto::UINT8, TensorProto::UINT16}) {
    TensorProto tensor = tensor_of(type, {2});
    tensor.add_int32_data(7);
    tensor.add_int32_data(200);
    EXPECT_THAT(numbers<std::int64_t>(read_tensor(tensor)), ElementsAre(7, 200));
  }
}

TEST(OnnxTensor, HalvesAndBooleansInInt32Data) {
  TensorProto halves = tensor_of(TensorProto::FLOAT16, {2});
  halves.add_int32_data(0x3C00);
  halves.add_int32_data(0xC000);
  EXPECT_THAT(numbers<float>(read_tensor(halves)), ElementsAre(1.0F, -2.0F));
  TensorProto brain = tensor_of(TensorProto::BFLOAT16, {1});
  brain.add_int32_data(0x3F80);
  EXPECT_THAT(numbers<float>(read_tensor(brain)), ElementsAre(1.0F));
  TensorProto booleans = tensor_of(TensorProto::BOOL, {3});
  for (const int v : {0, 1, 2}) booleans.add_int32_data(v);
  EXPECT_THAT(numbers<std::int64_t>(read_tensor(booleans)), ElementsAre(0, 1, 1));
}

TEST(OnnxTensor, NibblesInBothFields) {
  TensorProto raw = tensor_of(TensorProto::INT4, {3});
  raw.set_raw_data("\x21\x0F", 2);
  EXPECT_THAT(numbers<std::int64_t>(read_tensor(raw)), ElementsAre(1, 2, -1));
  TensorProto typed = tensor_of(TensorProto::UINT4, {3});
  typed.add_int32_data(0x21);
  typed.add_int32_data(0x0F);
  EXPECT_THAT(numbers<std::int64_t>(read_tensor(typed)), ElementsAre(1, 2, 15));
}

TEST(OnnxTensor, TheOtherFields) {
  TensorProto longs = tensor_of(TensorProto::INT64, {1});
  longs.add_int64_data(std::int64_t{1} << 40);
  EXPECT_THAT(numbers<std::int64_t>(read_tensor(longs)), ElementsAre(std::int64_t{1} << 40));
  TensorProto words = tensor_of(TensorProto::UINT32, {1});
  words.add_uint64_data(4'000'000'000);
  EXPECT_THAT(numbers<std::int64_t>(read_tensor(words)), ElementsAre(4'000'000'000));
  TensorProto doubles = tensor_of(TensorProto::DOUBLE, {1});
  doubles.add_double_data(0.5);
  EXPECT_THAT(numbers<float>(read_tensor(doubles)), ElementsAre(0.5F));
  TensorProto complex = tensor_of(TensorProto::COMPLEX64, {1});
  complex.add_float_data(1);
  complex.add_float_data(2);
  EXPECT_EQ(read_tensor(complex).byte_size(), 8u);
  TensorProto strings = tensor_of(TensorProto::STRING, {2});
  strings.add_string_data("a");
  strings.add_string_data("b");
  EXPECT_THAT(read_tensor(strings).string_values(), ElementsAre("a", "b"));
}

TEST(OnnxTensor, ScalarsAndEmptyTensors) {
  TensorProto scalar = tensor_of(TensorProto::FLOAT, {});
  scalar.add_float_data(3);
  EXPECT_THAT(numbers<float>(read_tensor(scalar)), ElementsAre(3.0F));
  const Constant empty = read_tensor(tensor_of(TensorProto::FLOAT, {4, 0}));
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_THAT(empty.dims(), ElementsAre(4, 0));
}

TEST(OnnxTensor, LargePayloadsAreViewsOfTheFile) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0F);
  for (const bool raw : {true, false}) {
    TensorProto tensor = tensor_of(TensorProto::FLOAT, {10, 100});
    if (raw) {
      tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    } else {
      tensor.mutable_float_data()->Add(values.begin(), values.end());
    }
    const auto file = std::make_shared<const std::string>(model_of(tensor));
    const Result<ReadResult> model = read(file, std::as_bytes(std::span(*file)), "m.onnx", {});
    ASSERT_TRUE(model.ok()) << model.error().message;
    const Constant constant = model->graph.value(model->graph.find_value("w")).constant;
    EXPECT_EQ(numbers<float>(constant), values);
    ASSERT_TRUE(constant.direct());
    const auto* const at = reinterpret_cast<const char*>(constant.direct()->data());
    EXPECT_TRUE(at >= file->data() && at < file->data() + file->size());
  }
}

TEST(OnnxTensor, ViewsKeepTheFileMapped) {
  const Folder folder;
  TensorProto tensor = tensor_of(TensorProto::UINT8, {5000});
  tensor.set_raw_data(std::string(5000, '\x2A'));
  Constant constant;
  {
    const Result<ReadResult> model = read(folder.write("m.onnx", model_of(tensor)));
    ASSERT_TRUE(model.ok()) << model.error().message;
    constant = model->graph.value(model->graph.find_value("w")).constant;
  }
  EXPECT_EQ(numbers<std::int64_t>(constant), std::vector<std::int64_t>(5000, 42));
}

// ---- what does not fit ----

TEST(OnnxTensor, SizesMustFit) {
  for (const std::size_t size : {0u, 11u, 13u, 16u, 4000u}) {
    TensorProto tensor = tensor_of(TensorProto::FLOAT, {3});
    tensor.set_raw_data(std::string(size, 'x'));
    const Diagnostic d = refused(model_of(tensor));
    EXPECT_EQ(d.code, Code::input_malformed) << size;
    EXPECT_THAT(d.message, HasSubstr("tensor 'w' has"));
  }
  TensorProto typed = tensor_of(TensorProto::FLOAT, {3});
  typed.add_float_data(1);
  EXPECT_THAT(refused(model_of(typed)).message, HasSubstr("has 4 bytes of data, but its type and dimensions need 12"));
  TensorProto strings = tensor_of(TensorProto::STRING, {3});
  strings.add_string_data("one");
  EXPECT_THAT(refused(model_of(strings)).message, HasSubstr("has 1 strings"));
}

TEST(OnnxTensor, DimensionsMustBeSizes) {
  EXPECT_THAT(refused(model_of(tensor_of(TensorProto::FLOAT, {2, -1}))).message, HasSubstr("negative size, -1"));
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THAT(refused(model_of(tensor_of(TensorProto::FLOAT, {huge, huge}))).message, HasSubstr("more elements"));
  EXPECT_THAT(refused(model_of(tensor_of(TensorProto::FLOAT, {huge}))).message, HasSubstr("has 0 bytes"));
  EXPECT_THAT(refused(model_of(tensor_of(TensorProto::COMPLEX128, {std::int64_t{1} << 62}))).message,
              HasSubstr("more bytes"));
}

TEST(OnnxTensor, TypesMustBeKnown) {
  EXPECT_EQ(refused(model_of(tensor_of(TensorProto::UNDEFINED, {1}))).code, Code::input_malformed);
  const Diagnostic d = refused(model_of(tensor_of(TensorProto::FLOAT8E4M3FN, {1})));
  EXPECT_EQ(d.code, Code::unsupported_type);
  EXPECT_THAT(d.message, HasSubstr("tensor 'w' has elements of type FLOAT8E4M3FN"));
  TensorProto odd = tensor_of(TensorProto::FLOAT, {1});
  odd.set_data_type(99);
  EXPECT_THAT(refused(model_of(odd)).message, HasSubstr("number 99"));
}

TEST(OnnxTensor, DataMustStandInOneFieldOfItsType) {
  TensorProto twice = tensor_of(TensorProto::FLOAT, {1});
  twice.add_float_data(1);
  twice.set_raw_data("abcd");
  EXPECT_THAT(refused(model_of(twice)).message, HasSubstr("more than once"));
  TensorProto large = tensor_of(TensorProto::FLOAT, {1000});
  large.set_raw_data(std::string(4000, 'x'));
  large.add_float_data(1);
  EXPECT_THAT(refused(model_of(large)).message, HasSubstr("more than once"));
  TensorProto wrong = tensor_of(TensorProto::FLOAT, {1});
  wrong.add_int64_data(1);
  EXPECT_THAT(refused(model_of(wrong)).message, HasSubstr("a field that is not for f32"));
  TensorProto packed = tensor_of(TensorProto::INT32, {1000});
  for (int i = 0; i < 1000; ++i) packed.add_float_data(1);
  EXPECT_THAT(refused(model_of(packed)).message, HasSubstr("a field that is not for i32"));
  TensorProto raw_strings = tensor_of(TensorProto::STRING, {1});
  raw_strings.set_raw_data(std::string(4000, 'x'));
  EXPECT_EQ(refused(model_of(raw_strings)).code, Code::input_malformed);
  TensorProto part = tensor_of(TensorProto::FLOAT, {1});
  part.mutable_segment()->set_begin(0);
  EXPECT_THAT(refused(model_of(part)).message, HasSubstr("segment"));
}

// ---- sparse tensors ----

std::string sparse_model(const onnx::SparseTensorProto& sparse) {
  return model_bytes("g () => (float[2,3] y) { y = Identity (w) }",
                     [&](onnx::ModelProto& model) { *model.mutable_graph()->add_sparse_initializer() = sparse; });
}

onnx::SparseTensorProto sparse_of(std::initializer_list<std::int64_t> indices,
                                  std::initializer_list<std::int64_t> dims) {
  onnx::SparseTensorProto sparse;
  sparse.add_dims(2);
  sparse.add_dims(3);
  *sparse.mutable_values() = tensor_of(TensorProto::FLOAT, {2});
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->add_float_data(5);
  sparse.mutable_values()->add_float_data(7);
  *sparse.mutable_indices() = tensor_of(TensorProto::INT64, dims);
  for (const std::int64_t i : indices) sparse.mutable_indices()->add_int64_data(i);
  return sparse;
}

TEST(OnnxTensor, SparseTensorsGetTheirZeros) {
  for (const auto& sparse : {sparse_of({1, 5}, {2}), sparse_of({0, 1, 1, 2}, {2, 2})}) {
    const Result<ReadResult> model = read_bytes(sparse_model(sparse));
    ASSERT_TRUE(model.ok()) << model.error().message;
    const Constant constant = model->graph.value(model->graph.find_value("w")).constant;
    EXPECT_THAT(constant.dims(), ElementsAre(2, 3));
    EXPECT_THAT(numbers<float>(constant), ElementsAre(0, 5, 0, 0, 0, 7));
  }
}

TEST(OnnxTensor, SparseIndicesMustFit) {
  EXPECT_THAT(refused(sparse_model(sparse_of({1, 6}, {2}))).message, HasSubstr("outside of its dimensions"));
  EXPECT_THAT(refused(sparse_model(sparse_of({1, -1}, {2}))).message, HasSubstr("outside of its dimensions"));
  EXPECT_THAT(refused(sparse_model(sparse_of({0, 1, 1, 3}, {2, 2}))).message, HasSubstr("outside of its dimensions"));
  EXPECT_THAT(refused(sparse_model(sparse_of({1}, {1}))).message, HasSubstr("indices are not 2 numbers"));
  onnx::SparseTensorProto huge = sparse_of({1, 5}, {2});
  huge.set_dims(0, std::int64_t{1} << 40);
  EXPECT_EQ(refused(sparse_model(huge)).code, Code::input_too_large);
}

// ---- external data ----

TensorProto external(std::string_view location, std::string_view offset = {}, std::string_view length = {}) {
  TensorProto tensor = tensor_of(TensorProto::UINT8, {4});
  tensor.set_data_location(TensorProto::EXTERNAL);
  const auto add = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    auto& entry = *tensor.add_external_data();
    entry.set_key(std::string(key));
    entry.set_value(std::string(value));
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
  return tensor;
}

Diagnostic refused_external(const Folder& folder, const TensorProto& tensor) {
  Result<ReadResult> model = read(folder.write("m.onnx", model_of(tensor)));
  EXPECT_FALSE(model.ok());
  return model.ok() ? Diagnostic() : model.take_error();
}

TEST(OnnxExternalData, IsRead) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "data");
  folder.write("data/w.bin", "abcdefgh");
  for (const auto& tensor : {external("data/w.bin", "2", "4"), external("./data/../data/w.bin", "2")}) {
    const Result<ReadResult> model = read(folder.write("m.onnx", model_of(tensor)));
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_THAT(numbers<std::int64_t>(model->graph.value(model->graph.find_value("w")).constant),
                ElementsAre('c', 'd', 'e', 'f'));
  }
}

TEST(OnnxExternalData, IsFoundBesideAModelNamedWithoutAFolder) {
  const Folder folder;
  folder.write("w.bin", "abcd");
  folder.write("m.onnx", model_of(external("w.bin")));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const Result<ReadResult> model = read("m.onnx");
  std::filesystem::current_path(before);
  EXPECT_TRUE(model.ok()) << model.error().message;
}

TEST(OnnxExternalData, MissingFileIsNamed) {
  const Folder folder;
  const Diagnostic d = refused_external(folder, external("w.bin"));
  EXPECT_EQ(d.code, Code::input_external_data);
  EXPECT_THAT(d.message, HasSubstr("tensor 'w' keeps its data in 'w.bin', which cannot be read: No such file"));
}

TEST(OnnxExternalData, MustBeLongEnough) {
  const Folder folder;
  folder.write("w.bin", "abcdefgh");
  for (const std::string offset : {"5", "8", "9", "18446744073709551615"}) {
    const Diagnostic d = refused_external(folder, external("w.bin", offset));
    EXPECT_EQ(d.code, Code::input_external_data);
    EXPECT_THAT(d.message, HasSubstr("too short"));
  }
  EXPECT_THAT(refused_external(folder, external("w.bin", "0", "5")).message, HasSubstr("says that it has 5 bytes"));
  for (const std::string offset : {"-1", "x", "1x", "99999999999999999999"}) {
    EXPECT_THAT(refused_external(folder, external("w.bin", offset)).message, HasSubstr("not a number")) << offset;
  }
  EXPECT_THAT(refused_external(folder, external("", "0")).message, HasSubstr("does not say which"));
}

TEST(OnnxExternalData, MayNotLeaveTheFolder) {
  const Folder outside, folder;
  const std::string target = outside.write("w.bin", "abcd").string();
  folder.write("inside.bin", "abcd");
  const std::string up = "../" + outside.path().filename().string() + "/w.bin";
  EXPECT_THAT(refused_external(folder, external(target)).message, HasSubstr("an absolute path"));
  EXPECT_THAT(refused_external(folder, external(up)).message, HasSubstr("outside of the model's folder"));
  EXPECT_THAT(refused_external(folder, external("x/../" + up)).message, HasSubstr("outside of the model's folder"));
  std::filesystem::create_symlink(target, folder.path() / "link.bin");
  EXPECT_THAT(refused_external(folder, external("link.bin")).message, HasSubstr("leads outside"));
  std::filesystem::create_directory_symlink(outside.path(), folder.path() / "link");
  EXPECT_THAT(refused_external(folder, external("link/w.bin")).message, HasSubstr("leads outside"));
  std::filesystem::create_symlink("inside.bin", folder.path() / "fine.bin");
  EXPECT_TRUE(read(folder.write("m.onnx", model_of(external("fine.bin")))).ok());
}

TEST(OnnxExternalData, MustBeARegularFile) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "w.bin");
  EXPECT_THAT(refused_external(folder, external("w.bin")).message, HasSubstr("folder"));
  EXPECT_EQ(refused_external(folder, external(".")).code, Code::input_external_data);
}

TEST(OnnxExternalData, IsRefusedFromMemory) {
  EXPECT_EQ(refused(model_of(external("w.bin"))).code, Code::input_external_data);
}

}  // namespace
}  // namespace gantry::onnx_format
