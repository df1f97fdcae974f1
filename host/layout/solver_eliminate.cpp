// Bucket elimination (Dechter 1999): remove one variable at a time; all tables that mention it are added up and
// minimised over its labels, which leaves one table over its neighbours. What a model costs is the size of these
// tables, and that depends on the order. The order is found on the graph alone, greedily, by several rules, and the
// cheapest is taken; a model that is too wide is refused before a table is made.
//
// The variables of every table stand in reverse order of elimination. The one to go next is then the last axis of each
// table that mentions it, and the inner loop adds up contiguous runs.
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "host/layout/solver_stages.hpp"

namespace gantry::layout::solver {
namespace {

constexpr std::uint64_t kTablesInAll = 32;  // sum of the tables, in units of the largest allowed
constexpr std::uint64_t kCheap = 1 << 16;   // total at which no better order is looked for

enum class Rule { kTable, kJoint, kFill };  // least: entries left behind, entries added up, edges added

struct Plan {
  std::vector<Index> order;
  std::uint64_t total = 0;  // entries of all tables together
};

/// The graph of a model while its variables are removed.
class Graph {
 public:
  Graph(const Model& m, Rule rule) : m_(m), rule_(rule), neighbours_(m.size()) {
    for (const Edge& e : m.edges) {
      neighbours_[e.u].push_back(e.v);
      neighbours_[e.v].push_back(e.u);
    }
    for (std::vector<Index>& n : neighbours_) std::sort(n.begin(), n.end());
  }

  /// Nothing if a table would have more than `max_table` entries, or all of them more than `max_total`.
  std::optional<Plan> plan(std::uint64_t max_table, std::uint64_t max_total);

 private:
  std::uint64_t table(Index v) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    std::uint64_t entries = 1;
    for (Index w : neighbours_[v]) entries = std::min(kMost, entries * std::min<std::uint64_t>(kMost, m_.labels(w)));
    return entries;
  }
  std::uint64_t key(Index v) const {
    if (rule_ == Rule::kTable) return table(v);
    if (rule_ == Rule::kJoint) return table(v) * m_.labels(v);
    std::uint64_t missing = 0;
    const std::vector<Index>& near = neighbours_[v];
    for (std::size_t i = 0; i < near.size(); ++i) {
      for (std::size_t j = i + 1; j < near.size(); ++j) {
        const std::vector<Index>& of = neighbours_[near[i]];
        if (!std::binary_search(of.begin(), of.end(), near[j])) ++missing;
      }
    }
    return missing;
  }
  void remove(Index v);

  const Model& m_;
  Rule rule_;
  std::vector<std::vector<Index>> neighbours_;
};

std::optional<Plan> Graph::plan(std::uint64_t max_table, std::uint64_t max_total) {
  Plan plan;
  std::vector<std::uint64_t> key_of(m_.size());
  std::set<std::pair<std::uint64_t, Index>> queue;
  for (Index v = 0; v < m_.size(); ++v) queue.emplace(key_of[v] = key(v), v);
  while (!queue.empty()) {
    const Index v = queue.begin()->second;
    queue.erase(queue.begin());
    const std::uint64_t entries = table(v);
    plan.total += entries * m_.labels(v);
    if (entries > max_table || plan.total > max_total) return std::nullopt;
    plan.order.push_back(v);
    remove(v);
    for (Index w : neighbours_[v]) {
      const std::uint64_t now = key(w);
      if (now == key_of[w]) continue;
      queue.erase({key_of[w], w});
      queue.emplace(key_of[w] = now, w);
    }
  }
  return plan;
}

/// Joins the neighbours of v to each other and takes v away. Its own list stays.
void Graph::remove(Index v) {
  std::vector<Index> joined;
  for (Index w : neighbours_[v]) {
    joined.clear();
    std::set_union(neighbours_[w].begin(), neighbours_[w].end(), neighbours_[v].begin(), neighbours_[v].end(),
                   std::back_inserter(joined));
    std::erase_if(joined, [&](Index x) { return x == v || x == w; });
    neighbours_[w] = joined;
  }
}

std::optional<Plan> best_plan(const Model& m, std::uint64_t max_table) {
  std::optional<Plan> best;
  std::uint64_t max_total = max_table * kTablesInAll;
  for (Rule rule : {Rule::kTable, Rule::kJoint, Rule::kFill}) {
    std::optional<Plan> plan = Graph(m, rule).plan(max_table, max_total);
    if (!plan) continue;
    if (!best || plan->total < best->total) best = std::move(plan);
    if (best->total <= kCheap) break;
    max_total = best->total;
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
      const std::size_t wrap = ++digit[d] == m_.labels(scope[d]) ? std::exchange(digit[d], 0) - 1 : 0;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        at[k] = wrap == 0 ? at[k] + step[k * axes + d] : at[k] - wrap * step[k * axes + d];
      }
      if (wrap == 0) break;
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
  const std::optional<Plan> plan = best_plan(m, max_table);
  if (!plan) return std::nullopt;
  return Elimination(m, plan->order).run();
}

}  // namespace gantry::layout::solver
