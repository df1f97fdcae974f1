#include "host/layout/solver_stages.hpp"

namespace gantry::layout::solver {

Answer search(const Model& m) {
  Answer answer;
  answer.label.assign(m.size(), 0);
  std::vector<std::vector<Index>> near(m.size());
  for (Index e = 0; e < m.edges.size(); ++e) {
    near[m.edges[e].u].push_back(e);
    near[m.edges[e].v].push_back(e);
  }
  for (bool better = true; better;) {
    better = false;
    for (Index v = 0; v < m.size(); ++v) {
      std::vector<Cost> sum = m.unary[v];
      for (Index e : near[v]) {
        const Edge& edge = m.edges[e];
        const std::size_t n = m.labels(edge.v);
        for (std::size_t a = 0; a < sum.size(); ++a) {
          sum[a] = add(sum[a], edge.u == v ? edge.table[a * n + answer.label[edge.v]]
                                           : edge.table[answer.label[edge.u] * n + a]);
        }
      }
      const auto least = std::min_element(sum.begin(), sum.end());
      if (*least >= sum[answer.label[v]]) continue;
      answer.label[v] = static_cast<Label>(least - sum.begin());
      better = true;
    }
  }
  answer.cost = evaluate(m, answer.label);
  answer.feasible = answer.cost < kForbidden;
  return answer;
}

}  // namespace gantry::layout::solver
