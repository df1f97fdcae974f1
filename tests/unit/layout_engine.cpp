// The layout engine on random small graphs: the numbers stay, and no choice of orders is cheaper than the engine's.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"
#include "host/layout/engine.hpp"
#include "host/layout/fold_orders.hpp"
#include "host/layout/shapes.hpp"
#include "host/passes/pass.hpp"
#include "host/plugins/registry.hpp"
#include "tests/unit/layout_graphs.hpp"

namespace gantry::layout {
namespace {

using gantry::testing::Array;
using gantry::testing::evaluate;
using gantry::testing::LayoutGraphs;

/// Rules of the operators of core_ops, as the plugin registers them.
class Rules {
 public:
  Rules() {
    PluginSearch search;
    search.extra = {GANTRY_TEST_PLUGIN_DIR};
    search.defaults = false;
    auto registry = PluginRegistry::discover(search, {}, report_);
    if (!registry.ok()) return;
    registry_ = *std::move(registry);
    plugins_ = registry_->extensions(nullptr, report_);
    Graph g;
    const ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {1}));
    g.add_node(g.end(g.main()), {"tflite", "", "RELU", 1}, std::vector{x}, 1);
    (void)plugins_->open_for(g, "tflite");
  }
  std::string_view text(const Op& op) const { return plugins_ ? plugins_->layout_rule(op) : std::string_view{}; }
  const Rule* find(const Op& op) {
    const std::string t(text(op));
    if (t.empty()) return nullptr;
    const auto it = rules_.find(t);
    if (it != rules_.end()) return &it->second;
    auto rule = parse_rule(t);
    return rule.ok() ? &rules_.emplace(t, *std::move(rule)).first->second : nullptr;
  }
  const PluginRegistry& registry() const { return *registry_; }
  /// Cancels neighbouring transposes and reshapes.
  Status cancel(Graph& g) {
    const PassOptions options;
    PassContext context{.graph = g, .report = report_, .plugins = *plugins_, .target = "tflite", .options = options};
    return run_pass(*find_pass("cancel_transposes"), context);
  }

 private:
  Report report_;
  std::unique_ptr<PluginRegistry> registry_;
  std::unique_ptr<Extensions> plugins_;
  std::map<std::string, Rule> rules_;
};

Rules& rules() {
  static Rules r;
  return r;
}

EngineOptions options() {
  EngineOptions o;
  o.model.rule = [](const Op& op) { return rules().find(op); };
  o.cost.node = 16;
  return o;
}

// ---- a slow, obvious checker
// ------------------------------------------------------------------------------------------

/// Every permutation of every root's atoms, every consistent choice of every operator: is there anything below `bound`?
class Oracle {
 public:
  Oracle(const Model& m, const CostModel& cost, std::int64_t bound)
      : m_(m), cost_(cost), bound_(bound), made_(m.roots.size()), paid_(m.roots.size()) {
    for (const Operator& op : m.operators) choices_.push_back(choices(op));
  }
  bool finds_better() { return search(0, 0); }

 private:
  using Choice = std::vector<Seq>;  // an order for each operand

  static bool consistent(const Seq& a, const Seq& b) {
    Seq x, y;
    for (auto l : a)
      if (b.find(l) != Seq::npos) x.push_back(l);
    for (auto l : b)
      if (a.find(l) != Seq::npos) y.push_back(l);
    return x == y;
  }

  std::vector<Choice> choices(const Operator& op) const {
    std::vector<Choice> out;
    Choice now(op.operands.size());
    std::vector<std::vector<Seq>> parts;
    extend(op, 0, now, parts, out);
    return out;
  }

  void extend(const Operator& op, std::size_t k, Choice& now, std::vector<std::vector<Seq>>& parts,
              std::vector<Choice>& out) const {
    if (k == op.operands.size()) {
      out.push_back(now);
      return;
    }
    Seq order;
    for (std::size_t a = 0; a < m_.roots[op.operands[k].root].atoms.size(); ++a)
      order.push_back(static_cast<Seq::value_type>(a));
    do {
      const auto parsed = parse_order(op, op.operands[k], order);
      if (!parsed) continue;
      bool fits = true;
      for (const auto& other : parts)
        for (std::size_t s = 0; s < other.size() && fits; ++s) fits = consistent(other[s], parsed->parts[s]);
      if (!fits) continue;
      now[k] = order;
      parts.push_back(parsed->parts);
      extend(op, k + 1, now, parts, out);
      parts.pop_back();
    } while (std::next_permutation(order.begin(), order.end()));
  }

