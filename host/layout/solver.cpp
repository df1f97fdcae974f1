// Problem: choose a label for each of many variables so that the sum of costs of labels and of pairs of labels is
// least. In general that is NP-hard; what layout asks for is long, thin and mostly forced.
//
// Idea: do what is exact and cheap first, and give the rest, one connected part at a time, to the first method that can
// take it:
//
//   1. reduce: drop labels and variables that decide themselves        (solver_reduce.cpp)
//   2. elimination in a good order, while the tables fit               (solver_eliminate.cpp)
//   3. local search with a lower bound: the only one that may miss     (solver_search.cpp)
//
// All costs are integers, so that equal means equal. Nothing is random and nothing runs in parallel: one problem has
// one answer. The costs of a labelling are summed without regard to overflow as long as the sum of all magnitudes is
// below kForbidden; a sum that reaches it is ruled out.
#include "host/layout/solver.hpp"

#include <utility>

#include "host/layout/solver_model.hpp"
#include "host/layout/solver_reduce.hpp"
#include "host/layout/solver_stages.hpp"

namespace gantry::layout {

std::size_t Problem::add_variable(std::vector<Cost> label_costs) {
  unary_.push_back(std::move(label_costs));
  return unary_.size() - 1;
}

void Problem::add_pair(std::size_t u, std::size_t v, std::vector<Cost> table) {
  pairs_.push_back({u, v, std::move(table)});
}

Cost evaluate(const Problem& p, const std::vector<std::size_t>& label) {
  Cost sum = 0;
  for (std::size_t v = 0; v < p.variables(); ++v) sum = solver::add_signed(sum, p.unary()[v][label[v]]);
  for (const Problem::Pair& pair : p.pairs()) {
    sum = solver::add_signed(sum, pair.table[label[pair.u] * p.labels(pair.v) + label[pair.v]]);
  }
  return sum;
}

namespace {

solver::Answer solve_component(const solver::Model& m, const SolverOptions& options, Solution& solution) {
  if (std::optional<solver::Answer> answer = solver::eliminate(m, options.max_table)) {
    ++solution.by_elimination;
    return *std::move(answer);
  }
  ++solution.by_search;
  return solver::search(m);
}

}  // namespace

Solution solve(const Problem& p, const SolverOptions& options) {
  Solution solution;
  solution.cost = solution.lower_bound = kForbidden;
  std::optional<solver::Reduced> reduced = solver::reduce(solver::make_model(p));
  if (!reduced) return solution;
  solution.components = reduced->finished + reduced->components.size();
  solution.by_elimination = reduced->finished;
  std::vector<solver::Label> label(p.variables(), 0);
  Cost bound = reduced->offset;
  bool found = true;
  for (const solver::Reduced::Component& part : reduced->components) {
    const solver::Answer answer = solve_component(part.model, options, solution);
    bound = solver::add_signed(bound, answer.lower_bound);
    found = found && answer.feasible;
    if (!answer.feasible) continue;
    for (std::size_t i = 0; i < part.variable.size(); ++i) label[part.variable[i]] = answer.label[i];
  }
  solution.lower_bound = bound;
  if (!found) return solution;
  reduced->trail.replay(label);
  solution.label.assign(label.begin(), label.end());
  solution.cost = evaluate(p, solution.label);
  solution.feasible = solution.cost < kForbidden;
  solution.optimal = solution.feasible && solution.cost == solution.lower_bound;
  return solution;
}

}  // namespace gantry::layout
