// Graph of the "tflite" dialect -> TFLite flatbuffer. One generic writer driven by the schema's reflection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::tflite_format {

struct WriteOptions {
  std::string signature = "serving_default";  // where one graph is written
  std::string description;                    // of the model
};

/// A graph and the signature that it becomes.
struct SignatureGraph {
  const Graph* graph = nullptr;
  std::string name;
};

struct WriteStats {
  std::uint64_t file_bytes = 0, weight_bytes = 0;
  std::string min_runtime_version;
};

/// Writes beside `path` and renames when whole; on an error nothing is left. Operators get the lowest version that
/// fits. Nodes of another dialect than tflite become CUSTOM operators when their op is ("tflite", domain "custom").
/// Entries of graph.metadata become metadata of the file; those whose keys begin with "gantry." become members of its
/// one JSON entry "gantry", which also has Gantry's version and the source. Attributes are named after the fields of
/// the operator's options table (tflite.fbs) and enumeration values after theirs; regions after the field for the
/// subgraph. What LiteRT wants of outputs beyond that is the pass distinct_outputs. Errors: output_not_written (with
/// the system's reason), output_too_large, unsupported_type, internal (naming the node).
Result<WriteStats> write(const Graph& g, const std::filesystem::path& path, const WriteOptions& options = {});
/// Several graphs into one file: a subgraph and a signature each, weights that are equal stored once. Metadata that the
/// graphs do not agree in are named after the signature: "decode.KEY". At least one graph; names differ.
Result<WriteStats> write(std::span<const SignatureGraph> graphs, const std::filesystem::path& path,
                         const WriteOptions& options = {});

/// What write() would do, without a file. Errors: those of write() but for output_not_written.
Result<WriteStats> plan(const Graph& g, const WriteOptions& options = {});
Result<WriteStats> plan(std::span<const SignatureGraph> graphs, const WriteOptions& options = {});

/// Checks a file as the runtime's loader would, and that this build's schema knows it.
Status verify_file(const std::filesystem::path& path);

}  // namespace gantry::tflite_format
