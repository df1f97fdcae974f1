// Which weights a layer has, in the order in which they are operands of its node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json.hpp"
#include "weights.hpp"

namespace gantry::keras {

/// Of a layer of this class (without a package's prefix) and configuration. nullopt: not known; then the weights' order
/// in the file counts.
std::vector<Role> roles_of(const std::string& class_name, const Json& config);

}  // namespace gantry::keras
