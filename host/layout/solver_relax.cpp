// Problem: a lower bound close to the minimum, for models too wide to be solved outright, and fast.
//
// Idea: costs can be moved between a variable and its tables without changing what any labelling costs. Any way of
// moving them so that all stay at least 0 makes the sum of what was taken out altogether a lower bound. Sequential
// tree-reweighted message passing (TRW-S; Kolmogorov 2006) moves them well: it visits the variables in order; each
// takes what its tables can give (the minimum of each row), gives up its own minimum to the bound, and shares the rest
// among the tables to the variables that come next; then the same in reverse. The bound never falls, and it comes close
// to the one of the linear program. On a tree the first rounds are dynamic programming, and the bound is the minimum.
//
// All is in whole numbers: shares are rounded down and what is not shared stays, so that nothing is lost and the bound
// is valid to the last unit. It ends when two rounds gain next to nothing.
//
// With the costs moved, a label that costs more than an answer already known is over the bound can be forbidden: what
// is left is often small enough for an exact method.
#include "host/layout/solver_relax.hpp"

#include <utility>

namespace gantry::layout::solver {
namespace {

constexpr int kMostRounds = 200;      // both ways
constexpr int kPatience = 6;          // rounds that gain next to nothing
constexpr Cost kNextToNothing = 512;  // that part of the distance to the best labelling

class MessagePassing {
 public:
  explicit MessagePassing(const Model& original);
  Relaxed run(std::uint64_t most_work);

 private:
  void round(bool forward);
  void take(Index v, Index e);
  void give(Index v, Index e, Cost parts);
  void lower(Index v);
  Label cheapest(Index v, bool forward) const;

