// Reads a model of any format that there is a reader for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/passes/semantics.hpp"

namespace gantry::cli {

struct Model {
  std::filesystem::path path;
  std::string format_name;  // "ONNX", "TFLite", "text"
  std::uint64_t file_bytes = 0;
  Graph graph;
  std::unique_ptr<Semantics> semantics;  // of the onnx dialect; for a text, without functions of its own
};

/// Errors: input_* codes. `shapes` is for ONNX only.
Result<Model> load_model(const std::filesystem::path& path,
                         const std::map<std::string, std::vector<std::int64_t>>& shapes = {});

}  // namespace gantry::cli
