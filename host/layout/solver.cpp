// Problem: choose a label for each of many variables so that the sum of costs of labels and of pairs of labels is
// least. In general that is NP-hard; what layout asks for is long, thin and mostly forced.
//
// Idea: do what is exact and cheap first, and give the rest, one connected part at a time, to the first method that can
// take it:
//
//   1. reduce: drop labels and variables that decide themselves           (solver_reduce.cpp, solver_split.cpp)
//   2. a minimum cut, for two labels that should agree                    (solver_min_cut.cpp)
//   3. elimination in a good order, while the tables are small            (solver_order.cpp, solver_eliminate.cpp)
//   4. a lower bound, and a labelling close to it                         (solver_relax.cpp, solver_search.cpp)
//   5. if they do not meet, forbid whatever costs more than the distance between them, and begin again with 1; now with
//      larger tables, with tables of what is allowed only, and by trying all labels of a few variables
//                                                                         (solver_sparse.cpp, conditioned() below)
//   6. the integer program, if there is a library for it                  (solver_program.cpp)
//   7. else the labelling and the bound of 4 stand: the only answer that may miss the minimum
//
// It ends because every step makes a model smaller, and 4 to 6 have a budget: entries of tables, labels tried, and for
// the integer program seconds. On graphs like those of networks the time is near linear in the size of the tables.
//
// All costs are integers, so that equal means equal. Nothing is random and nothing runs in parallel: one problem has
// one answer, unless the time for the integer program runs out. Sums are exact as long as the magnitudes of all costs
// together are below kForbidden; a sum that reaches it is ruled out.
#include "host/layout/solver.hpp"

#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "host/layout/solver_model.hpp"
#include "host/layout/solver_program.hpp"
#include "host/layout/solver_reduce.hpp"
#include "host/layout/solver_relax.hpp"
#include "host/layout/solver_stages.hpp"

