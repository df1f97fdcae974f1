// Candidate forms that nobody needs are dropped before anything is solved: orders and shapes alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace gantry::layout {

/// Forms that go together: one for each of some values.
struct Relation {
  std::vector<std::size_t> values;
  std::vector<std::vector<std::size_t>> tuples;
  std::vector<int> cost;  // of each tuple: none is exchanged for a dearer one; empty: all the same
  bool fixed = false;     // no tuple may be exchanged for another
};

/// Values, each to be given one of its forms, a tuple of every relation. What it costs to have two forms of one value,
/// if they differ, is the same for all pairs that are possible.
struct FormProblem {
  using Two = std::pair<std::size_t, std::size_t>;
  std::vector<std::vector<std::size_t>> weight;  // of each form of each value: none is exchanged for a heavier one
  std::vector<Relation> relations;
  /// Whether two forms of a value can be had together if two others can; empty: always.
  std::function<bool(std::size_t value, Two before, Two after)> replaces;
};

struct Kept {
  std::vector<std::vector<bool>> form;   // of each value
  std::vector<std::vector<bool>> tuple;  // of each relation
};

/// Drops forms, and the tuples that use them, such that the least cost over what is left is the same, and so is the
/// least weight among the solutions of that cost. Values with at most `few` forms are left as they are, unless others
/// need them to change. Which of several that are as good stay depends on the seed, and on nothing else.
Kept fold(const FormProblem& problem, std::uint64_t seed = 0, std::size_t few = 3);

}  // namespace gantry::layout
