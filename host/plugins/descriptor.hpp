// The descriptor that a plugin's entry returns: checked before anything of it is used. Private to host/plugins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "gantry/abi.h"
#include "host/plugins/registry.hpp"

namespace gantry::plugins {

/// The ABI version first; then every record, pointer, count and text. Errors of code plugin_abi that name the record,
/// the field, and the file.
Status check_descriptor(const gantry_plugin* d, const std::filesystem::path& library);

/// What a checked descriptor registers, rows sorted, as its manifest should say it.
Manifest manifest_of(const gantry_plugin& d, const std::filesystem::path& library);

using OptionValue = std::variant<std::int64_t, double, std::string>;
/// An option's default: true, 12, 0.5, text with or without quotes. Nothing if it is not of the kind.
std::optional<OptionValue> parse_default(gantry_attr_kind kind, bool boolean, std::string_view text);
/// bool, int, float, string: as in manifests.
std::string_view option_type(const gantry_option& o);

}  // namespace gantry::plugins
