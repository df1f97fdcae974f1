// Exact minimum of a sum of unary and pairwise costs over variables with few labels: what both layout problems (orders
// of axes, and groupings of axes into dimensions) are reduced to. See solver.cpp for the method.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::layout {

/// Costs are integers; kForbidden rules a label, or a pair of labels, out.
using Cost = std::int64_t;
inline constexpr Cost kForbidden = INT64_C(1) << 60;

class Problem {
 public:
  /// A variable with a cost for each label (at least one label). Returns its index, from 0.
  std::size_t add_variable(std::vector<Cost> label_costs);
  /// Adds table[a * labels(v) + b] to the cost when u has label a and v label b; u != v. Tables on one pair add up.
  void add_pair(std::size_t u, std::size_t v, std::vector<Cost> table);

  std::size_t variables() const { return unary_.size(); }
  std::size_t entries() const { return entries_; }  // of all tables of pairs
  std::size_t labels(std::size_t v) const { return unary_[v].size(); }
  struct Pair {
    std::size_t u, v;
    std::vector<Cost> table;
  };
  const std::vector<std::vector<Cost>>& unary() const { return unary_; }
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  std::vector<std::vector<Cost>> unary_;
  std::vector<Pair> pairs_;
  std::size_t entries_ = 0;
};

struct SolverOptions {
  std::uint64_t max_table = 500'000;      // entries of one elimination table
  std::uint64_t relax_work = 4'000'000;   // entries of tables looked at for a bound
  std::uint64_t search_work = 2'000'000;  // and for a labelling
  int nodes = 64;                         // labels tried by conditioning
  double time_limit = 2.0;                // seconds for the integer program, in all
  std::string highs_library;              // path of libhighs.so; empty: none
};

struct Solution {
  bool feasible = false;
  std::vector<std::size_t> label;  // one for each variable, when feasible
  Cost cost = 0, lower_bound = 0;  // equal when optimal
  bool optimal = false;
  std::size_t components = 0;  // after forced variables are gone
  std::size_t by_min_cut = 0, by_elimination = 0, by_integer_program = 0, by_search = 0;  // components solved each way
};

Solution solve(const Problem& p, const SolverOptions& options = {});

/// Cost of a labelling; kForbidden or more if it is ruled out.
Cost evaluate(const Problem& p, const std::vector<std::size_t>& label);

}  // namespace gantry::layout
