// ONNX files from the ONNX library's text form. Link ONNX::onnx and protobuf::libprotobuf to what includes this.
//
//   write_onnx(path, R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1,4] x) => (float[1,4] y) { y = Relu(x) })");
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

namespace gantry::test {

/// Serialized model. Throws if the text does not parse; nothing else is checked.
inline std::string onnx_bytes(const std::string& text) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK()) throw std::runtime_error("not ONNX text: " + status.ErrorMessage());
  return model.SerializeAsString();
}

inline std::filesystem::path write_onnx(const std::filesystem::path& path, const std::string& text) {
  const std::string bytes = onnx_bytes(text);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace gantry::test
