// The graph: every public function, and random edits after each of which the verifier must agree.
#include <array>
#include <random>
#include <unordered_set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/graph.hpp"
#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const Type kFloats = Type::of(DType::float32, {2});

NodeId add(Graph& g, std::string_view name, std::vector<ValueId> inputs, std::size_t outputs = 1) {
  return g.add_node(g.end(g.main()), Op{"onnx", "", name, 1}, inputs, outputs);
}

ValueId out(const Graph& g, NodeId n, std::size_t i = 0) { return g.node(n).output(i); }

void expect_sound(const Graph& g) {
  const Status s = verify(g);
  EXPECT_TRUE(s.ok()) << s.error().message << "\n" << print(g);
}

TEST(IrGraph, StartsEmpty) {
  Graph g;
  EXPECT_TRUE(g.contains(g.main()));
  EXPECT_EQ(g.live_nodes(), 0u);
  EXPECT_THAT(g.nodes(g.main()), IsEmpty());
  EXPECT_THAT(g.regions(), ElementsAre(g.main()));
  EXPECT_FALSE(g.contains(NodeId{}));
  EXPECT_FALSE(g.contains(ValueId{7}));
  EXPECT_FALSE(g.contains(RegionId{9}));
  expect_sound(g);
}

TEST(IrGraph, Making) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", kFloats);
  const ValueId w = g.add_constant(Constant::of<float>({2}, {1, 2}), "w");
  const NodeId n = g.add_node(g.end(g.main()), Op{"onnx", "com.example", "Pair", 3}, std::array{x, ValueId{}, w}, 2,
                              {{"axis", std::int64_t{1}}}, "pair");
  g.add_output(g.main(), "y", out(g, n, 1));
  EXPECT_EQ(g.node(n).op.str(), "onnx.com.example::Pair");
  EXPECT_TRUE(g.node(n).op.is("onnx", "Pair", "com.example"));
  EXPECT_FALSE(g.node(n).op.is("onnx", "Pair"));
  EXPECT_EQ((Op{"onnx", "", "Conv", 1}).str(), "onnx.Conv");
  EXPECT_EQ(g.node(n).name, "pair");
  EXPECT_EQ(g.node(n).input(1), ValueId{});
  EXPECT_EQ(g.node(n).input(9), ValueId{});
  EXPECT_EQ(g.node(n).output(9), ValueId{});
  EXPECT_EQ(g.node(n).attr_or<std::int64_t>("axis", 0), 1);
  EXPECT_EQ(g.node(n).attr_or<float>("axis", 0.5f), 0.5f);
  EXPECT_EQ(g.node(n).attr("other"), nullptr);
  EXPECT_EQ(g.value(out(g, n)).name, "pair");
  EXPECT_EQ(g.value(out(g, n, 1)).name, "pair_1");
  EXPECT_EQ(g.value(out(g, n, 1)).result, 1u);
  EXPECT_EQ(g.value(out(g, n, 1)).output_uses, 1u);
  EXPECT_THAT(g.output_uses(out(g, n, 1)), ElementsAre(OutputUse{g.main(), 0}));
  EXPECT_TRUE(g.value(w).is_constant());
  EXPECT_EQ(g.value(w).type.str(), "f32[2]");
  EXPECT_THAT(g.value(w).uses, ElementsAre(Use{n, 2}));
  EXPECT_TRUE(g.value(out(g, n)).unused());
  EXPECT_THAT(g.region(g.main()).input_names, ElementsAre("x"));
  expect_sound(g);
}

TEST(IrGraph, Names) {
  Graph g;
  const ValueId a = g.add_input(g.main(), "a", {});
  const ValueId b = g.add_input(g.main(), "a", {});
  const ValueId c = g.add_constant(Constant::of<float>({}, {1}), "a");
  const ValueId d = g.add_input(g.main(), "", {});
  EXPECT_EQ(g.value(b).name, "a_1");
  EXPECT_EQ(g.value(c).name, "a_2");
  EXPECT_EQ(g.value(d).name, "v");
  EXPECT_THAT(g.region(g.main()).input_names, ElementsAre("a", "a", "v"));
  g.set_name(a, "z");
  EXPECT_EQ(g.find_value("a"), ValueId{});
  g.set_name(c, "a");
  EXPECT_EQ(g.value(c).name, "a");
  g.set_name(b, "a");
  EXPECT_EQ(g.value(b).name, "a_3");
  g.swap_names(a, c);
  EXPECT_EQ(g.find_value("a"), a);
  EXPECT_EQ(g.find_value("z"), c);
  g.swap_names(a, a);
  EXPECT_EQ(g.find_value("a"), a);
  g.erase_value(c);
  EXPECT_EQ(g.find_value("z"), ValueId{});
  expect_sound(g);
  // A name that looks like a suffixed one is stepped over.
  const ValueId e = g.add_input(g.main(), "q_1", {});
  const ValueId f = g.add_input(g.main(), "q", {});
  const ValueId h = g.add_input(g.main(), "q", {});
  EXPECT_EQ(g.value(e).name, "q_1");
  EXPECT_EQ(g.value(f).name, "q");
  EXPECT_EQ(g.value(h).name, "q_2");
  const std::string text = "interned";
  const std::string_view first = g.intern(text);
  EXPECT_EQ(first.data(), g.intern("interned").data());
}

