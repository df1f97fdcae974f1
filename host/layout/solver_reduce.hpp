// Exact removals that need no search. Private to host/layout/solver*.cpp and its tests.
#pragma once

#include <optional>
#include <vector>

#include "host/layout/solver_model.hpp"

namespace gantry::layout::solver {

struct Component {
  Model model;
  std::vector<Index> variable;  // of the whole problem, for each of the model
};

/// The connected parts of a model, leaving out variables without labels.
std::vector<Component> split(Model m);

/// What reduce() leaves: connected models without easy variables, and the way back.
struct Reduced {
  std::vector<Component> components;
  std::size_t finished = 0;  // components that had a choice left and were eliminated completely
  Cost offset = 0;           // to add to the costs of the components
  Trail trail;
};

/// Nothing if no labelling is allowed.
std::optional<Reduced> reduce(Model m);

}  // namespace gantry::layout::solver
