// "Did you mean": the nearest name, for options, operators, plugins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// The nearest of `names` by edit distance, or "" if none is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace gantry
