// A variable for each operator whose labels are its choices of orders in the pool, each with every writing: both
// problems at once. What a reader pays for a value depends on how it was made and how it is wanted: nothing, a reshape,
// or a transpose with a reshape on the side where it does not fit.
#include "host/layout/joint.hpp"

#include <algorithm>

#include "host/layout/shape_candidates.hpp"
#include "host/layout/star.hpp"

namespace gantry::layout {
namespace {

// A transpose weighs more than it costs, so that none is bought to save reshapes.
constexpr Cost kTransposeWeight = 8;

constexpr std::size_t kMostWritings = 1024;      // of one operator
constexpr std::size_t kMostEntries = 2'000'000;  // of all tables

/// How a value is stored: order and shape.
struct Stored {
  CopyKey copy;
  const Shape* shape = nullptr;
};

class Joint {
 public:
  Joint(const Model& m, ShapeCandidates& candidates, const CostModel& cost)
      : m_(m), candidates_(candidates), cost_(cost), made_(m.roots.size()), wanted_(m.roots.size()) {
    for (const Mover& t : candidates_.movers()) {
      auto& known = pairs_[{t.from, t.to}];
      for (const Mover::Pair& p : t.pairs) known.emplace(p.from, p.to);
    }
  }

  /// False if the problem became too large.
  bool set_up() {
    auto& contexts = candidates_.contexts();
    for (std::size_t i = 0; i < contexts.size();) {
      std::size_t end = i;
      std::vector<Cost> ties;
      labels_.emplace_back();
      for (; end < contexts.size() && contexts[end].op == contexts[i].op; ++end)
        for (const Writing& w : contexts[end].writings) {
          ties.push_back(w.stripped);
          labels_.back().emplace_back(end, &w);
        }
      if (ties.size() > kMostWritings) return false;
      const std::size_t v = problem_.add_variable(std::move(ties));
      for (std::size_t k = 0; k < contexts[i].writer.operands(); ++k) {
        StoredPort p{v, {}};
        for (const auto& [context, w] : labels_.back())
          p.stored.push_back({contexts[context].writer.copy(k), &w->shapes[k]});
        const Operand& o = contexts[i].writer.op().operands[k];
        if (o.result)
          made_[o.root] = std::move(p);
        else
          wanted_[o.root].push_back(std::move(p));
      }
      i = end;
    }
    for (std::size_t r = 0; r < m_.roots.size() && problem_.entries() <= kMostEntries; ++r) add_root(r);
    return problem_.entries() <= kMostEntries;
  }

  const Problem& problem() const { return problem_; }
  std::vector<std::size_t> choices(const Solution& s) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      out.push_back(candidates_.contexts()[labels_[i][s.label[i]].first].choice);
    return out;
  }

 private:
  struct StoredPort {
    std::size_t variable = 0;
    std::vector<Stored> stored;  // for each label
  };

  Cost price(std::size_t r, const Stored& made, const Stored& wanted) {
    const Cost reshape = static_cast<Cost>(cost_.reshape * static_cast<double>(m_.roots[r].bytes)) + cost_.node;
    if (made.copy == wanted.copy) return *made.shape == *wanted.shape ? 0 : reshape * kUnit;
    const auto it = pairs_.find({made.copy, wanted.copy});
    if (it == pairs_.end()) return kForbidden;
    const Cost transpose = (m_.roots[r].bytes + cost_.node) * kTransposeWeight;
    bool from = false, to = false;
    for (const auto& [a, b] : it->second) {
      if (a == *made.shape && b == *wanted.shape) return transpose * kUnit;
      from = from || a == *made.shape;
      to = to || b == *wanted.shape;
    }
    return (transpose + (from || to ? 1 : 2) * reshape) * kUnit;
  }

  void add_root(std::size_t r) {
    std::vector<Stored> all;
    std::map<std::pair<CopyKey, Shape>, std::size_t> forms;
    const auto port = [&](const StoredPort& p) {
      Port out{p.variable, {}};
      for (const Stored& s : p.stored) {
        const auto [it, fresh] = forms.emplace(std::make_pair(s.copy, *s.shape), forms.size());
        if (fresh) all.push_back(s);
        out.form.push_back(it->second);
      }
      return out;
    };
    std::vector<Port> readers;
    for (const StoredPort& p : wanted_[r]) readers.push_back(port(p));
    const Port maker = port(made_[r]);
    add_star(problem_, maker, readers, [&](std::size_t a, std::size_t b) { return price(r, all[a], all[b]); });
  }

  static constexpr Cost kUnit = 64;  // ties are below

  const Model& m_;
  ShapeCandidates& candidates_;
  const CostModel& cost_;
  Problem problem_;
  std::vector<std::vector<std::pair<std::size_t, const Writing*>>> labels_;  // of each operator: context and writing
  std::vector<StoredPort> made_;
  std::vector<std::vector<StoredPort>> wanted_;
  std::map<std::pair<CopyKey, CopyKey>, std::set<std::pair<Shape, Shape>>> pairs_;
};

}  // namespace

std::optional<Orders> mix_orders(const Graph& g, const Model& m, const Candidates& c, const std::vector<Orders>& pool,
                                 const ShapeOptions& options, const SolverOptions& solver) {
  std::vector<std::vector<std::size_t>> choices(m.operators.size());
  std::map<std::size_t, std::set<std::size_t>> produced, demanded;
  for (std::size_t i = 0; i < m.operators.size(); ++i) {
    std::set<std::size_t> all;
    for (const Orders& o : pool) all.insert(o.choice[i]);
    choices[i].assign(all.begin(), all.end());
    for (std::size_t choice : all)
      for (std::size_t k = 0; k < m.operators[i].operands.size(); ++k) {
        const Operand& o = m.operators[i].operands[k];
        (o.result ? produced : demanded)[o.root].insert(c.choices[i][choice][k]);
      }
  }
  std::vector<Mover> movers;
  for (const auto& [root, orders] : produced)
    for (std::size_t a : orders)
      for (std::size_t b : demanded[root])
        if (a != b && static_cast<int>(runs(c.orders[root][a], c.orders[root][b])) <= options.cost.max_rank)
          movers.push_back({{root, a}, {root, b}, {}, {}});
  ShapeCandidates candidates(g, m, c, choices, std::move(movers), options);
  candidates.find();
  Joint joint(m, candidates, options.cost);
  if (!joint.set_up()) return std::nullopt;
  const Solution s = solve(joint.problem(), solver);
  if (!s.feasible) return std::nullopt;
  return orders_of(m, c, options.cost, joint.choices(s));
}

}  // namespace gantry::layout
