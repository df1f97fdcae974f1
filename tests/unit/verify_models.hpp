// Tiny models for the tests of verify: one node, as bytes, made without Gantry's own readers and writers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/verify/tensor.hpp"

namespace gantry::models {

struct ModelPort {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::string> dims;  // "3", or a symbol
};

/// A ModelProto of opset 13 with one node of `op`.
std::string onnx_model(const std::string& op, const std::vector<ModelPort>& inputs,
                       const std::vector<ModelPort>& outputs);

/// A TFLite model with one node of the builtin operator `code` (BuiltinOperator of the schema); symbols are -1.
/// Tensors are named t_<name>, the signature's inputs and outputs <name>.
std::string tflite_model(int code, const std::vector<ModelPort>& inputs, const std::vector<ModelPort>& outputs);

/// A float32 tensor of these values.
Tensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values);
std::vector<float> as_floats(const Tensor& t);

/// A folder that is removed at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  /// Writes a file in it and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gantry::models
