// One value, its maker and its readers, in a labelling problem: copies are paid once, however many read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "host/layout/solver.hpp"

namespace gantry::layout {

/// A variable and, for each of its labels, the form (order, shape, or both) in which it makes or reads the value.
struct Port {
  std::size_t variable = 0;
  std::vector<std::size_t> form;
};

/// What becomes of sets of shared copies that are too many to be listed: counted too dear, so that the least cost is
/// one that can be had, or too cheap, so that nothing costs less than the least cost.
enum class Beyond : std::uint8_t { too_dear, too_cheap };

/// Adds what the value costs: price(a, b) for each form b that is read and was not made, where a is the form made.
/// A hub variable says which form was made and which copies are shared; a reader may also pay for a copy of its own.
/// Returns false where there were sets of shared copies beyond what the hub lists.
bool add_star(Problem& p, const Port& maker, const std::vector<Port>& readers,
              const std::function<Cost(std::size_t, std::size_t)>& price, Beyond beyond = Beyond::too_dear);

}  // namespace gantry::layout
