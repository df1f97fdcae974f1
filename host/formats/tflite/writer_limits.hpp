// The writer with its limits open, for tests of what else only files of gigabytes would reach.
#pragma once

#include "host/formats/tflite/skeleton.hpp"
#include "host/formats/tflite/writer.hpp"

namespace gantry::tflite_format {

Result<WriteStats> write(const Graph& g, const std::filesystem::path& path, const WriteOptions& options,
                         const Limits& limits);

}  // namespace gantry::tflite_format
