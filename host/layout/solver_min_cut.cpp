// A model in which every variable has two labels and every table costs less where the two variables agree than where
// they differ is a minimum cut: label 0 is the side of the source, a cost of a label is an arc to the other terminal, a
// cost of a pair an arc between the variables (Kolmogorov and Zabih 2004). "Agree" may be read the other way round for
// some variables: whether such a reading exists is a 2-colouring.
//
// The flow is itself the proof: it never exceeds the cost of a labelling, so the two are compared and not assumed
// equal. Max-flow: Boykov and Kolmogorov 2004, from Boost.Graph.
#include <limits>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include "host/layout/solver_stages.hpp"

namespace gantry::layout::solver {
namespace {

constexpr Cost kMostCapacity = INT64_C(1) << 58;  // of all arcs together

/// For a consistent table of two labels each: 0 if it is 0 where the labels are equal, 1 where they differ. One of the
/// two holds, because each row and each column has a 0.
int parity(const std::vector<Cost>& table) { return table[0] == 0 && table[3] == 0 ? 0 : 1; }

bool empty(const std::vector<Cost>& table) {
  return std::all_of(table.begin(), table.end(), [](Cost c) { return c == 0; });
}

/// Which variables have their labels swapped, so that every table is 0 where the sides agree. Nothing if there is no
/// such choice.
std::optional<std::vector<char>> orientation(const Model& m) {
  std::vector<std::vector<std::pair<Index, int>>> near(m.size());
  for (const Edge& e : m.edges) {
    if (empty(e.table)) continue;
    near[e.u].emplace_back(e.v, parity(e.table));
    near[e.v].emplace_back(e.u, parity(e.table));
  }
  std::vector<char> swapped(m.size(), -1);
  std::vector<Index> stack;
  for (Index root = 0; root < m.size(); ++root) {
    if (swapped[root] >= 0) continue;
    swapped[root] = 0;
    stack.push_back(root);
    while (!stack.empty()) {
      const Index v = stack.back();
      stack.pop_back();
      for (const auto& [w, differ] : near[v]) {
        const auto wanted = static_cast<char>(swapped[v] ^ differ);
        if (swapped[w] < 0) {
          swapped[w] = wanted;
          stack.push_back(w);
        } else if (swapped[w] != wanted) {
          return std::nullopt;
        }
      }
    }
  }
  return swapped;
}

class Network {
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  struct Arc {
    Cost capacity = 0, residual = 0;
    Traits::edge_descriptor reverse;
  };
  struct Node {
    boost::default_color_type side = boost::gray_color;
    Traits::edge_descriptor parent;
    std::size_t distance = 0;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Node, Arc>;

 public:
  explicit Network(std::size_t nodes) : graph_(nodes + 2), source_(nodes), sink_(nodes + 1) {}

  std::size_t source() const { return source_; }
  std::size_t sink() const { return sink_; }

  void connect(std::size_t from, std::size_t to, Cost capacity, Cost back) {
    const auto there = boost::add_edge(from, to, graph_).first, again = boost::add_edge(to, from, graph_).first;
    graph_[there] = {capacity, 0, again};
    graph_[again] = {back, 0, there};
  }

  Cost run() {
    return boost::boykov_kolmogorov_max_flow(graph_, get(&Arc::capacity, graph_), get(&Arc::residual, graph_),
                                             get(&Arc::reverse, graph_), get(&Node::parent, graph_),
                                             get(&Node::side, graph_), get(&Node::distance, graph_),
                                             get(boost::vertex_index, graph_), source_, sink_);
  }

  bool on_side_of_source(std::size_t v) const { return graph_[v].side == boost::black_color; }

 private:
  Graph graph_;
  std::size_t source_, sink_;
};

/// Finite costs together; kForbidden if there are too many to be safe.
Cost finite_sum(const Model& m) {
  Cost sum = 0;
  const auto count = [&sum](const std::vector<Cost>& costs) {
    for (Cost c : costs) sum = add(sum, c == kForbidden ? 0 : c);
  };
  for (const std::vector<Cost>& costs : m.unary) count(costs);
  for (const Edge& e : m.edges) count(e.table);
  return sum;
}

}  // namespace

std::optional<Answer> min_cut(const Model& original) {
  for (const std::vector<Cost>& costs : original.unary) {
    if (costs.size() != 2) return std::nullopt;
  }
  Model m = original;
  if (!make_consistent(m)) return infeasible();
  const std::optional<std::vector<char>> swapped = orientation(m);
  const Cost sum = finite_sum(m);
  if (!swapped || sum > kMostCapacity) return std::nullopt;

  Network network(m.size());
  Answer answer;
  answer.lower_bound = 0;
  for (std::size_t v = 0; v < m.size(); ++v) {
    const Cost zero = m.unary[v][(*swapped)[v] != 0 ? 1 : 0], one = m.unary[v][(*swapped)[v] != 0 ? 0 : 1];
    const Cost least = std::min(zero, one);
    answer.lower_bound = add(answer.lower_bound, least);
    // A forbidden label has no table, so that any price that is not 0 keeps the variable away from it.
    if (zero != least) network.connect(v, network.sink(), zero == kForbidden ? 1 : zero - least, 0);
    if (one != least) network.connect(network.source(), v, one == kForbidden ? 1 : one - least, 0);
  }
  for (const Edge& e : m.edges) {
    if (empty(e.table)) continue;
    const auto entry = [&](int a, int b) {
      const Cost c = e.table[static_cast<std::size_t>((a ^ (*swapped)[e.u]) * 2 + (b ^ (*swapped)[e.v]))];
      return c == kForbidden ? sum + 1 : c;
    };
    network.connect(e.u, e.v, entry(0, 1), entry(1, 0));
  }
  answer.lower_bound = add(answer.lower_bound, network.run());
  for (std::size_t v = 0; v < m.size(); ++v) {
    answer.label.push_back(static_cast<Label>((network.on_side_of_source(v) ? 0 : 1) ^ (*swapped)[v]));
  }
  answer.cost = evaluate(original, answer.label);
  answer.feasible = answer.cost < kForbidden;
  return answer;
}

}  // namespace gantry::layout::solver
