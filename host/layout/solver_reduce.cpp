// Most variables of a layout problem are forced, or hang on the rest by one or two neighbours. A worklist of touched
// variables removes them, each step keeping the minimum:
//
//   - a label without support in a neighbour, or dearer than another label whatever the neighbours do, is dropped
//     (arc consistency; dead-end elimination, Goldstein 1994);
//   - the minima of a table's rows and columns move to the two variables; a table that is then 0 says nothing and goes;
//   - a table that allows each label with exactly one of the other variable's makes one variable of two;
//   - a variable with one label is added to its neighbours, one with a single neighbour becomes a cost of the
//     neighbour's labels, one with two neighbours a table between them if that is small.
//
// It ends because every step removes a label, a table or a variable, or moves costs once after one of these. A variable
// is touched only by a step at a neighbour, and tried for dominance again only after a quarter of its neighbours
// changed, so the time is near linear in the size of the tables.
#include "host/layout/solver_reduce.hpp"

#include <deque>
#include <limits>
#include <utility>

namespace gantry::layout::solver {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();
constexpr std::size_t kMaxNewTable =
    4096;  // entries of a table made for a variable with two neighbours, if more than it had
constexpr std::size_t kMaxNewWork = 1 << 23;     // additions to fill it
constexpr std::size_t kAllPairsOfLabels = 16;    // labels up to which each is compared with each
constexpr std::size_t kDominanceWork = 1 << 16;  // entries looked at for one variable at a time
constexpr int kMaxSweeps = 8;                    // over variables with few changes, when the worklist is empty

class Reducer {
 public:
  explicit Reducer(Model m);
  bool run();
  Reduced take();

 private:
  struct Variable {
    std::vector<Index> edges;  // also dead ones
    Index degree = 0;          // live edges
    Index changes = 0;         // since it was last tried for dominance
    bool alive = true, queued = false;
  };

  std::vector<Cost>& unary(Index v) { return m_.unary[v]; }
  std::size_t labels(Index v) const { return m_.unary[v].size(); }
  Index other(Index e, Index v) const { return m_.edges[e].u == v ? m_.edges[e].v : m_.edges[e].u; }
  Cost entry(Index e, Index v, std::size_t a, std::size_t b) const {
    const Edge& edge = m_.edges[e];
    return edge.u == v ? edge.table[a * labels(edge.v) + b] : edge.table[b * labels(edge.v) + a];
  }

  void touch(Index v);
  void kill_edge(Index e);
  const std::vector<Index>& live_edges(Index v);
  Index find_edge(Index u, Index v);
  void add_table(Index u, Index v, std::vector<Cost> table);

  bool visit(Index v);
  bool settle(Index v);
  bool drop_forbidden(Index v);
  void tidy(Index e);
  void tie(Index e);
  void contract(Index gone, Index kept, Index tied, const std::vector<Label>& label_of);
  void move_edge(Index e, Index gone, Index kept, const std::vector<Label>& label_of);
  void finish(Index v);
  void fold_forced(Index v);
  void fold_leaf(Index v);
  bool fold_bridge(Index v);
  bool drop_dominated(Index v);
  bool dominated(Index v, std::size_t a, std::size_t by);

