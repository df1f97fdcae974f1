// The ways to solve a connected model, from the narrowest to the widest. Each is exact, or says that it is not; a stage
// that cannot take a model returns nothing. Private to host/layout/solver*.cpp and its tests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/layout/solver_model.hpp"

namespace gantry::layout::solver {

/// A minimum cut, when every variable has two labels and every table says that two should agree, for some reading of
/// the labels.
std::optional<Answer> min_cut(const Model& m);

/// Elimination in a good order, while no table has more than `max_table` entries.
std::optional<Answer> eliminate(const Model& m, std::uint64_t max_table);

/// Elimination of the labellings that cost less than `limit`, with tables that list only the entries that matter: for
/// models that are wide but mostly forbidden. Infeasible if there is no such labelling; nothing if a table grows beyond
/// `max_rows`.
std::optional<Answer> eliminate_sparse(const Model& m, Cost limit, std::uint64_t max_rows);

/// Local search from a labelling (empty: from none in particular), which is never made worse. Whatever comes out is not
/// known to be the best. Looks at about `most_work` entries of tables.
std::vector<Label> search(const Model& m, std::vector<Label> start, std::uint64_t most_work);

}  // namespace gantry::layout::solver
