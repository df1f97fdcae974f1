// A variable for each operator, whose labels are the choices that its rule allows, and a star (star.hpp) for each root:
// a copy in another order than the produced one costs the root's bytes and a node, once, however many read it.
#include "host/layout/orders.hpp"

#include <algorithm>

#include "host/layout/dice.hpp"
#include "host/layout/star.hpp"

namespace gantry::layout {
namespace {

// Ties are broken by units far below a byte: fewer blocks against the value's own logical orders is better for shapes.
constexpr Cost kByte = Cost{1} << 16;

struct Reader {
  std::size_t op, operand;
};

class Setup {
 public:
  Setup(const Model& m, const Candidates& c, const CostModel& cost, std::uint64_t seed, Beyond beyond)
      : m_(m), c_(c), cost_(cost), seed_(seed), beyond_(beyond), readers_(m.roots.size()), producer_(m.roots.size()) {}

  Status build() {
    for (std::size_t i = 0; i < m_.operators.size(); ++i) {
      const Operator& op = m_.operators[i];
      if (c_.choices[i].empty()) return error(Code::internal, "layout: no candidate order fits an operator");
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        const Operand& o = op.operands[k];
        if (o.result)
          producer_[o.root] = {i, k};
        else
          readers_[o.root].push_back({i, k});
      }
      problem_.add_variable(own_costs(i));
    }
    for (std::size_t r = 0; r < m_.roots.size(); ++r) add_root(r);
    return {};
  }

  const Problem& problem() const { return problem_; }
  bool exact() const { return exact_; }

 private:
  /// Ties only.
  Cost tie(std::size_t root, std::size_t order) const {
    return static_cast<Cost>(c_.blocks[root][order]) + dice(seed_, root, order);
  }

  std::vector<Cost> own_costs(std::size_t i) const {
    const Operator& op = m_.operators[i];
    std::vector<Cost> costs;
    for (const Choice& choice : c_.choices[i]) {
      Cost sum = 0;
      for (std::size_t k = 0; k < op.operands.size(); ++k)
        if (op.operands[k].result) sum += tie(op.operands[k].root, choice[k]);
      // Inputs and outputs that may move do so where it costs nothing: their moved order is alternative 0.
      if (op.kind != Operator::Kind::node && op.operands[0].alternatives.size() > 1)
        sum += c_.orders[op.operands[0].root][choice[0]] == m_.placed.at(op.operands[0].value).map ? 8 : 0;
      costs.push_back(sum);
    }
    return costs;
  }

  Cost copy_cost(std::size_t r, std::size_t from, std::size_t to) const {
    if (from == to) return 0;
    Cost cost = (m_.roots[r].bytes + cost_.node) * kByte + tie(r, to);
    const auto rank = [&] { return static_cast<int>(runs(c_.orders[r][from], c_.orders[r][to])); };
    if (static_cast<int>(m_.roots[r].atoms.size()) > cost_.max_rank && rank() > cost_.max_rank)
      cost = cost_.ranks_bind ? kForbidden : cost + kByte / 64;
    return cost;
  }

  void add_root(std::size_t r) {
    if (readers_[r].empty() || c_.orders[r].size() < 2) return;
    std::vector<Port> readers;
    for (const Reader& reader : readers_[r]) readers.push_back(port(reader));
    exact_ = add_star(
                 problem_, port(producer_[r]), readers,
                 [&](std::size_t a, std::size_t b) { return copy_cost(r, a, b); }, beyond_) &&
             exact_;
  }

  Port port(const Reader& r) const {
    Port p{r.op, {}};
    for (const Choice& choice : c_.choices[r.op]) p.form.push_back(choice[r.operand]);
    return p;
  }

  const Model& m_;
  const Candidates& c_;
  const CostModel& cost_;
  std::uint64_t seed_;
  Beyond beyond_;
  std::vector<std::vector<Reader>> readers_;
  std::vector<Reader> producer_;
  Problem problem_;
  bool exact_ = true;
};

}  // namespace

Orders orders_of(const Model& m, const Candidates& c, const CostModel& cost, std::vector<std::size_t> choice) {
  Orders out;
  out.choice = std::move(choice);
  out.produced.resize(m.roots.size());
  std::vector<std::vector<std::size_t>> wanted(m.roots.size());
  for (std::size_t i = 0; i < m.operators.size(); ++i)
    for (std::size_t k = 0; k < m.operators[i].operands.size(); ++k) {
      const Operand& o = m.operators[i].operands[k];
      const std::size_t order = c.choices[i][out.choice[i]][k];
      if (o.result)
        out.produced[o.root] = order;
      else if (auto& w = wanted[o.root]; std::find(w.begin(), w.end(), order) == w.end())
        w.push_back(order);
    }
  for (std::size_t r = 0; r < m.roots.size(); ++r)
    for (std::size_t order : wanted[r])
      if (order != out.produced[r]) {
        out.copies.push_back({r, order});
        out.cost += m.roots[r].bytes + cost.node;
      }
  return out;
}

namespace {

struct Solved {
  Orders orders;  // with the bound of the problem that was solved
  bool exact;     // the problem had every set of copies
};

Result<Solved> solve_with(Beyond beyond, const Model& m, const Candidates& c, const CostModel& cost,
                          const SolverOptions& options, std::uint64_t seed) {
  Setup setup(m, c, cost, seed, beyond);
  GANTRY_TRY(setup.build());
  Solution s = solve(setup.problem(), options);
  if (!s.feasible) return error(Code::internal, "layout: the orders of the operators contradict each other");
  s.label.resize(m.operators.size());
  Solved out{orders_of(m, c, cost, std::move(s.label)), setup.exact()};
  out.orders.lower_bound = std::min(out.orders.cost, s.lower_bound / kByte);
  out.orders.solver = std::move(s);
  return out;
}

}  // namespace

Result<Orders> solve_orders(const Model& m, const Candidates& c, const CostModel& cost, const SolverOptions& options,
                            std::uint64_t seed) {
  // Where not all sets of copies are listed, what comes of counting the others too cheap is the optimum if it costs no
  // more in truth. Else its bound stands, and counting them too dear may give better orders.
  GANTRY_ASSIGN(Solved solved, solve_with(Beyond::too_cheap, m, c, cost, options, seed));
  Orders out = std::move(solved.orders);
  if (!solved.exact && out.lower_bound < out.cost) {
    GANTRY_ASSIGN(Solved dear, solve_with(Beyond::too_dear, m, c, cost, options, seed));
    dear.orders.lower_bound = std::min(out.lower_bound, dear.orders.cost);
    if (dear.orders.cost < out.cost) out = std::move(dear.orders);
  }
  out.optimal = out.lower_bound == out.cost && c.dropped == 0;
  return out;
}

}  // namespace gantry::layout