TEST(IrGraph, NamedResults) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", {});
  const std::array<std::string_view, 3> names{"a", "", "x"};
  const NodeId n = g.add_node_named(g.end(g.main()), Op{"onnx", "", "Split", 1}, std::array{x}, names);
  EXPECT_EQ(g.value(out(g, n, 0)).name, "a");
  EXPECT_EQ(out(g, n, 1), ValueId{});
  EXPECT_EQ(g.value(out(g, n, 2)).name, "x_1");
  g.omit_result(n, 0);
  g.omit_result(n, 1);
  EXPECT_EQ(out(g, n, 0), ValueId{});
  EXPECT_EQ(g.find_value("a"), ValueId{});
  expect_sound(g);
}

TEST(IrGraph, ChangingOperands) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", kFloats);
  const ValueId y = g.add_input(g.main(), "y", kFloats);
  const NodeId n = add(g, "Add", {x, x});
  const NodeId m = add(g, "Neg", {x});
  g.set_operand(n, 0, y);
  EXPECT_THAT(g.value(x).uses, UnorderedElementsAre(Use{n, 1}, Use{m, 0}));
  EXPECT_THAT(g.value(y).uses, ElementsAre(Use{n, 0}));
  g.set_operand(n, 1, ValueId{});
  EXPECT_THAT(g.value(x).uses, ElementsAre(Use{m, 0}));
  g.set_operands(n, std::array{x, y, x});
  EXPECT_EQ(g.value(x).uses.size(), 3u);
  g.set_operands(n, g.node(n).inputs);
  EXPECT_EQ(g.value(x).uses.size(), 3u);
  expect_sound(g);
  g.set_operands(n, {});
  EXPECT_TRUE(g.value(y).unused());
  g.set_op(n, Op{"tflite", "", "ADD", 2});
  EXPECT_EQ(g.node(n).op.str(), "tflite.ADD");
  EXPECT_EQ(g.node(n).op.version, 2);
  g.set_node_name(n, "sum");
  EXPECT_EQ(g.node(n).name, "sum");
  g.set_attr(n, "a", 1.5f);
  g.set_attr(n, "a", std::string("s"));
  EXPECT_EQ(g.node(n).attr_or<std::string>("a", ""), "s");
  g.remove_attr(n, "a");
  g.remove_attr(n, "a");
  EXPECT_EQ(g.node(n).attr("a"), nullptr);
  g.set_type(x, Type::unranked(DType::int8));
  EXPECT_EQ(g.value(x).type.str(), "i8[*]");
  expect_sound(g);
}

TEST(IrGraph, ReplaceUses) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", kFloats);
  const ValueId y = g.add_input(g.main(), "y", kFloats);
  const NodeId n = add(g, "Add", {x, x});
  g.add_output(g.main(), "p", x);
  g.add_output(g.main(), "q", y);
  g.add_output(g.main(), "r", x);
  g.replace_uses(x, y);
  EXPECT_TRUE(g.value(x).unused());
  EXPECT_THAT(g.node(n).inputs, ElementsAre(y, y));
  EXPECT_EQ(g.value(y).output_uses, 3u);
  EXPECT_EQ(g.value(x).name, "x");
  g.replace_uses(y, y);
  EXPECT_EQ(g.value(y).uses.size(), 2u);
  expect_sound(g);
}