  Model m_;
  std::vector<Variable> variables_;
  std::vector<char> edge_alive_, edge_dirty_;
  std::deque<Index> queue_;
  std::size_t finished_ = 0;
  Trail trail_;
};

Reducer::Reducer(Model m) : m_(std::move(m)), variables_(m_.size()) {
  edge_alive_.assign(m_.edges.size(), 1);
  edge_dirty_.assign(m_.edges.size(), 1);
  for (Index e = 0; e < m_.edges.size(); ++e) {
    for (Index v : {m_.edges[e].u, m_.edges[e].v}) {
      variables_[v].edges.push_back(e);
      ++variables_[v].degree;
    }
  }
  for (Index v = 0; v < m_.size(); ++v) touch(v);
}

void Reducer::touch(Index v) {
  ++variables_[v].changes;
  if (std::exchange(variables_[v].queued, true)) return;
  queue_.push_back(v);
}

void Reducer::kill_edge(Index e) {
  edge_alive_[e] = 0;
  std::vector<Cost>().swap(m_.edges[e].table);
  for (Index v : {m_.edges[e].u, m_.edges[e].v}) {
    --variables_[v].degree;
    if (variables_[v].alive) touch(v);
  }
}

const std::vector<Index>& Reducer::live_edges(Index v) {
  std::vector<Index>& edges = variables_[v].edges;
  if (edges.size() != variables_[v].degree) std::erase_if(edges, [&](Index e) { return edge_alive_[e] == 0; });
  return edges;
}

Index Reducer::find_edge(Index u, Index v) {
  const Index from = variables_[u].edges.size() <= variables_[v].edges.size() ? u : v;
  const Index to = from == u ? v : u;
  for (Index e : variables_[from].edges) {
    if (edge_alive_[e] != 0 && other(e, from) == to) return e;
  }
  return kNone;
}

/// Adds table[label of u][label of v] between two variables.
void Reducer::add_table(Index u, Index v, std::vector<Cost> table) {
  const Index e = find_edge(u, v);
  if (e == kNone) {
    const auto made = static_cast<Index>(m_.edges.size());
    m_.edges.push_back({u, v, std::move(table)});
    edge_alive_.push_back(1);
    edge_dirty_.push_back(1);
    for (Index end : {u, v}) {
      variables_[end].edges.push_back(made);
      ++variables_[end].degree;
    }
  } else {
    Edge& edge = m_.edges[e];
    const std::size_t columns = labels(edge.v);
    for (std::size_t i = 0; i < edge.table.size(); ++i) {
      const std::size_t a = i / columns, b = i % columns;
      edge.table[i] = add(edge.table[i], edge.u == u ? table[i] : table[b * labels(v) + a]);
    }
    edge_dirty_[e] = 1;
  }
  touch(u);
  touch(v);
}

bool Reducer::run() {
  for (int sweep = 0;; ++sweep) {
    while (!queue_.empty()) {
      const Index v = queue_.front();
      queue_.pop_front();
      variables_[v].queued = false;
      if (variables_[v].alive && !visit(v)) return false;
    }
    if (sweep == kMaxSweeps) return true;
    for (Index v = 0; v < m_.size(); ++v) {
      if (variables_[v].alive && variables_[v].changes != 0 && drop_dominated(v)) touch(v);
    }
    if (queue_.empty()) return true;
  }
}

/// Removes the variable if it is easy, else labels of it. False if no labelling is left.
bool Reducer::visit(Index v) {
  if (!settle(v)) return false;
  if (!variables_[v].alive) return true;
  const Index degree = variables_[v].degree;
  if (degree == 0) {
    finish(v);
  } else if (labels(v) == 1) {
    fold_forced(v);
  } else if (degree == 1) {
    fold_leaf(v);
  } else if ((degree != 2 || !fold_bridge(v)) && variables_[v].changes * 4 >= degree && drop_dominated(v)) {
    touch(v);
  }
  return true;
}

/// Drops the labels of v that are ruled out and brings its tables in order, until neither changes anything.
bool Reducer::settle(Index v) {
  do {
    if (!drop_forbidden(v)) return false;
    for (std::size_t i = 0; i < variables_[v].edges.size() && variables_[v].alive; ++i) {
      const Index e = variables_[v].edges[i];
      if (edge_alive_[e] != 0 && std::exchange(edge_dirty_[e], 0) != 0) tidy(e);
    }
  } while (variables_[v].alive && std::find(unary(v).begin(), unary(v).end(), kForbidden) != unary(v).end());
  return true;
}

/// False if no label is left.
bool Reducer::drop_forbidden(Index v) {
  std::vector<Label> keep;
  const std::size_t before = labels(v);
  for (std::size_t a = 0; a < before; ++a) {
    if (unary(v)[a] != kForbidden) keep.push_back(static_cast<Label>(a));
  }
  if (keep.empty()) return false;
  if (keep.size() == before) return true;
  trail_.follow(v, v, keep);
  for (Index e : live_edges(v)) {
    Edge& edge = m_.edges[e];
    std::vector<Cost> kept;
    const Index w = other(e, v);
    const bool first = edge.u == v;
    kept.reserve(keep.size() * labels(w));
    const std::size_t rows = first ? keep.size() : labels(w), columns = first ? labels(w) : keep.size();
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t b = 0; b < columns; ++b) {
        kept.push_back(first ? edge.table[keep[a] * columns + b] : edge.table[a * before + keep[b]]);
      }
    }
    edge.table = std::move(kept);
    edge_dirty_[e] = 1;
    touch(w);
  }
  std::vector<Cost> costs;
  for (Label a : keep) costs.push_back(unary(v)[a]);
  unary(v) = std::move(costs);
  return true;
}

