// Local search for what no exact method can take. One move fixes the labels of enough variables that the others form a
// forest, and gives all of these their best labels at once, by dynamic programming (Hamze and de Freitas 2004 sample by
// the same trees). Each move is far wider than changing one variable, and equality-like tables, which lock single
// changes, do not stop it. The forests are drawn by a fixed sequence of numbers. After some moves without gain the
// labelling is disturbed, and given back if that led nowhere better.
//
// A forbidden entry is given a price higher than all others together, so that a labelling can get rid of them one by
// one.
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "host/layout/solver_stages.hpp"

namespace gantry::layout::solver {
namespace {

constexpr Index kNone = std::numeric_limits<Index>::max();
constexpr int kMovesWithoutGain = 6;
constexpr int kDisturbancesWithoutGain = 24;
constexpr std::size_t kDisturbed = 50;  // one in so many variables

/// The model with a price instead of kForbidden.
Model priced(Model m) {
  Cost sum = 1, factors = 1;
  const auto count = [&](const std::vector<Cost>& costs) {
    ++factors;
    Cost most = 0;
    for (Cost c : costs) most = std::max(most, c == kForbidden ? 0 : c);
    sum = add(sum, most);
  };
  for (const std::vector<Cost>& costs : m.unary) count(costs);
  for (const Edge& e : m.edges) count(e.table);
  const Cost price = std::min(sum, kForbidden / factors);
  const auto cap = [&](std::vector<Cost>& costs) {
    for (Cost& c : costs) c = std::min(c, price);
  };
  for (std::vector<Cost>& costs : m.unary) cap(costs);
  for (Edge& e : m.edges) cap(e.table);
  return m;
}

class Search {
 public:
  Search(const Model& m, std::vector<Label> start);
  std::vector<Label> run(std::uint64_t most_work);

 private:
  std::uint64_t next();
  std::vector<Index> shuffled();
  void grow_forest();
  Index root(Index v);
  void move();
  void disturb();
  Index other(Index e, Index v) const { return m_.edges[e].u == v ? m_.edges[e].v : m_.edges[e].u; }
  Cost entry(Index e, Index v, Label a, Label b) const {
    const Edge& edge = m_.edges[e];
    return edge.u == v ? edge.table[a * m_.labels(edge.v) + b] : edge.table[b * m_.labels(edge.v) + a];
  }

  const Model m_;
  std::vector<std::vector<Index>> near_;
  std::vector<Label> label_;
  std::uint64_t state_ = 1, work_ = 0;
  // The forest: its variables from the roots to the leaves, and the edge each hangs on (kNone for a root).
  std::vector<Index> order_, up_, group_;
  std::vector<char> free_;
};

Search::Search(const Model& m, std::vector<Label> start) : m_(priced(m)), near_(m.size()), label_(std::move(start)) {
  for (Index e = 0; e < m.edges.size(); ++e) {
    near_[m.edges[e].u].push_back(e);
    near_[m.edges[e].v].push_back(e);
  }
  if (!label_.empty()) return;
  for (const std::vector<Cost>& costs : m.unary) {
    label_.push_back(static_cast<Label>(std::min_element(costs.begin(), costs.end()) - costs.begin()));
  }
}

/// SplitMix64 (Steele et al. 2014).
std::uint64_t Search::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<Index> Search::shuffled() {
  std::vector<Index> order(m_.size());
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next() % i]);
  return order;
}

Index Search::root(Index v) {
  while (group_[v] != v) v = group_[v] = group_[group_[v]];
  return v;
}

