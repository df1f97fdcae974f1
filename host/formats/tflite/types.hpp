// Element types of the graph and of the format, and the layout of constants of strings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/type.hpp"

namespace gantry::tflite_format {

/// Value of the schema's TensorType; nullopt for DType::undefined.
std::optional<std::int8_t> tensor_type(DType t);
/// DType::undefined for what the graph has no type for: RESOURCE, VARIANT, INT2, FLOAT8_*, or no TensorType at all.
DType dtype(std::int8_t tensor_type);
/// "FLOAT32"; empty if there is no such TensorType.
std::string_view tensor_type_name(std::int8_t tensor_type);

/// Strings as the runtime stores them: int32 count, count + 1 int32 offsets from the start, then the characters.
/// nullopt above 2 GB.
std::optional<std::string> pack_strings(std::span<const std::string> values);
/// How many there are; nullopt if the bytes are not such a buffer.
std::optional<std::uint64_t> string_count(std::span<const std::byte> bytes);
/// nullopt likewise.
std::optional<std::vector<std::string>> unpack_strings(std::span<const std::byte> bytes);

}  // namespace gantry::tflite_format
