#include "host/layout/solver_model.hpp"

#include <limits>
#include <numeric>

namespace gantry::layout::solver {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();

/// Shifts the costs to begin at 0 and returns the shift. Forbidden entries stay so.
Cost shift_to_zero(std::vector<Cost>& costs) {
  Cost least = kForbidden;
  for (Cost& c : costs) {
    c = std::clamp(c, -kForbidden, kForbidden);
    least = std::min(least, c);
  }
  if (least == kForbidden || least == 0) return 0;
  for (Cost& c : costs) {
    if (c != kForbidden) c = std::min(c - least, kForbidden);
  }
  return least;
}

std::vector<Cost> transposed(const std::vector<Cost>& table, std::size_t rows, std::size_t columns) {
  std::vector<Cost> out(table.size());
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < columns; ++b) out[b * rows + a] = table[a * columns + b];
  }
  return out;
}

/// Indices of the pairs, those with the same smaller variable together, else in their own order (a counting sort).
std::vector<Index> by_smaller_variable(const Problem& p) {
  std::vector<Index> begin(p.variables() + 1, 0), order(p.pairs().size());
  for (const Problem::Pair& pair : p.pairs()) ++begin[std::min(pair.u, pair.v) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Problem::Pair& pair = p.pairs()[i];
    order[begin[std::min(pair.u, pair.v)]++] = static_cast<Index>(i);
  }
  return order;
}

}  // namespace

Model make_model(const Problem& p) {
  Model m;
  m.unary = p.unary();
  for (std::vector<Cost>& costs : m.unary) m.offset = add_signed(m.offset, shift_to_zero(costs));
  m.edges.reserve(p.pairs().size());
  std::vector<Index> edge_to(p.variables(), kNone);  // the latest edge whose larger variable is this one
  for (Index i : by_smaller_variable(p)) {
    const Problem::Pair& pair = p.pairs()[i];
    const auto u = static_cast<Index>(std::min(pair.u, pair.v)), v = static_cast<Index>(std::max(pair.u, pair.v));
    std::vector<Cost> table = pair.u == u ? pair.table : transposed(pair.table, m.labels(v), m.labels(u));
    m.offset = add_signed(m.offset, shift_to_zero(table));
    const Index known = edge_to[v];
    if (known != kNone && m.edges[known].u == u) {
      std::vector<Cost>& sum = m.edges[known].table;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] = add(sum[k], table[k]);
    } else {
      edge_to[v] = static_cast<Index>(m.edges.size());
      m.edges.push_back({u, v, std::move(table)});
    }
  }
  return m;
}

Cost evaluate(const Model& m, std::span<const Label> label) {
  Cost sum = 0;
  for (std::size_t v = 0; v < m.size(); ++v) sum = add(sum, m.unary[v][label[v]]);
  for (const Edge& e : m.edges) sum = add(sum, e.table[label[e.u] * m.labels(e.v) + label[e.v]]);
  return sum;
}

}  // namespace gantry::layout::solver
