// The version of the plugin ABI, for code that does not know the SDK.
#pragma once

#include <string>

namespace gantry {

/// "0.1": major and minor of the contract that this build speaks.
std::string abi_version();

}  // namespace gantry
