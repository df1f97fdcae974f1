// ONNX file -> graph of the "onnx" dialect.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/formats/format.hpp"
#include "host/passes/semantics.hpp"

namespace gantry::onnx_format {

struct ReadOptions {
  /// Fixed input shapes by input name (`--shape`), or under "" for the only input; an unknown name is a usage error
  /// that lists the inputs.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  /// Shapes of names that are no input's go to ReadResult::unused_shapes instead.
  bool allow_unused_shapes = false;
};

struct ReadResult {
  Graph graph;
  /// Knows the model's own functions besides the schemas of the ONNX library; outlives the conversion.
  std::unique_ptr<Semantics> semantics;
  /// Warnings about what was left out.
  std::vector<Diagnostic> notes;
  std::vector<std::string> unused_shapes;
  /// Where external data were read from.
  std::vector<std::filesystem::path> external_files;
};

/// Reads, checks and converts. Tensor payloads stay in the mapped file (constants are views of it).
/// Errors: input_* codes, each naming the node, tensor or field, and what to try.
Result<ReadResult> read(const std::filesystem::path& path, const ReadOptions& options = {});
/// The same from memory; `folder` is where external data may lie (empty: refused).
Result<ReadResult> read(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                        const std::filesystem::path& name, const std::filesystem::path& folder,
                        const ReadOptions& options = {});

/// Semantics of the ONNX library without model-local functions, e.g. for graphs parsed from text.
std::unique_ptr<Semantics> make_semantics();

}  // namespace gantry::onnx_format