/// Frees variables, in random order, as long as they close no circle.
void Search::grow_forest() {
  free_.assign(m_.size(), 0);
  group_.resize(m_.size());
  std::iota(group_.begin(), group_.end(), Index{0});
  const std::vector<Index> candidates = shuffled();
  std::vector<Index> roots;
  for (Index v : candidates) {
    roots.clear();
    for (Index e : near_[v]) {
      if (free_[other(e, v)] != 0) roots.push_back(root(other(e, v)));
    }
    std::sort(roots.begin(), roots.end());
    if (std::adjacent_find(roots.begin(), roots.end()) != roots.end()) continue;
    free_[v] = 1;
    for (Index r : roots) group_[r] = v;
  }
  order_.clear();
  up_.assign(m_.size(), kNone);
  std::vector<char> seen(m_.size(), 0);
  for (Index start : candidates) {
    if (free_[start] == 0 || std::exchange(seen[start], 1) != 0) continue;
    order_.push_back(start);
    for (std::size_t i = order_.size() - 1; i < order_.size(); ++i) {
      for (Index e : near_[order_[i]]) {
        const Index w = other(e, order_[i]);
        if (free_[w] == 0 || std::exchange(seen[w], 1) != 0) continue;
        up_[w] = e;
        order_.push_back(w);
      }
    }
  }
}

/// Gives the variables of a new forest their best labels, for those of the rest.
void Search::move() {
  grow_forest();
  std::vector<std::vector<Cost>> sum(m_.size());
  for (Index v : order_) {
    sum[v] = m_.unary[v];
    for (Index e : near_[v]) {
      const Index w = other(e, v);
      if (free_[w] != 0) continue;
      for (Label a = 0; a < sum[v].size(); ++a) sum[v][a] += entry(e, v, a, label_[w]);
      work_ += sum[v].size();
    }
  }
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    if (up_[*v] == kNone) continue;
    const Index w = other(up_[*v], *v);
    for (Label b = 0; b < sum[w].size(); ++b) {
      Cost least = std::numeric_limits<Cost>::max();
      for (Label a = 0; a < sum[*v].size(); ++a) least = std::min(least, sum[*v][a] + entry(up_[*v], *v, a, b));
      sum[w][b] += least;
    }
    work_ += sum[w].size() * sum[*v].size();
  }
  for (Index v : order_) {
    if (up_[v] != kNone) {
      const Index w = other(up_[v], v);
      for (Label a = 0; a < sum[v].size(); ++a) sum[v][a] += entry(up_[v], v, a, label_[w]);
    }
    const auto least = std::min_element(sum[v].begin(), sum[v].end());
    if (*least < sum[v][label_[v]]) label_[v] = static_cast<Label>(least - sum[v].begin());
  }
  work_ += m_.size();
}

/// Gives some neighbouring variables labels by chance.
void Search::disturb() {
  const std::size_t wanted = 2 + m_.size() / kDisturbed;
  std::vector<Index> some{static_cast<Index>(next() % m_.size())};
  std::vector<char> seen(m_.size(), 0);
  seen[some[0]] = 1;
  for (std::size_t i = 0; i < some.size() && some.size() < wanted; ++i) {
    for (Index e : near_[some[i]]) {
      const Index w = other(e, some[i]);
      if (std::exchange(seen[w], 1) == 0) some.push_back(w);
    }
  }
  for (Index v : some) label_[v] = static_cast<Label>(next() % m_.labels(v));
}

std::vector<Label> Search::run(std::uint64_t most_work) {
  if (m_.size() == 0) return label_;
  std::vector<Label> best = label_;
  Cost best_cost = evaluate(m_, best), current = best_cost;
  for (int idle = 0, disturbances = 0; work_ < most_work && disturbances < kDisturbancesWithoutGain;) {
    move();
    const Cost cost = evaluate(m_, label_);
    idle = cost < current ? 0 : idle + 1;
    current = cost;
    if (cost < best_cost) {
      best_cost = cost;
      best = label_;
      disturbances = 0;
    }
    if (idle < kMovesWithoutGain) continue;
    idle = 0;
    ++disturbances;
    label_ = best;
    disturb();
    current = evaluate(m_, label_);
  }
  return best;
}

}  // namespace

std::vector<Label> search(const Model& m, std::vector<Label> start, std::uint64_t most_work) {
  return Search(m, std::move(start)).run(most_work);
}

}  // namespace gantry::layout::solver
