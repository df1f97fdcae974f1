// Candidate orders: the places that operators demand, pushed through rules and views to a fixed point.
#pragma once

#include <cstddef>
#include <vector>

#include "host/layout/model.hpp"

namespace gantry::layout {

struct CandidateOptions {
  std::size_t per_value = 128;   // orders of one root
  std::size_t per_segment = 24;  // orders of a segment that only one operand has
  std::size_t rounds = 100;
};

/// What an operator can do: an order for each of its operands (numbers into Candidates::orders of their roots).
using Choice = std::vector<std::size_t>;

struct Candidates {
  std::vector<std::vector<Seq>> orders;          // of each root
  std::vector<std::vector<std::size_t>> blocks;  // of each order: those that stay together against the value's own
                                                 // logical orders, less 1; breaks ties
  std::vector<std::vector<Choice>> choices;      // of each operator
  std::size_t dropped = 0;                       // candidates that a cap kept out; 0: the optimum is over all that the
                                                 // rules reach
};

Candidates find_candidates(const Model& m, const CandidateOptions& options = {});

/// Blocks of adjacent atoms that stay together from order `a` to order `b`: the rank of the transpose.
std::size_t runs(const Seq& a, const Seq& b);

}  // namespace gantry::layout
