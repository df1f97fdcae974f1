// The reader for a file that is in memory already, for tests and fuzzing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "host/formats/tflite/reader.hpp"

namespace gantry::tflite_format {

/// `owner` keeps `file` alive; constants of the graph hold on to it.
Result<Graph> read_bytes(std::span<const std::byte> file, std::shared_ptr<const void> owner);

}  // namespace gantry::tflite_format