  bool search(std::size_t i, std::int64_t cost) {
    if (cost >= bound_) return false;
    if (i == m_.operators.size()) return true;
    const Operator& op = m_.operators[i];
    for (const Choice& choice : choices_[i]) {
      std::int64_t more = 0;
      std::vector<std::pair<std::size_t, Seq>> bought;
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        const std::size_t r = op.operands[k].root;
        if (op.operands[k].result || choice[k] == made_[r] || paid_[r].contains(choice[k])) continue;
        more += m_.roots[r].bytes + cost_.node;
        paid_[r].insert(choice[k]);
        bought.emplace_back(r, choice[k]);
      }
      for (std::size_t k = 0; k < op.operands.size(); ++k)
        if (op.operands[k].result) made_[op.operands[k].root] = choice[k];
      if (search(i + 1, cost + more)) return true;
      for (const auto& [r, order] : bought) paid_[r].erase(order);
    }
    return false;
  }

  const Model& m_;
  const CostModel& cost_;
  std::int64_t bound_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<Seq> made_;
  std::vector<std::set<Seq>> paid_;
};

std::int64_t least_cost(const Model& m, const Candidates& c, const CostModel& cost) {
  const auto orders = solve_orders(m, c, cost, {});
  return orders.ok() ? orders->cost : -1;
}

void expect_folding_keeps_the_optimum(const Model& m, const Candidates& all, int max_rank, const std::string& graph) {
  CostModel cost = options().cost;
  cost.max_rank = max_rank;
  for (const std::uint64_t seed : {0, 1}) {
    const auto folded = [&](RankLimit limit) { return fold_candidates(m, all, max_rank, limit, seed, 0).left; };
    cost.ranks_bind = true;
    EXPECT_EQ(least_cost(m, folded(RankLimit::kept), cost), least_cost(m, all, cost)) << "rank " << max_rank << '\n'
                                                                                      << graph;
    cost.ranks_bind = false;
    EXPECT_EQ(least_cost(m, folded(RankLimit::hoped_for), cost), least_cost(m, all, cost)) << graph;
  }
}

TEST(LayoutEngine, NoOrdersAreCheaper) {
  std::size_t checked = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    LayoutGraphs maker(seed);
    Graph g = maker.make(2 + seed % 5);
    g.erase_dead();
    const EngineOptions o = options();
    const Model m = build_model(g, g.main(), o.model);
    if (std::any_of(m.roots.begin(), m.roots.end(), [](const Root& r) { return r.atoms.size() > 4; })) continue;
    const Candidates c = find_candidates(m);
    const auto orders = solve_orders(m, c, o.cost, o.solver);
    ASSERT_TRUE(orders.ok()) << orders.error().message << print(g);
    EXPECT_LE(orders->lower_bound, orders->cost);
    ASSERT_FALSE(Oracle(m, o.cost, orders->cost).finds_better()) << "seed " << seed << ", cost " << orders->cost << '\n'
                                                                 << print(g);
    EXPECT_TRUE(Oracle(m, o.cost, orders->cost + 1).finds_better()) << "the engine's cost is not what its orders cost";
    for (const int max_rank : {2, 3, o.cost.max_rank}) expect_folding_keeps_the_optimum(m, c, max_rank, print(g));
    ++checked;
  }
  EXPECT_GT(checked, 1000u);
}