TEST(IrGraph, Outputs) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", kFloats);
  const ValueId y = g.add_input(g.main(), "y", kFloats);
  g.add_output(g.main(), "a", x);
  g.add_output(g.main(), "b", y);
  g.add_output(g.main(), "c", x);
  g.set_output(g.main(), 2, y);
  expect_sound(g);
  g.remove_output(g.main(), 0);
  EXPECT_TRUE(g.value(x).unused());
  ASSERT_EQ(g.region(g.main()).outputs.size(), 2u);
  EXPECT_EQ(g.region(g.main()).outputs[1].name, "c");
  EXPECT_THAT(g.output_uses(y), UnorderedElementsAre(OutputUse{g.main(), 0}, OutputUse{g.main(), 1}));
  expect_sound(g);
  g.erase_value(x);
  EXPECT_THAT(g.region(g.main()).inputs, ElementsAre(y));
  EXPECT_THAT(g.region(g.main()).input_names, ElementsAre("y"));
  expect_sound(g);
}

TEST(IrGraph, Order) {
  Graph g;
  const NodeId b = add(g, "B", {});
  const NodeId d = add(g, "D", {});
  const NodeId a = g.add_node(g.before(b), Op{"onnx", "", "A", 1}, {}, 1);
  const NodeId c = g.add_node(g.after(b), Op{"onnx", "", "C", 1}, {}, 1);
  const NodeId e = g.add_node(g.after(d), Op{"onnx", "", "E", 1}, {}, 1);
  EXPECT_THAT(g.nodes(g.main()), ElementsAre(a, b, c, d, e));
  g.move_before(e, g.before(a));
  g.move_before(a, g.end(g.main()));
  g.move_before(c, g.before(c));
  EXPECT_THAT(g.nodes(g.main()), ElementsAre(e, b, c, d, a));
  g.erase_node(e);
  g.erase_node(a);
  g.erase_node(c);
  EXPECT_THAT(g.nodes(g.main()), ElementsAre(b, d));
  EXPECT_FALSE(g.contains(c));
  EXPECT_EQ(g.live_nodes(), 2u);
  expect_sound(g);
}

// x -> If { then: Neg(x) else: x } -> y
struct WithRegions {
  Graph g;
  ValueId x = g.add_input(g.main(), "x", kFloats);
  NodeId before = add(g, "Abs", {x});
  NodeId branch = add(g, "If", {x});
  RegionId then_region = g.add_region(branch, "then_branch", "then");
  RegionId else_region = g.add_region(branch, "else_branch", "else");
  ValueId i = g.add_input(then_region, "i", kFloats);
  NodeId inner = g.add_node(g.end(then_region), Op{"onnx", "", "Add", 1}, std::array{out(g, before), i}, 1);
  WithRegions() {
    g.add_output(then_region, "t", out(g, inner));
    g.add_output(else_region, "e", x);
    g.add_output(g.main(), "y", out(g, branch));
  }
};

TEST(IrGraph, Regions) {
  WithRegions w;
  Graph& g = w.g;
  expect_sound(g);
  EXPECT_THAT(g.regions(), ElementsAre(g.main(), w.then_region, w.else_region));
  EXPECT_EQ(g.region(w.then_region).owner, w.branch);
  EXPECT_EQ(g.region(w.then_region).parent, g.main());
  g.set_region_name(w.then_region, "other");
  EXPECT_EQ(g.region(w.then_region).name, "other");
  // To another node of another kind.
  const NodeId next = add(g, "IF", {w.x});
  g.move_region(w.then_region, next, "then");
  EXPECT_EQ(g.node(w.branch).regions.size(), 1u);
  EXPECT_EQ(g.node(next).regions[0].first, "then");
  EXPECT_EQ(g.region(w.then_region).owner, next);
  expect_sound(g);
  // A node out of its region, and one with regions into another.
  g.set_output(w.then_region, 0, w.i);
  g.set_operand(w.inner, 1, w.x);
  g.move_before(w.inner, g.before(w.branch));
  expect_sound(g);
  EXPECT_THAT(g.nodes(w.then_region), IsEmpty());
  g.set_output(g.main(), 0, w.x);
  g.move_before(w.branch, g.end(w.then_region));
  EXPECT_EQ(g.region(w.else_region).parent, w.then_region);
  EXPECT_THAT(g.regions(), ElementsAre(g.main(), w.then_region, w.else_region));
  expect_sound(g);
}

TEST(IrGraph, ErasingANodeErasesItsRegions) {
  WithRegions w;
  Graph& g = w.g;
  EXPECT_EQ(g.value(w.x).output_uses, 1u);
  g.set_output(g.main(), 0, w.x);
  g.erase_node(w.branch);
  EXPECT_FALSE(g.contains(w.then_region));
  EXPECT_FALSE(g.contains(w.inner));
  EXPECT_FALSE(g.contains(w.i));
  EXPECT_EQ(g.find_value("i"), ValueId{});
  EXPECT_TRUE(g.value(out(g, w.before)).unused());
  EXPECT_THAT(g.output_uses(w.x), ElementsAre(OutputUse{g.main(), 0}));
  EXPECT_EQ(g.live_nodes(), 1u);
  EXPECT_THAT(g.regions(), ElementsAre(g.main()));
  expect_sound(g);
}