/// Moves what can be moved out of a table; removes it if nothing is left, and one of its variables if it ties them. If
/// a label turns out to have no support, that comes later: its variable drops it and marks the table.
void Reducer::tidy(Index e) {
  Edge& edge = m_.edges[e];
  const Moved moved = move_minima(unary(edge.u), unary(edge.v), edge.table);
  if (moved.u) touch(edge.u);
  if (moved.v) touch(edge.v);
  if (!moved.all_supported) return;
  const std::vector<Cost>& table = edge.table;
  if (std::all_of(table.begin(), table.end(), [](Cost c) { return c == 0; })) {
    kill_edge(e);
  } else {
    tie(e);
  }
}

/// Merges the two variables if each label of one is allowed with exactly one of the other.
void Reducer::tie(Index e) {
  const Edge& edge = m_.edges[e];
  const std::size_t n = labels(edge.u);
  if (n != labels(edge.v)) return;
  std::vector<Label> of_v(n), of_u(n, kNone);  // the label of u that goes with each of v, and the other way
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (edge.table[a * n + b] == kForbidden) continue;
      if (of_u[a] != kNone) return;
      of_u[a] = static_cast<Label>(b);
      of_v[b] = static_cast<Label>(a);
    }
  }
  // Every row has one entry; so has every column, because each column has at least one.
  if (variables_[edge.u].degree < variables_[edge.v].degree) {
    contract(edge.u, edge.v, e, of_v);
  } else {
    contract(edge.v, edge.u, e, of_u);
  }
}

/// Replaces one variable by another, whose label says which label it has.
void Reducer::contract(Index gone, Index kept, Index tied, const std::vector<Label>& label_of) {
  // The minima have moved to the variables, so the entries that are left in the table are 0.
  for (std::size_t b = 0; b < label_of.size(); ++b) unary(kept)[b] = add(unary(kept)[b], unary(gone)[label_of[b]]);
  trail_.follow(gone, kept, label_of);
  variables_[gone].alive = false;
  kill_edge(tied);
  for (Index e : std::vector<Index>(live_edges(gone))) move_edge(e, gone, kept, label_of);
  touch(kept);
}

void Reducer::move_edge(Index e, Index gone, Index kept, const std::vector<Label>& label_of) {
  const Index w = other(e, gone);
  std::vector<Cost> table;
  table.reserve(labels(kept) * labels(w));
  for (std::size_t b = 0; b < labels(kept); ++b) {
    for (std::size_t c = 0; c < labels(w); ++c) table.push_back(entry(e, gone, label_of[b], c));
  }
  kill_edge(e);
  add_table(kept, w, std::move(table));
}

/// A variable without neighbours takes its cheapest label.
void Reducer::finish(Index v) {
  const auto least = std::min_element(unary(v).begin(), unary(v).end());
  if (labels(v) > 1) ++finished_;
  m_.offset = add_signed(m_.offset, *least);
  trail_.fix(v, static_cast<Label>(least - unary(v).begin()));
  variables_[v].alive = false;
}

/// A variable with one label becomes costs of its neighbours.
void Reducer::fold_forced(Index v) {
  trail_.fix(v, 0);
  m_.offset = add_signed(m_.offset, unary(v)[0]);
  variables_[v].alive = false;
  for (Index e : std::vector<Index>(live_edges(v))) {
    const Index w = other(e, v);
    for (std::size_t b = 0; b < labels(w); ++b) unary(w)[b] = add(unary(w)[b], m_.edges[e].table[b]);
    kill_edge(e);
  }
}

/// A variable with one neighbour becomes a cost of that neighbour.
void Reducer::fold_leaf(Index v) {
  const Index e = live_edges(v).front(), w = other(e, v);
  std::vector<Label> choice(labels(w), 0);
  for (std::size_t b = 0; b < labels(w); ++b) {
    Cost least = kForbidden;
    for (std::size_t a = 0; a < labels(v); ++a) {
      const Cost cost = add(unary(v)[a], entry(e, v, a, b));
      if (cost < least) {
        least = cost;
        choice[b] = static_cast<Label>(a);
      }
    }
    unary(w)[b] = add(unary(w)[b], least);
  }
  trail_.follow(v, w, choice);
  variables_[v].alive = false;
  kill_edge(e);
}

