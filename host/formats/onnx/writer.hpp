// Graph of the "onnx" dialect -> ONNX file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::onnx_format {

struct WriteOptions {
  /// Weights beside the model, in PATH.data, even where one file can hold them (protobuf ends at 2 GB).
  bool external_data = false;
  std::uint64_t most_bytes = (std::uint64_t{1} << 31) - (1 << 20);  // of a model in one file
};

struct WriteStats {
  std::uint64_t file_bytes = 0;  // of the model without external data
  std::uint64_t external_bytes = 0, weight_bytes = 0;
};

/// Writes beside `path` and renames when whole; on an error nothing is left. ai.onnx is imported at the lowest opset
/// that has every node's form (a form that did not change since counts as the newer one), other domains as graph.opsets
/// says. Values keep their names, outputs the source's; names of nodes are made unique. Every result of known type has
/// value_info. Constants become initializers of the main graph, each written once, from where it lies. ONNX's own
/// checker passes the model before it is written. Errors: output_not_written, output_format (a node's form cannot be
/// said in one opset with the others; what the checker says), output_too_large.
Result<WriteStats> write(const Graph& g, const std::filesystem::path& path, const WriteOptions& options = {});

/// Where external data of a model at `path` goes.
std::filesystem::path external_data_of(const std::filesystem::path& path);

}  // namespace gantry::onnx_format