namespace gantry::layout {

std::size_t Problem::add_variable(std::vector<Cost> label_costs) {
  unary_.push_back(std::move(label_costs));
  return unary_.size() - 1;
}

void Problem::add_pair(std::size_t u, std::size_t v, std::vector<Cost> table) {
  entries_ += table.size();
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

using solver::Answer;
using solver::Label;
using solver::Model;

constexpr std::uint64_t kParts = 64;            // of the budgets that a label tried by conditioning gets
constexpr std::uint64_t kSmallTable = 1 << 17;  // entries, while nothing is known of bounds

class Solver {
 public:
  explicit Solver(const SolverOptions& options)
      : options_(options), seconds_left_(options.time_limit), nodes_left_(options.nodes) {}
  Solution run(const Problem& p);

 private:
  /// From the cheapest to the dearest: the widest method that a component needed.
  enum class Method { kNone, kMinCut, kElimination, kIntegerProgram, kSearch };

  Answer component(const Model& m);
  std::optional<Answer> directly(const Model& m, std::uint64_t max_table);
  Answer wide(const Model& m);
  Answer narrowed(Model m, Cost limit);
  Answer narrow_component(const Model& m, Cost limit);
  std::optional<Answer> below(const Model& m, Cost limit, std::uint64_t max_table);
  std::optional<Answer> conditioned(const Model& m, Cost limit);
  void used(Method method) { widest_ = std::max(widest_, method); }

  const SolverOptions& options_;
  double seconds_left_;
  int nodes_left_;
  std::unique_ptr<solver::Highs> highs_;
  bool looked_for_highs_ = false;
  Method widest_ = Method::kNone;
};

/// Puts the answers to the parts of a reduced model together. Their costs, and the bound, include the offset.
template <typename Solve>
Answer assemble(const solver::Reduced& reduced, std::size_t variables, Solve&& solve_part) {
  Answer whole{true, std::vector<Label>(variables, 0), reduced.offset, reduced.offset};
  for (const solver::Component& part : reduced.components) {
    const Answer answer = solve_part(part.model);
    whole.lower_bound = solver::add_signed(whole.lower_bound, answer.lower_bound);
    whole.cost = solver::add_signed(whole.cost, answer.cost);
    whole.feasible = whole.feasible && answer.feasible;
    if (!answer.feasible) continue;
    for (std::size_t i = 0; i < part.variable.size(); ++i) whole.label[part.variable[i]] = answer.label[i];
  }
  if (whole.feasible) reduced.trail.replay(whole.label);
  return whole;
}

std::optional<Answer> Solver::directly(const Model& m, std::uint64_t max_table) {
  if (std::optional<Answer> answer = solver::min_cut(m)) {
    used(Method::kMinCut);
    return answer;
  }
  std::optional<Answer> answer = solver::eliminate(m, max_table);
  if (answer) used(Method::kElimination);
  return answer;
}

Answer Solver::component(const Model& m) {
  if (std::optional<Answer> answer = directly(m, std::min(options_.max_table, kSmallTable))) return *std::move(answer);
  return wide(m);
}

/// A component that is too wide to be solved as it is.
Answer Solver::wide(const Model& m) {
  solver::Relaxed relaxed = solver::relax(m, options_.relax_work);
  if (relaxed.bound >= kForbidden) {
    used(Method::kElimination);
    return solver::infeasible();
  }
  Answer best;
  best.lower_bound = relaxed.bound;
  best.cost = relaxed.cost;
  best.label = std::move(relaxed.label);
  for (bool better = true; better;) {
    // A better labelling may come back without proof; then less is left to look at the next time.
    if (!best.proved()) best.label = solver::search(m, std::move(best.label), options_.search_work);
    best.cost = solver::evaluate(m, best.label);
    best.feasible = best.cost < kForbidden;
    if (best.proved()) {
      used(Method::kSearch);
      break;
    }
    const Cost limit = best.feasible ? best.cost - relaxed.bound : kForbidden;
    const Answer below = narrowed(relaxed.model, limit);
    best.lower_bound = std::min(best.cost, solver::add(relaxed.bound, below.lower_bound));
    better = below.feasible && relaxed.bound + below.cost < best.cost;
    if (!better) break;
    best.label = below.label;
    best.cost = relaxed.bound + below.cost;
    best.feasible = true;
    if (best.proved()) break;
  }
  return best;
}

/// The best labelling of a cost below the limit; infeasible if it is known that there is none.
Answer Solver::narrowed(Model m, Cost limit) {
  solver::forbid_from(m, limit);
  const std::size_t variables = m.size();
  const std::optional<solver::Reduced> reduced = solver::reduce(std::move(m));
  used(Method::kElimination);
  if (!reduced || reduced->offset >= limit) return solver::infeasible();
  return assemble(*reduced, variables,
                  [&](const Model& part) { return narrow_component(part, limit - reduced->offset); });
}

Answer Solver::narrow_component(const Model& m, Cost limit) {
  if (std::optional<Answer> answer = below(m, limit, options_.max_table)) return *std::move(answer);
  if (!std::exchange(looked_for_highs_, true)) highs_ = solver::Highs::open(options_.highs_library);
  Answer answer;
  bool by_program = false;
  if (highs_ != nullptr && seconds_left_ > 0) {
    const auto start = std::chrono::steady_clock::now();
    if (std::optional<Answer> found = highs_->solve(m, seconds_left_)) {
      answer = *std::move(found);
      by_program = true;
    }
    seconds_left_ -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  used(by_program ? Method::kIntegerProgram : Method::kSearch);
  if (!answer.proved()) {
    const Cost bound = solver::relax(m, options_.relax_work).bound;
    answer.lower_bound = std::min(answer.cost, std::max(answer.lower_bound, bound));
  }
  return answer;
}

/// The minimum if it is below the limit, else infeasible; nothing if that takes too much.
std::optional<Answer> Solver::below(const Model& m, Cost limit, std::uint64_t max_table) {
  if (std::optional<Answer> answer = directly(m, max_table)) return answer;
  used(Method::kElimination);
  if (std::optional<Answer> answer = solver::eliminate_sparse(m, limit, max_table)) return answer;
  return conditioned(m, limit);
}

/// Tries every label of the variable with the most neighbours, each with what it leaves to the others, and so on down
/// while labels may be tried.
std::optional<Answer> Solver::conditioned(const Model& m, Cost limit) {
  std::vector<std::size_t> degree(m.size(), 0);
  for (const solver::Edge& e : m.edges) {
    ++degree[e.u];
    ++degree[e.v];
  }
  const auto v = static_cast<std::size_t>(std::max_element(degree.begin(), degree.end()) - degree.begin());
  std::vector<std::size_t> labels(m.labels(v));
  std::iota(labels.begin(), labels.end(), std::size_t{0});
  std::stable_sort(labels.begin(), labels.end(),
                   [&](std::size_t a, std::size_t b) { return m.unary[v][a] < m.unary[v][b]; });
  Answer best = solver::infeasible();
  for (std::size_t a : labels) {
    if (m.unary[v][a] >= limit) break;
    if (nodes_left_-- <= 0) return std::nullopt;
    Model fixed = m;
    for (std::size_t b : labels) {
      if (b != a) fixed.unary[v][b] = kForbidden;
    }
    solver::Relaxed relaxed = solver::relax(fixed, options_.relax_work / kParts);
    if (relaxed.bound >= limit) continue;
    const Cost room = limit - relaxed.bound;
    solver::forbid_from(relaxed.model, room);
    const std::optional<solver::Reduced> reduced = solver::reduce(std::move(relaxed.model));
    if (!reduced || reduced->offset >= room) continue;
    bool all = true;
    Answer answer = assemble(*reduced, m.size(), [&](const Model& part) {
      std::optional<Answer> solved;
      if (all) solved = below(part, room - reduced->offset, options_.max_table / kParts);
      all = solved.has_value();
      return all ? *std::move(solved) : solver::infeasible();
    });
    if (!all) return std::nullopt;
    if (!answer.feasible) continue;
    answer.cost = answer.lower_bound = solver::evaluate(m, answer.label);
    if (answer.cost >= limit) continue;
    limit = answer.cost;
    best = std::move(answer);
  }
  return best;
}

Solution Solver::run(const Problem& p) {
  Solution solution;
  solution.cost = solution.lower_bound = kForbidden;
  const std::optional<solver::Reduced> reduced = solver::reduce(solver::make_model(p));
  if (!reduced) return solution;
  solution.components = reduced->finished + reduced->components.size();
  solution.by_elimination = reduced->finished;
  const Answer answer = assemble(*reduced, p.variables(), [&](const Model& m) {
    widest_ = Method::kNone;
    Answer part = component(m);
    if (widest_ == Method::kMinCut) ++solution.by_min_cut;
    if (widest_ == Method::kElimination) ++solution.by_elimination;
    if (widest_ == Method::kIntegerProgram) ++solution.by_integer_program;
    if (widest_ == Method::kSearch) ++solution.by_search;
    return part;
  });
  solution.lower_bound = answer.lower_bound;
  if (!answer.feasible) return solution;
  solution.label.assign(answer.label.begin(), answer.label.end());
  solution.cost = evaluate(p, solution.label);
  solution.feasible = solution.cost < kForbidden;
  solution.optimal = solution.feasible && solution.cost == solution.lower_bound;
  return solution;
}

}  // namespace

Solution solve(const Problem& p, const SolverOptions& options) { return Solver(options).run(p); }

}  // namespace gantry::layout
