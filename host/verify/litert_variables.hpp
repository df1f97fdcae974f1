// LiteRT's C interface refuses, when it reads a model, every tensor that is a variable ("not yet supported", 2.3),
// though the interpreter that it then makes of the same bytes has them. So the marks are taken out of the bytes while
// the interface reads them, and put back before it makes the interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace gantry {

/// A model in memory that is private to this process.
class ModelWithVariables {
 public:
  /// None, where no tensor of the file is a variable, or the file cannot be read.
  static std::unique_ptr<ModelWithVariables> open(const std::filesystem::path& path);
  ModelWithVariables(const ModelWithVariables&) = delete;
  ModelWithVariables& operator=(const ModelWithVariables&) = delete;
  ~ModelWithVariables();

  std::span<std::byte> bytes() const { return bytes_; }
  void take_marks_out() const;
  void put_marks_back() const;

 private:
  explicit ModelWithVariables(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
  std::vector<std::size_t> marks_;  // places of the marks, each a byte
};

/// Where in a flatbuffer of TFLite's schema (Model.subgraphs.tensors.is_variable) that byte is 1. Looks at nothing
/// outside of `file`, whatever it holds.
std::vector<std::size_t> variable_marks(std::span<const std::byte> file);

}  // namespace gantry
