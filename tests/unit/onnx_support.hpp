// For the tests of the ONNX reader: models in ONNX's text form, graphs read from them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/formats/onnx/reader.hpp"

namespace onnx {
class ModelProto;
}

namespace gantry::onnx_format {

/// A folder that goes away with its files.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

/// Bytes of the model that ONNX's text form describes, changed by `edit` if there is one. A text without "<ir_version"
/// gets IR version 10 and opset 17.
std::string model_bytes(std::string_view text, const std::function<void(onnx::ModelProto&)>& edit = {});

/// Reads bytes from memory; the result owns a copy of them.
Result<ReadResult> read_bytes(std::string_view bytes, const ReadOptions& options = {});

/// The graph of a model that is sound, verified.
ReadResult read_model(std::string_view text, const ReadOptions& options = {});

/// The diagnostic of a model that is not.
Diagnostic refused(std::string_view bytes, const ReadOptions& options = {});
inline Diagnostic refused_model(std::string_view text, const std::function<void(onnx::ModelProto&)>& edit = {}) {
  return refused(model_bytes(text, edit));
}

/// Infers every node in order.
Status infer_all(const ReadResult& model, Graph& graph);

/// "f32[1,2]" of the value of this name; "none" if there is no such value.
std::string type_of(const Graph& graph, std::string_view value);
/// The only node of this operator.
NodeId node_of(const Graph& graph, std::string_view op);

}  // namespace gantry::onnx_format
