// A lower bound for a model, and the same model written so that the bound shows. Private to host/layout/solver*.cpp and
// its tests.
#pragma once

#include <optional>
#include <vector>

#include "host/layout/solver_model.hpp"

namespace gantry::layout::solver {

struct Relaxed {
  Model model;               // same labels; the cost of a labelling is `bound` plus its cost here
  Cost bound = 0;            // of every labelling; kForbidden if none is allowed
  std::vector<Label> label;  // the best labelling met on the way, by the costs of the original
  Cost cost = kForbidden;    // of it
};

/// Never more than `most_work` entries of tables are looked at, but each at least once.
Relaxed relax(const Model& m, std::uint64_t most_work);

/// Forbids the labels and pairs of a relaxed model that no labelling of a cost below `limit` has (in its own costs).
void forbid_from(Model& m, Cost limit);

}  // namespace gantry::layout::solver
