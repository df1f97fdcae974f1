// One value, its maker and its readers, in a labelling problem: copies are paid once, however many read them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "host/layout/solver.hpp"

namespace gantry::layout {

/// A variable and, for each of its labels, the form (order, shape, or both) in which it makes or reads the value.
struct Port {
  std::size_t variable = 0;
  std::vector<std::size_t> form;
};

/// Adds what the value costs: price(a, b) for each form b that is read and was not made, where a is the form made.
/// A hub variable says which form was made and which copies are shared; a reader may also pay for a copy of its own.
/// Returns false where the hub had to leave out sets of several shared copies: then the cost may be counted too high.
bool add_star(Problem& p, const Port& maker, const std::vector<Port>& readers,
              const std::function<Cost(std::size_t, std::size_t)>& price);

}  // namespace gantry::layout
