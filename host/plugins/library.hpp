// Opening plugin libraries. The only part that knows Boost.DLL. Private to host/plugins.
#pragma once

#include <filesystem>

#include "gantry/abi.h"
#include "host/ir/result.hpp"

namespace gantry::plugins {

/// Opens a library, which then stays open until the process ends, and calls its entry; checks nothing of the
/// descriptor. Errors: plugin_load.
Result<const gantry_plugin*> open_library(const std::filesystem::path& file);

}  // namespace gantry::plugins
