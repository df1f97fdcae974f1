// The symbols that a shared library exports, read from the file itself: nothing of it is loaded.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry::cli {

/// Names of the dynamic symbols that are defined, global or weak, and visible; sorted. 64-bit little-endian ELF only.
/// Errors: plugin_load, where the file is not such a library or is damaged.
Result<std::vector<std::string>> exported_symbols(const std::filesystem::path& library);

}  // namespace gantry::cli
