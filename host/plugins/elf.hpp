// A look at a library before it is opened, or instead.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry::plugins {

/// Whether a file can be opened as a shared library of this machine and exports the symbol, as far as its headers tell.
/// The dynamic loader itself trusts them: it crashes on a library that was cut short. Errors: plugin_load.
Status check_shared_library(const std::filesystem::path& file, std::string_view symbol);

/// Names of the dynamic symbols that it defines and lets others see, sorted; a thousand at most. Errors: plugin_load.
Result<std::vector<std::string>> exported_symbols(const std::filesystem::path& file);

}  // namespace gantry::plugins
