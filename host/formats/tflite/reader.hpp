// TFLite file -> graph of the "tflite" dialect (for inspect, opt and tests). Buffers stay in the mapped file.
#pragma once

#include <filesystem>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::tflite_format {

/// Errors: input_malformed where the verifier refuses the file.
Result<Graph> read(const std::filesystem::path& path);

}  // namespace gantry::tflite_format