TEST(IrGraph, EraseDead) {
  WithRegions w;
  Graph& g = w.g;
  const ValueId c = g.add_constant(Constant::of<float>({2}, {1, 2}), "c");
  const NodeId dead = g.add_node(g.end(w.then_region), Op{"onnx", "", "Mul", 1}, std::array{c, c}, 2);
  add(g, "Print", {w.x}, 0);
  EXPECT_EQ(g.erase_dead(), 1u);
  EXPECT_FALSE(g.contains(dead));
  EXPECT_FALSE(g.contains(c));
  EXPECT_EQ(g.live_nodes(), 4u);
  g.set_output(g.main(), 0, w.x);
  EXPECT_EQ(g.erase_dead(), 3u);  // If with what is in it, and Abs
  EXPECT_EQ(g.live_nodes(), 1u);  // Print has no result to be unused
  EXPECT_TRUE(g.contains(w.x));   // an input stays
  expect_sound(g);
}

TEST(IrGraph, Moving) {
  WithRegions w;
  const std::string text = print(w.g);
  Graph moved = std::move(w.g);
  EXPECT_EQ(print(moved), text);
  Graph assigned;
  assigned = std::move(moved);
  EXPECT_EQ(print(assigned), text);
  EXPECT_EQ(assigned.find_value("x"), w.x);
  expect_sound(assigned);
}

TEST(IrGraph, Ids) {
  EXPECT_LT(NodeId{1}, NodeId{2});
  std::unordered_set<ValueId> set{ValueId{1}, ValueId{2}, ValueId{1}};
  EXPECT_EQ(set.size(), 2u);
}

