// Calls as Python writes them: "quantized_relu(4, 1, negative_slope=0.25)". Arguments are literals.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace gantry::quant {

struct Expression {
  std::string name;
  bool called = false;  // with parentheses
  std::vector<nlohmann::json> positional;
  std::vector<std::pair<std::string, nlohmann::json>> keywords;
};

/// Throws Declined where it is not understood.
Expression parse_expression(std::string_view text);

}  // namespace gantry::quant
