// Candidate orders that nobody needs are dropped before anything is solved.
#pragma once

#include <cstdint>

#include "host/layout/candidates.hpp"

namespace gantry::layout {

/// Whether the least cost stays what it is among transposes of a limited rank, or among those of any rank. The second
/// leaves far fewer candidates where values have many atoms; the caller then looks whether the limit is kept.
enum class RankLimit : std::uint8_t { kept, hoped_for };

/// Drops orders, and the choices that use them, such that the least cost over what is left is the same, and so is the
/// least number of blocks (Candidates::blocks) among the choices of that cost. Roots with at most `few` orders are left
/// as they are, unless others need them to change.
void fold_candidates(const Model& m, Candidates& c, int max_rank, RankLimit limit, std::size_t few = 3);

}  // namespace gantry::layout
