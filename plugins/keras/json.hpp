// JSON of untrusted files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace gantry::keras {

using Json = nlohmann::json;  // objects are sorted by key: dump() is canonical

/// Throws std::runtime_error, which names `what`, where the text is no JSON, is nested more than 100 deep, or is
/// larger than any model's.
Json parse_json(std::string_view text, std::string_view what);

/// Member of an object, or a null where there is none or `j` is no object.
const Json& member(const Json& j, std::string_view key);
/// Throws unless the member is a string.
std::string text_member(const Json& j, std::string_view key, std::string_view what);

}  // namespace gantry::keras