/// A variable with two neighbours becomes a table between them. False if that would be large.
bool Reducer::fold_bridge(Index v) {
  const Index e = live_edges(v)[0], f = live_edges(v)[1];
  const Index p = other(e, v), q = other(f, v);
  const std::size_t rows = labels(p), columns = labels(q), n = labels(v);
  const std::size_t before = (rows + columns) * n;
  if (rows * columns > std::max(kMaxNewTable, before) || rows * columns * n > kMaxNewWork) return false;
  std::vector<Cost> table(rows * columns, kForbidden);
  std::vector<Label> choice(rows * columns, 0);
  std::vector<Cost> right(columns);  // the row of a label in the second table
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t c = 0; c < columns; ++c) right[c] = entry(f, v, a, c);
    for (std::size_t b = 0; b < rows; ++b) {
      const Cost left = add(unary(v)[a], entry(e, v, a, b));
      Cost* const out = table.data() + b * columns;
      Label* const label = choice.data() + b * columns;
      for (std::size_t c = 0; c < columns; ++c) {
        const Cost cost = add(left, right[c]);
        label[c] = cost < out[c] ? static_cast<Label>(a) : label[c];
        out[c] = std::min(out[c], cost);
      }
    }
  }
  trail_.follow(v, p, q, static_cast<Label>(columns), choice);
  variables_[v].alive = false;
  kill_edge(e);
  kill_edge(f);
  add_table(p, q, std::move(table));
  return true;
}

/// Rules out labels of v that another label beats whatever the neighbours have. True if there was one.
bool Reducer::drop_dominated(Index v) {
  variables_[v].changes = 0;
  const std::size_t n = labels(v);
  std::size_t row = 0;  // entries that one comparison looks at
  for (Index e : live_edges(v)) row += labels(other(e, v));
  std::vector<std::size_t> rivals;
  if (n <= kAllPairsOfLabels && n * n * row <= kDominanceWork) {
    for (std::size_t b = 0; b < n; ++b) rivals.push_back(b);
  } else if (n * row <= kDominanceWork) {
    const auto least = std::min_element(unary(v).begin(), unary(v).end());
    rivals.push_back(static_cast<std::size_t>(least - unary(v).begin()));
  }
  bool any = false;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b : rivals) {
      if (a == b || unary(v)[b] == kForbidden || !dominated(v, a, b)) continue;
      unary(v)[a] = kForbidden;
      any = true;
      break;
    }
  }
  return any;
}

bool Reducer::dominated(Index v, std::size_t a, std::size_t by) {
  if (unary(v)[a] == kForbidden) return false;
  // The least entry of a row is 0 once its table is in order, so that no table adds to the lead.
  Cost lead = unary(v)[a] - unary(v)[by];
  if (lead < 0) return false;
  for (Index e : live_edges(v)) {
    const std::size_t n = labels(other(e, v));
    Cost least = kForbidden;  // over the labels of the neighbour that a allows
    for (std::size_t b = 0; b < n; ++b) {
      const Cost mine = entry(e, v, a, b), its = entry(e, v, by, b);
      if (mine == kForbidden) continue;
      if (its == kForbidden) return false;
      least = std::min(least, mine - its);
    }
    lead = add_signed(lead, least);
    if (lead < 0) return false;
  }
  return true;
}

/// The variables left, each connected part a model of its own.
Reduced Reducer::take() {
  Reduced out;
  for (Index v = 0; v < m_.size(); ++v) {
    if (!variables_[v].alive) m_.unary[v].clear();
  }
  std::size_t kept = 0;
  for (Index e = 0; e < m_.edges.size(); ++e) {
    if (edge_alive_[e] != 0) std::swap(m_.edges[kept++], m_.edges[e]);
  }
  m_.edges.resize(kept);
  out.finished = finished_;
  out.offset = m_.offset;
  out.trail = std::move(trail_);
  out.components = split(std::move(m_));
  return out;
}

}  // namespace

std::optional<Reduced> reduce(Model m) {
  Reducer reducer(std::move(m));
  if (!reducer.run()) return std::nullopt;
  return reducer.take();
}

}  // namespace gantry::layout::solver
