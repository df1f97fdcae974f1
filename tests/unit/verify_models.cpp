#include "verify_models.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdlib.h>

#include "tflite_generated.h"

namespace gantry::models {

namespace {

// The wire format of protobuf: a varint, and a field that is a varint or has a length.
std::string varint(std::uint64_t n) {
  std::string out;
  for (; n >= 0x80; n >>= 7) out += static_cast<char>((n & 0x7f) | 0x80);
  return out + static_cast<char>(n);
}
std::string field(unsigned id, std::uint64_t n) { return varint(id << 3) + varint(n); }
std::string field(unsigned id, const std::string& bytes) { return varint(id << 3 | 2) + varint(bytes.size()) + bytes; }

bool is_number(const std::string& dim) { return !dim.empty() && std::isdigit(static_cast<unsigned char>(dim[0])); }

unsigned onnx_type(DType t) {
  switch (t) {
    case DType::float32:
      return 1;
    case DType::int64:
      return 7;
    case DType::string:
      return 8;
    case DType::boolean:
      return 9;
    default:
      return 0;
  }
}

std::string value_info(const ModelPort& port) {
  std::string shape;
  for (const std::string& d : port.dims) {
    shape += field(1, is_number(d) ? field(1, std::stoull(d)) : field(2, d));
  }
  const std::string tensor = field(1, onnx_type(port.dtype)) + field(2, shape);
  return field(1, port.name) + field(2, field(1, tensor));
}

tflite::TensorType tflite_type(DType t) {
  switch (t) {
    case DType::int64:
      return tflite::TensorType_INT64;
    case DType::boolean:
      return tflite::TensorType_BOOL;
    case DType::string:
      return tflite::TensorType_STRING;
    default:
      return tflite::TensorType_FLOAT32;
  }
}

}  // namespace

std::string onnx_model(const std::string& op, const std::vector<ModelPort>& inputs,
                       const std::vector<ModelPort>& outputs) {
  std::string node, graph;
  for (const ModelPort& p : inputs) node += field(1, p.name);
  for (const ModelPort& p : outputs) node += field(2, p.name);
  node += field(4, op);
  graph = field(1, node) + field(2, std::string("g"));
  for (const ModelPort& p : inputs) graph += field(11, value_info(p));
  for (const ModelPort& p : outputs) graph += field(12, value_info(p));
  return field(1, 8) + field(7, graph) + field(8, field(1, std::string()) + field(2, 13));
}

std::string tflite_model(int code, const std::vector<ModelPort>& inputs, const std::vector<ModelPort>& outputs) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
  std::vector<flatbuffers::Offset<tflite::TensorMap>> maps[2];
  std::vector<std::int32_t> indices[2];
  for (const int side : {0, 1}) {
    for (const ModelPort& p : side == 0 ? inputs : outputs) {
      std::vector<std::int32_t> shape, signature;
      for (const std::string& d : p.dims) {
        shape.push_back(is_number(d) ? std::stoi(d) : 1);
        signature.push_back(is_number(d) ? std::stoi(d) : -1);
      }
      const auto index = static_cast<std::int32_t>(tensors.size());
      indices[side].push_back(index);
      maps[side].push_back(tflite::CreateTensorMapDirect(b, p.name.c_str(), static_cast<std::uint32_t>(index)));
      tensors.push_back(tflite::CreateTensorDirect(b, &shape, tflite_type(p.dtype), 0, ("t_" + p.name).c_str(), 0,
                                                   false, 0, &signature, true));
    }
  }
  const std::vector<flatbuffers::Offset<tflite::Operator>> operators{
      tflite::CreateOperatorDirect(b, 0, &indices[0], &indices[1])};
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs{
      tflite::CreateSubGraphDirect(b, &tensors, &indices[0], &indices[1], &operators, "main")};
  const std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes{tflite::CreateOperatorCode(
      b, static_cast<std::int8_t>(std::min(code, 127)), 0, 1, static_cast<tflite::BuiltinOperator>(code))};
  const std::vector<flatbuffers::Offset<tflite::Buffer>> buffers{tflite::CreateBuffer(b)};
  const std::vector<flatbuffers::Offset<tflite::SignatureDef>> signatures{
      tflite::CreateSignatureDefDirect(b, &maps[0], &maps[1], "serving_default", 0)};
  b.Finish(tflite::CreateModelDirect(b, 3, &codes, &graphs, "test", &buffers, nullptr, nullptr, &signatures), "TFL3");
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  Tensor t{DType::float32, std::move(dims), std::vector<std::byte>(values.size() * sizeof(float))};
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}

std::vector<float> as_floats(const Tensor& t) {
  std::vector<float> values(t.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), t.bytes.data(), t.bytes.size());
  return values;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gantry-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TempDir::~TempDir() {
  std::error_code ec;
  std::filesystem::remove_all(path_, ec);
}

std::string TempDir::write(const std::string& name, const std::string& bytes) const {
  const std::string file = path_ + "/" + name;
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file;
}

}  // namespace gantry::models
