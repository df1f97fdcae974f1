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

Moved move_minima(std::vector<Cost>& u, std::vector<Cost>& v, std::vector<Cost>& table) {
  Moved moved;
  const auto move = [&](Cost& to, std::size_t begin, std::size_t end, std::size_t step, bool& changed) {
    Cost least = kForbidden;
    for (std::size_t i = begin; i < end; i += step) least = std::min(least, table[i]);
    if (least == 0) return;
    changed = changed || to != kForbidden;
    to = add(to, least);
    if (to == kForbidden) moved.all_supported = false;
    for (std::size_t i = begin; i < end; i += step) {
      if (table[i] != kForbidden) table[i] -= least;
    }
  };
  const std::size_t rows = u.size(), columns = v.size();
  for (std::size_t a = 0; a < rows; ++a) move(u[a], a * columns, (a + 1) * columns, 1, moved.u);
  for (std::size_t b = 0; b < columns; ++b) move(v[b], b, rows * columns, columns, moved.v);
  return moved;
}

bool make_consistent(Model& m) {
  const auto forbidden = [](Cost c) { return c == kForbidden; };
  const auto blank = [&](Edge& e, Cost cost) {  // the entries of forbidden labels
    const std::vector<Cost>&u = m.unary[e.u], &v = m.unary[e.v];
    if (std::none_of(u.begin(), u.end(), forbidden) && std::none_of(v.begin(), v.end(), forbidden)) return;
    for (std::size_t i = 0; i < e.table.size(); ++i) {
      if (forbidden(u[i / v.size()]) || forbidden(v[i % v.size()])) e.table[i] = cost;
    }
  };
  const auto count = [&] {
    std::size_t n = 0;
    for (const std::vector<Cost>& costs : m.unary) {
      n += static_cast<std::size_t>(std::count_if(costs.begin(), costs.end(), forbidden));
    }
    return n;
  };
  for (std::size_t before = count(), after = before;; before = after) {
    for (Edge& e : m.edges) {
      blank(e, kForbidden);
      move_minima(m.unary[e.u], m.unary[e.v], e.table);
    }
    after = count();
    if (after == before) break;
  }
  for (Edge& e : m.edges) blank(e, 0);
  return std::none_of(m.unary.begin(), m.unary.end(), [&](const std::vector<Cost>& costs) {
    return std::all_of(costs.begin(), costs.end(), forbidden);
  });
}

Cost evaluate(const Model& m, std::span<const Label> label) {
  Cost sum = 0;
  for (std::size_t v = 0; v < m.size(); ++v) sum = add(sum, m.unary[v][label[v]]);
  for (const Edge& e : m.edges) sum = add(sum, e.table[label[e.u] * m.labels(e.v) + label[e.v]]);
  return sum;
}

}  // namespace gantry::layout::solver