  const Model& original_;
  Relaxed out_;
  std::vector<std::vector<Index>> near_;  // edges of each variable
  std::vector<Cost> earlier_, later_;     // how many of them lead to smaller and to larger variables
  std::vector<Label> label_;
  std::vector<Cost> share_;  // for one table
  std::uint64_t work_ = 0;   // entries of all tables
};

MessagePassing::MessagePassing(const Model& original)
    : original_(original), near_(original.size()), earlier_(original.size(), 0), later_(original.size(), 0) {
  out_.model = original;
  label_.assign(original.size(), 0);
  for (Index e = 0; e < original.edges.size(); ++e) {
    const Edge& edge = original.edges[e];
    near_[edge.u].push_back(e);
    near_[edge.v].push_back(e);
    ++later_[std::min(edge.u, edge.v)];
    ++earlier_[std::max(edge.u, edge.v)];
    work_ += edge.table.size();
  }
}

/// Moves the minimum over the neighbour's labels from a table to the variable.
void MessagePassing::take(Index v, Index e) {
  Edge& edge = out_.model.edges[e];
  std::vector<Cost>& own = out_.model.unary[v];
  const std::size_t columns = out_.model.labels(edge.v);
  const auto reduce = [](Cost c, Cost by) { return c == kForbidden ? c : c - by; };
  if (edge.u == v) {
    for (std::size_t a = 0; a < own.size(); ++a) {
      const auto row = std::span(edge.table).subspan(a * columns, columns);
      const Cost least = *std::min_element(row.begin(), row.end());
      if (least == 0) continue;
      own[a] = add(own[a], least);
      for (Cost& c : row) c = reduce(c, least);
    }
    return;
  }
  share_.assign(columns, kForbidden);  // the minimum of each column, row by row
  for (auto row = edge.table.begin(); row != edge.table.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    for (std::size_t b = 0; b < columns; ++b) share_[b] = std::min(share_[b], row[static_cast<std::ptrdiff_t>(b)]);
  }
  if (std::all_of(share_.begin(), share_.end(), [](Cost c) { return c == 0; })) return;
  for (std::size_t b = 0; b < columns; ++b) own[b] = add(own[b], share_[b]);
  for (auto row = edge.table.begin(); row != edge.table.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    for (std::size_t b = 0; b < columns; ++b) {
      Cost& c = row[static_cast<std::ptrdiff_t>(b)];
      c = reduce(c, share_[b]);
    }
  }
}

/// Moves one part of the variable's costs to a table.
void MessagePassing::give(Index v, Index e, Cost parts) {
  Edge& edge = out_.model.edges[e];
  const std::size_t columns = out_.model.labels(edge.v);
  share_.clear();
  for (Cost c : out_.model.unary[v]) share_.push_back(c == kForbidden ? c : c / parts);
  for (std::size_t a = 0, i = 0; i < edge.table.size(); ++a) {
    if (edge.u == v && share_[a] == 0) {
      i += columns;
      continue;
    }
    for (std::size_t b = 0; b < columns; ++b, ++i) edge.table[i] = add(edge.table[i], share_[edge.u == v ? a : b]);
  }
}

/// Moves the variable's minimum to the bound.
void MessagePassing::lower(Index v) {
  std::vector<Cost>& own = out_.model.unary[v];
  const Cost least = *std::min_element(own.begin(), own.end());
  out_.bound = add(out_.bound, least);
  for (Cost& c : own) c = c == kForbidden ? c : c - least;
}

/// The cheapest label, given those of the variables visited before it in this round.
Label MessagePassing::cheapest(Index v, bool forward) const {
  std::vector<Cost> sum = out_.model.unary[v];
  for (Index e : near_[v]) {
    const Edge& edge = out_.model.edges[e];
    const Index w = edge.u == v ? edge.v : edge.u;
    if ((w < v) != forward) continue;
    const std::size_t columns = out_.model.labels(edge.v);
    for (std::size_t a = 0; a < sum.size(); ++a) {
      sum[a] = add(sum[a], edge.table[edge.u == v ? a * columns + label_[w] : label_[w] * columns + a]);
    }
  }
  return static_cast<Label>(std::min_element(sum.begin(), sum.end()) - sum.begin());
}

void MessagePassing::round(bool forward) {
  const auto n = static_cast<Index>(out_.model.size());
  for (Index i = 0; i < n; ++i) {
    const Index v = forward ? i : n - 1 - i;
    for (Index e : near_[v]) take(v, e);
    lower(v);
    if (out_.bound == kForbidden) return;
    label_[v] = cheapest(v, forward);
    std::vector<Cost>& own = out_.model.unary[v];
    const Cost parts = std::max(earlier_[v], later_[v]), given = forward ? later_[v] : earlier_[v];
    if (given == 0) continue;
    for (Index e : near_[v]) {
      const Index w = out_.model.edges[e].u == v ? out_.model.edges[e].v : out_.model.edges[e].u;
      if ((w > v) == forward) give(v, e, parts);
    }
    for (Cost& c : own) c = c == kForbidden ? c : c - c / parts * given;
  }
}

Relaxed MessagePassing::run(std::uint64_t most_work) {
  std::uint64_t work = 0;
  int idle = 0;
  for (int i = 0; i < kMostRounds; ++i) {
    const Cost before = out_.bound;
    for (bool forward : {true, false}) {
      round(forward);
      if (out_.bound == kForbidden) return std::move(out_);
      const Cost cost = evaluate(original_, label_);
      if (cost < out_.cost) {
        out_.cost = cost;
        out_.label = label_;
      }
    }
    if (out_.cost <= out_.bound) break;
    const Cost gap = out_.cost - out_.bound;
    idle = out_.bound - before <= gap / kNextToNothing ? idle + 1 : 0;
    work += 4 * work_;
    if (idle == kPatience || work >= most_work) break;
  }
  // So that every table has a 0 in each row and column, and the variables hold what can be held against their labels.
  for (Index v = 0; v < out_.model.size(); ++v) {
    for (Index e : near_[v]) take(v, e);
    lower(v);
  }
  return std::move(out_);
}

}  // namespace

Relaxed relax(const Model& m, std::uint64_t most_work) { return MessagePassing(m).run(most_work); }

void forbid_from(Model& m, Cost limit) {
  for (std::vector<Cost>& costs : m.unary) {
    for (Cost& c : costs) c = c >= limit ? kForbidden : c;
  }
  for (Edge& e : m.edges) {
    const std::vector<Cost>&u = m.unary[e.u], &v = m.unary[e.v];
    for (std::size_t i = 0; i < e.table.size(); ++i) {
      if (add(add(u[i / v.size()], v[i % v.size()]), e.table[i]) >= limit) e.table[i] = kForbidden;
    }
  }
}

}  // namespace gantry::layout::solver
