#include "host/layout/solver_order.hpp"

#include <iterator>
#include <set>
#include <utility>

namespace gantry::layout::solver {
namespace {

constexpr std::uint64_t kMostTotal = std::uint64_t{1} << 62;

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

  std::optional<Order> order(const OrderLimits& limits);

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

std::optional<Order> Graph::order(const OrderLimits& limits) {
  Order order;
  std::vector<std::uint64_t> key_of(m_.size());
  std::set<std::pair<std::uint64_t, Index>> queue;
  for (Index v = 0; v < m_.size(); ++v) queue.emplace(key_of[v] = key(v), v);
  while (!queue.empty()) {
    const Index v = queue.begin()->second;
    queue.erase(queue.begin());
    const std::uint64_t entries = table(v);
    order.total = std::min(order.total + entries * m_.labels(v), kMostTotal);
    if (entries > limits.table || order.total > limits.total || neighbours_[v].size() > limits.width) {
      return std::nullopt;
    }
    order.variable.push_back(v);
    remove(v);
    for (Index w : neighbours_[v]) {
      const std::uint64_t now = key(w);
      if (now == key_of[w]) continue;
      queue.erase({key_of[w], w});
      queue.emplace(key_of[w] = now, w);
    }
  }
  return order;
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

}  // namespace

std::optional<Order> find_order(const Model& m, Rule rule, const OrderLimits& limits) {
  return Graph(m, rule).order(limits);
}

}  // namespace gantry::layout::solver
