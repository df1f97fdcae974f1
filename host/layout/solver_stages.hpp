// The ways to solve a connected model, from the narrowest to the widest. Each is exact, or says that it is not; a stage
// that cannot take a model returns nothing. Private to host/layout/solver*.cpp and its tests.
#pragma once

#include <cstdint>
#include <optional>

#include "host/layout/solver_model.hpp"

namespace gantry::layout::solver {

/// Elimination in a good order, while no table has more than `max_table` entries.
std::optional<Answer> eliminate(const Model& m, std::uint64_t max_table);

/// Local search from several starts, with a lower bound. Always answers, but may miss the minimum, and may say
/// infeasible without proof: then the lower bound is below kForbidden.
Answer search(const Model& m);

}  // namespace gantry::layout::solver
