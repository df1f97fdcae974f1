#include "host/plugins/abi_version.hpp"

#include "gantry/abi.h"

namespace gantry {

std::string abi_version() { return std::to_string(GANTRY_ABI_MAJOR) + "." + std::to_string(GANTRY_ABI_MINOR); }

}  // namespace gantry
