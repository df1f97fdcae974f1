#include <limits>
#include <utility>

#include "host/layout/solver_reduce.hpp"

namespace gantry::layout::solver {

std::vector<Component> split(Model m) {
  constexpr Index kNone = std::numeric_limits<Index>::max();
  std::vector<std::vector<Index>> near(m.size());
  for (const Edge& e : m.edges) {
    near[e.u].push_back(e.v);
    near[e.v].push_back(e.u);
  }
  std::vector<Component> components;
  std::vector<Index> of(m.size(), kNone), where(m.size(), 0);  // each variable's component and place in it
  std::vector<Index> stack;
  for (Index root = 0; root < m.size(); ++root) {
    if (m.unary[root].empty() || of[root] != kNone) continue;
    Component& part = components.emplace_back();
    const auto index = static_cast<Index>(components.size() - 1);
    of[root] = index;
    stack.push_back(root);
    while (!stack.empty()) {
      const Index v = stack.back();
      stack.pop_back();
      part.variable.push_back(v);
      for (Index w : near[v]) {
        if (std::exchange(of[w], index) == kNone) stack.push_back(w);
      }
    }
    std::sort(part.variable.begin(), part.variable.end());
    for (Index i = 0; i < part.variable.size(); ++i) {
      where[part.variable[i]] = i;
      part.model.unary.push_back(std::move(m.unary[part.variable[i]]));
    }
  }
  for (Edge& e : m.edges) {
    components[of[e.u]].model.edges.push_back({where[e.u], where[e.v], std::move(e.table)});
  }
  return components;
}

}  // namespace gantry::layout::solver
