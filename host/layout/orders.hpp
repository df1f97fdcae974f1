// The first layout problem: an order for every value, so that the transposes that are left move the fewest bytes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/layout/candidates.hpp"
#include "host/layout/model.hpp"
#include "host/layout/solver.hpp"

namespace gantry::layout {

/// Costs in bytes (`[layout.cost]` of the configuration).
struct CostModel {
  std::int64_t node = 8192;  // of a transpose or reshape, besides what it moves
  double reshape = 0.35;     // a reshape's bytes against a transpose's
  int max_rank = 6;          // of a transpose, once adjacent atoms are merged
  bool ranks_bind = true;    // false: a transpose of a higher rank is only the worse of two equals
};

struct Orders {
  std::vector<std::size_t> choice;    // of each operator, into Candidates::choices
  std::vector<std::size_t> produced;  // of each root: order it is made in, into Candidates::orders
  struct Copy {
    std::size_t root, order;  // a transpose to this order is paid
  };
  std::vector<Copy> copies;
  std::int64_t cost = 0, lower_bound = 0;  // bytes, node costs included
  bool optimal = false;
  Solution solver;  // statistics
};

/// Ties between optima are broken for shapes' sake: by fewer blocks, and with a seed above 0 by a throw of dice that is
/// the same every time. Errors: internal, if an operator can run in no candidate.
Result<Orders> solve_orders(const Model& m, const Candidates& c, const CostModel& cost, const SolverOptions& options,
                            std::uint64_t seed = 0);

/// What a choice for each operator means: orders, copies and their cost; not known to be optimal.
Orders orders_of(const Model& m, const Candidates& c, const CostModel& cost, std::vector<std::size_t> choice);

}  // namespace gantry::layout
