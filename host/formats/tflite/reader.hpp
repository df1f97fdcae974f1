// TFLite file -> graph of the "tflite" dialect (for inspect, opt and tests). Buffers stay in the mapped file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::tflite_format {

/// Key of graph.metadata that names what the file has and the graph does not (quantization parameters, further
/// signatures, ...). The writer refuses a graph with it: the model would be another one.
inline constexpr std::string_view kNotKept = "gantry.not_kept";

/// Errors: input_malformed where the verifier refuses the file.
Result<Graph> read(const std::filesystem::path& path);

/// Names of a file's signatures, in its order. Errors: those of read.
Result<std::vector<std::string>> signatures(const std::filesystem::path& path);

}  // namespace gantry::tflite_format
