// Orders in which the variables of a model can be eliminated. Private to host/layout/solver*.cpp and its tests.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "host/layout/solver_model.hpp"

namespace gantry::layout::solver {

struct Order {
  std::vector<Index> variable;
  std::uint64_t total = 0;  // entries added up for all tables together, if none is forbidden
};

/// What is least for the variable that goes next: entries of the table left behind, entries added up, edges added.
enum class Rule { kTable, kJoint, kFill };

struct OrderLimits {
  std::uint64_t table = std::numeric_limits<std::uint64_t>::max();  // entries of one
  std::uint64_t total = std::numeric_limits<std::uint64_t>::max();  // Order::total
  std::size_t width = std::numeric_limits<std::size_t>::max();      // variables of one table
};

/// Nothing if the order that the rule leads to breaks a limit.
std::optional<Order> find_order(const Model& m, Rule rule, const OrderLimits& limits);

}  // namespace gantry::layout::solver
