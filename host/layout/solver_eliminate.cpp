// Bucket elimination (Dechter 1999): remove one variable at a time; all tables that mention it are added up and
// minimised over its labels, which leaves one table over its neighbours. What a model costs is the size of these
// tables, and that depends on the order. The order is found on the graph alone, greedily, by several rules, and the
// cheapest is taken; a model that is too wide is refused before a table is made.
//
// The variables of every table stand in reverse order of elimination. The one to go next is then the last axis of each
// table that mentions it, and the inner loop adds up contiguous runs.
#include <limits>
#include <utility>

#include "host/layout/solver_order.hpp"
#include "host/layout/solver_stages.hpp"

namespace gantry::layout::solver {
namespace {

constexpr std::uint64_t kTablesInAll = 32;  // sum of the tables, in units of the largest allowed
constexpr std::uint64_t kCheap = 1 << 16;   // total at which no better order is looked for

std::optional<Order> best_order(const Model& m, std::uint64_t max_table) {
  std::optional<Order> best;
  OrderLimits limits{.table = max_table, .total = max_table * kTablesInAll};
  for (Rule rule : {Rule::kTable, Rule::kJoint, Rule::kFill}) {
    std::optional<Order> order = find_order(m, rule, limits);
    if (!order) continue;
    if (!best || order->total < best->total) best = std::move(order);
    if (best->total <= kCheap) break;
    limits.total = best->total;
  }
  return best;
}

/// A table over some variables, the last axis fastest.
struct Table {
  std::vector<Index> scope;
  std::vector<Cost> cost;
};

class Elimination {
 public:
  Elimination(const Model& m, const std::vector<Index>& order);
  Answer run();

 private:
  struct Choice {
    std::vector<Index> scope;
    std::vector<std::uint16_t> label;
  };
  std::vector<Index> scope_without(Index v) const;
  void remove(Index v);
  void put(Table table);

  const Model& m_;
  const std::vector<Index>& order_;
  std::vector<Index> position_;  // in the order
  std::vector<std::vector<Table>> bucket_;
  std::vector<Choice> choice_;
  Cost cost_ = 0;
};

Elimination::Elimination(const Model& m, const std::vector<Index>& order)
    : m_(m), order_(order), position_(m.size()), bucket_(m.size()), choice_(m.size()) {
  for (Index i = 0; i < order.size(); ++i) position_[order[i]] = i;
  for (Index v = 0; v < m.size(); ++v) put({{v}, m.unary[v]});
  for (const Edge& e : m.edges) {
    if (position_[e.v] < position_[e.u]) {
      put({{e.u, e.v}, e.table});
      continue;
    }
    const std::size_t rows = m.labels(e.u), columns = m.labels(e.v);
    Table turned{{e.v, e.u}, {}};
    turned.cost.reserve(e.table.size());
    for (std::size_t b = 0; b < columns; ++b) {
      for (std::size_t a = 0; a < rows; ++a) turned.cost.push_back(e.table[a * columns + b]);
    }
    put(std::move(turned));
  }
}

void Elimination::put(Table table) {
  if (table.scope.empty()) {
    cost_ = add(cost_, table.cost[0]);
  } else {
    bucket_[table.scope.back()].push_back(std::move(table));
  }
}

std::vector<Index> Elimination::scope_without(Index v) const {
  std::vector<Index> scope;
  for (const Table& t : bucket_[v]) scope.insert(scope.end(), t.scope.begin(), t.scope.end() - 1);
  std::sort(scope.begin(), scope.end(), [&](Index a, Index b) { return position_[a] > position_[b]; });
  scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
  return scope;
}

void Elimination::remove(Index v) {
  const std::vector<Table> inputs = std::move(bucket_[v]);
  bucket_[v].clear();
  const std::size_t n = m_.labels(v), axes = choice_[v].scope.size();
  const std::vector<Index>& scope = choice_[v].scope;
  Table out{scope, {}};
  std::size_t entries = 1;
  for (Index w : scope) entries *= m_.labels(w);
  out.cost.resize(entries);
  choice_[v].label.resize(entries);

  // For each input, how far one step along each axis of the result moves in it.
  std::vector<std::size_t> step(inputs.size() * axes, 0), at(inputs.size(), 0), digit(axes, 0);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    std::size_t stride = n;
    for (std::size_t i = inputs[k].scope.size() - 1; i-- > 0;) {
      const auto axis = std::find(scope.begin(), scope.end(), inputs[k].scope[i]) - scope.begin();
      step[k * axes + static_cast<std::size_t>(axis)] = stride;
      stride *= m_.labels(inputs[k].scope[i]);
    }
  }
  std::vector<Cost> sum(n);
  for (std::size_t i = 0; i < entries; ++i) {
    std::copy_n(inputs[0].cost.data() + at[0], n, sum.begin());
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const Cost* row = inputs[k].cost.data() + at[k];
      for (std::size_t a = 0; a < n; ++a) sum[a] = add(sum[a], row[a]);
    }
    const auto least = std::min_element(sum.begin(), sum.end());
    out.cost[i] = *least;
    choice_[v].label[i] = static_cast<std::uint16_t>(least - sum.begin());
    for (std::size_t d = axes; d-- > 0;) {  // the next entry
      if (++digit[d] < m_.labels(scope[d])) {
        for (std::size_t k = 0; k < inputs.size(); ++k) at[k] += step[k * axes + d];
        break;
      }
      digit[d] = 0;
      for (std::size_t k = 0; k < inputs.size(); ++k) at[k] -= (m_.labels(scope[d]) - 1) * step[k * axes + d];
    }
  }
  put(std::move(out));
}

Answer Elimination::run() {
  for (Index v : order_) {
    choice_[v].scope = scope_without(v);
    remove(v);
  }
  if (cost_ == kForbidden) return infeasible();
  std::vector<Label> label(m_.size(), 0);
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    std::size_t at = 0;
    for (Index w : choice_[*v].scope) at = at * m_.labels(w) + label[w];
    label[*v] = choice_[*v].label[at];
  }
  return {true, std::move(label), cost_, cost_};
}

}  // namespace

std::optional<Answer> eliminate(const Model& m, std::uint64_t max_table) {
  for (const std::vector<Cost>& costs : m.unary) {
    if (costs.size() > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
  }
  const std::optional<Order> order = best_order(m, max_table);
  if (!order) return std::nullopt;
  return Elimination(m, order->variable).run();
}

}  // namespace gantry::layout::solver