// Adding and dropping uses takes constant time: with a search through the list this would be 10^9 steps.
TEST(IrGraph, ManyUsesOfOneValue) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", kFloats);
  const ValueId y = g.add_input(g.main(), "y", kFloats);
  std::vector<NodeId> nodes;
  for (int i = 0; i < 30'000; ++i) nodes.push_back(add(g, "Neg", {x}));
  for (std::size_t i = 0; i < nodes.size(); i += 2) g.set_operand(nodes[i], 0, y);
  EXPECT_EQ(g.value(x).uses.size(), 15'000u);
  g.replace_uses(y, x);
  EXPECT_EQ(g.erase_dead(), 30'000u);
  EXPECT_TRUE(g.value(x).unused());
}

// ---- random edits ----

class Editor {
 public:
  explicit Editor(unsigned seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) g_.add_input(g_.main(), "x", kFloats);
    g_.add_constant(Constant::of<float>({2}, {1, 2}));
  }

  const Graph& graph() const { return g_; }

  void edit() {
    switch (pick(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return insert();
      case 4:
        return insert_region();
      case 5:
        return change_operand();
      case 6:
        return replace();
      case 7:
        return erase();
      case 8:
        return outputs();
      case 9:
        return rename();
      case 10:
        return move();
      case 11:
        return values();
      case 12:
        return operands();
      default:
        if (pick(4) == 0) g_.erase_dead();
    }
  }

 private:
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  RegionId any_region() {
    const auto all = g_.regions();
    return all[pick(all.size())];
  }

  NodeId any_node() {
    std::vector<NodeId> all;
    for (std::uint32_t i = 1; i < g_.node_slots(); ++i) {
      if (g_.contains(NodeId{i})) all.push_back(NodeId{i});
    }
    return all.empty() ? NodeId{} : all[pick(all.size())];
  }

  // What a node that stands before `at` may use, by definition: walked outwards, region by region.
  std::vector<ValueId> visible(InsertPoint at) const {
    std::vector<ValueId> found;
    for (std::uint32_t i = 1; i < g_.value_slots(); ++i) {
      if (g_.contains(ValueId{i}) && g_.value(ValueId{i}).is_constant()) found.push_back(ValueId{i});
    }
    for (RegionId r = at.region; r; at = g_.before(g_.region(r).owner), r = g_.region(r).parent) {
      const Region& region = g_.region(r);
      found.insert(found.end(), region.inputs.begin(), region.inputs.end());
      for (NodeId n = region.first; n && n != at.before; n = g_.node(n).next) {
        for (const ValueId v : g_.node(n).outputs) {
          if (v) found.push_back(v);
        }
      }
      if (!region.owner) break;
    }
    return found;
  }

  ValueId any_visible(InsertPoint at) {
    const auto all = visible(at);
    return all.empty() || pick(8) == 0 ? ValueId{} : all[pick(all.size())];
  }

  InsertPoint any_place() {
    const RegionId r = any_region();
    const auto nodes = g_.nodes(r);
    const std::size_t i = pick(nodes.size() + 1);
    return i < nodes.size() ? g_.before(nodes[i]) : g_.end(r);
  }

  void insert() {
    const InsertPoint at = any_place();
    std::vector<ValueId> inputs(pick(4));
    for (ValueId& v : inputs) v = any_visible(at);
    g_.add_node(at, Op{"onnx", "", "Op", 1}, inputs, pick(3));
  }

  void insert_region() {
    const NodeId n = any_node();
    if (!n || g_.regions().size() > 12) return;
    const RegionId r = g_.add_region(n, "body", "");
    g_.add_input(r, "i", kFloats);
    if (const ValueId v = any_visible(g_.end(r))) g_.add_output(r, "o", v);
  }

  void change_operand() {
    const NodeId n = any_node();
    if (!n || g_.node(n).inputs.empty()) return;
    g_.set_operand(n, pick(g_.node(n).inputs.size()), any_visible(g_.before(n)));
  }

  void operands() {
    const NodeId n = any_node();
    if (!n) return;
    std::vector<ValueId> inputs(pick(5));
    for (ValueId& v : inputs) v = any_visible(g_.before(n));
    g_.set_operands(n, inputs);
  }

  // Uses of a result may become uses of anything that its node sees.
  void replace() {
    const NodeId n = any_node();
    if (!n) return;
    const ValueId from = g_.node(n).output(0);
    const ValueId to = any_visible(g_.before(n));
    if (from && to) g_.replace_uses(from, to);
  }

  void erase() {
    const NodeId n = any_node();
    if (!n) return;
    for (std::size_t i = 0; i < g_.node(n).outputs.size(); ++i) {
      const ValueId v = g_.node(n).outputs[i];
      if (v && !g_.value(v).unused()) return;
    }
    if (pick(3) != 0 || g_.node(n).outputs.empty()) {
      g_.erase_node(n);
    } else {
      g_.omit_result(n, pick(g_.node(n).outputs.size()));
    }
  }

  void outputs() {
    const RegionId r = any_region();
    const ValueId v = any_visible(g_.end(r));
    const std::size_t n = g_.region(r).outputs.size();
    if (n > 0 && pick(3) == 0) {
      g_.remove_output(r, pick(n));
    } else if (v && n > 0 && pick(2) == 0) {
      g_.set_output(r, pick(n), v);
    } else if (v) {
      g_.add_output(r, "o", v);
    }
  }

  void rename() {
    const auto all = visible(g_.end(g_.main()));
    if (all.empty()) return;
    const ValueId a = all[pick(all.size())];
    const ValueId b = all[pick(all.size())];
    pick(2) == 0 ? g_.swap_names(a, b) : g_.set_name(a, g_.value(b).name);
  }

  // To the place just after the next node, if that and what is in it do not use it.
  void move() {
    const NodeId n = any_node();
    if (!n || !g_.node(n).next) return;
    const NodeId next = g_.node(n).next;
    for (const ValueId v : g_.node(n).outputs) {
      if (v && !g_.value(v).unused()) return;
    }
    g_.move_before(n, g_.after(next));
  }

  void values() {
    const auto all = visible(g_.end(g_.main()));
    const ValueId v = all.empty() ? ValueId{} : all[pick(all.size())];
    if (v && g_.value(v).unused() && !g_.value(v).producer) g_.erase_value(v);
    g_.add_constant(Constant::of<float>({2}, {1, 2}));
  }

  std::mt19937 random_;
  Graph g_;
};

TEST(IrGraphRandom, EditsKeepTheGraphSound) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Editor editor(seed);
    for (int i = 0; i < 150; ++i) {
      editor.edit();
      const Status s = verify(editor.graph());
      ASSERT_TRUE(s.ok()) << "edit " << i << ": " << s.error().message << "\n" << print(editor.graph());
    }
    const std::string text = print(editor.graph());
    const auto parsed = parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().place << ": " << parsed.error().message << "\n" << text;
    ASSERT_EQ(print(*parsed), text);
    const Status s = verify(*parsed);
    ASSERT_TRUE(s.ok()) << s.error().message;
  }
}

}  // namespace
}  // namespace gantry
