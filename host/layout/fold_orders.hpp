// Candidate orders that nobody needs are dropped before anything is solved.
#pragma once

#include <cstdint>

#include "host/layout/candidates.hpp"

namespace gantry::layout {

/// Whether the least cost stays what it is among transposes of a limited rank, or among those of any rank. The second
/// leaves far fewer candidates where values have many atoms; the caller then looks whether the limit is kept.
enum class RankLimit : std::uint8_t { kept, hoped_for };

/// What is left of the candidates, and which each was.
struct FoldedCandidates {
  Candidates left;
  std::vector<std::vector<std::size_t>> choice;  // of each operator's choices that are left: its number among all

  /// Choices among all candidates, from choices among those that are left.
  std::vector<std::size_t> of_all(const std::vector<std::size_t>& chosen) const;
};

/// Drops orders, and the choices that use them, such that the least cost over what is left is the same, and so is the
/// least number of blocks (Candidates::blocks) among the choices of that cost. The seed: as in fold().
FoldedCandidates fold_candidates(const Model& m, const Candidates& all, int max_rank, RankLimit limit,
                                 std::uint64_t seed = 0, std::size_t few = 3);

}  // namespace gantry::layout