TEST(LayoutEngine, TheNumbersStay) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    LayoutGraphs maker(seed);
    Graph g = maker.make(3 + seed % 9);
    g.erase_dead();
    const auto inputs = maker.inputs(g);
    const std::string before = print(g);
    const std::vector<Array> want = evaluate(g, inputs);
    const auto stats = run(g, options());
    ASSERT_TRUE(stats.ok()) << stats.error().message << before;
    g.erase_dead();
    const Status sound = verify(g);
    ASSERT_TRUE(sound.ok()) << sound.error().message << before;
    EXPECT_LE(stats->cost_after, stats->cost_before) << before;
    std::vector<Array> got;
    ASSERT_NO_THROW(got = evaluate(g, inputs)) << "seed " << seed << '\n' << before << print(g);
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i].dims, want[i].dims);
      for (std::size_t k = 0; k < want[i].elements.size(); ++k) {
        const float w = want[i].elements[k];
        ASSERT_NEAR(got[i].elements[k], w, 1e-4F * std::max(1.0F, std::fabs(w))) << "seed " << seed << '\n'
                                                                                 << before << print(g);
      }
    }
  }
}

/// Nor is what a pass that cancels neighbours leaves.
TEST(LayoutEngine, NeverWorseThanCancellingNeighbours) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    LayoutGraphs maker(seed);
    Graph g = maker.make(3 + seed % 9);
    g.erase_dead();
    const std::string before = print(g);
    ASSERT_TRUE(rules().cancel(g).ok()) << before;
    g.erase_dead();
    const auto stats = run(g, options());
    ASSERT_TRUE(stats.ok()) << stats.error().message << before;
    EXPECT_LE(stats->cost_after, stats->cost_before) << before;
  }
}

/// An operator that may do more can only help.
TEST(LayoutEngine, AnAlternativeNeverRaisesTheOptimum) {
  const Rule fixed = *parse_rule("fixed");
  for (const std::string_view op :
       {"SOFTMAX", "BATCH_MATMUL", "FULLY_CONNECTED", "CONCATENATION", "ADD", "SLICE", "SUM"})
    for (unsigned seed = 0; seed < 60; ++seed) {
      LayoutGraphs maker(seed);
      Graph g = maker.make(8);
      g.erase_dead();
      EngineOptions o = options();
      const auto cost = [&] {
        const Model m = build_model(g, g.main(), o.model);
        return solve_orders(m, find_candidates(m), o.cost, o.solver)->cost;
      };
      const std::int64_t with = cost();
      o.model.rule = [&](const Op& x) { return x.name == op ? &fixed : rules().find(x); };
      EXPECT_LE(with, cost()) << op << ", seed " << seed;
    }
}

TEST(LayoutEngine, EveryTfliteOperatorHasARule) {
  std::size_t seen = 0;
  for (const Manifest& m : rules().registry().manifests())
    for (const ManifestRow& row : m.rows) {
      if (row.kind != ManifestRow::Kind::op_definition || row.dialect != "tflite") continue;
      const std::string_view text = rules().text({"tflite", row.domain, row.op, 1});
      EXPECT_FALSE(text.empty()) << row.op << " has no layout rule and does not say why it is fixed";
      const auto rule = parse_rule(text);
      EXPECT_TRUE(rule.ok()) << row.op << ": " << rule.error().message;
      ++seen;
    }
  EXPECT_GT(seen, 80u);
}

TEST(LayoutRules, ErrorsPointIntoThePattern) {
  const auto message = [](std::string_view text) {
    const auto r = parse_rule(text);
    return r.ok() ? std::string("parsed") : r.error().message;
  };
  EXPECT_NE(message("* * -> *").find("column 3"), std::string::npos) << message("* * -> *");
  EXPECT_NE(message("*[axi=axis] -> *").find("unknown role 'axi'"), std::string::npos);
  EXPECT_NE(message("A B").find("expected '->'"), std::string::npos);
  EXPECT_NE(message("A A -> A").find("twice"), std::string::npos);
  EXPECT_NE(message("B M K | B M -> M").find("same names"), std::string::npos);
  EXPECT_EQ(message("fixed: because"), "parsed");
  EXPECT_EQ(message("L:3 C, O 1 1 C, O -> L:3 O; n h! w! C, O kh! kw! C, O -> n h! w! O"), "parsed");
}

}  // namespace
}  // namespace gantry::layout
