// Cuts the payloads of tensors out of an ONNX file before protobuf parses it, so that weights are never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry::onnx_format {

/// A payload that stays in the file: the contents of raw_data, or the packed numbers of float_data or double_data.
struct Payload {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t field = 0;  // number of the field in TensorProto
};

/// A ModelProto without large payloads, and without what a conversion never reads (doc strings, training).
struct Skeleton {
  std::string bytes;
  std::vector<Payload> payloads;
};

/// Key of the external_data entry that stands for a cut payload; its value is the index into Skeleton::payloads. A file
/// that has such a key itself is refused.
inline constexpr std::string_view kPayloadKey = "gantry.payload";

/// Errors: input_malformed with the offset of the byte, input_too_large if the rest is beyond protobuf's 2 GB.
Result<Skeleton> cut_payloads(std::span<const std::byte> file);

}  // namespace gantry::onnx_format
