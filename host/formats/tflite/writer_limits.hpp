// The writer with its limits open, for tests of what else only files of gigabytes would reach.
#pragma once

#include <vector>

#include "host/formats/tflite/skeleton.hpp"
#include "host/formats/tflite/writer.hpp"

namespace gantry::tflite_format {

Result<WriteStats> write(std::span<const SignatureGraph> graphs, const std::filesystem::path& path,
                         const WriteOptions& options, const Limits& limits);
inline Result<WriteStats> write(const Graph& g, const std::filesystem::path& path, const WriteOptions& options,
                                const Limits& limits) {
  return write(std::vector{SignatureGraph{&g, options.signature}}, path, options, limits);
}

}  // namespace gantry::tflite_format
