// A layer's configuration as attributes of its node.
#pragma once

#include <gantry/sdk.hpp>

#include "json.hpp"

namespace gantry::keras {

/// Numbers, strings and lists of them (lists of lists of numbers are flattened); truth values are 0 or 1; nulls are
/// left out; what else there is, such as a quantizer, is JSON text with sorted keys. Initializers, regularizers and
/// constraints, which matter for training only, are left out.
sdk::Attributes attributes_of_config(const Json& config);

}  // namespace gantry::keras
