// A look at a library before it is opened. Private to host/plugins.
#pragma once

#include <filesystem>
#include <string_view>

#include "host/ir/result.hpp"

namespace gantry::plugins {

/// Whether a file can be opened as a shared library of this machine and exports the symbol, as far as its headers tell.
/// The dynamic loader itself trusts them: it crashes on a library that was cut short. Errors: plugin_load.
Status check_shared_library(const std::filesystem::path& file, std::string_view symbol);

}  // namespace gantry::plugins
