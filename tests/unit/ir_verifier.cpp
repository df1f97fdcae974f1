// Every invariant, broken once.
#include <array>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/verifier.hpp"

namespace gantry {

// The graph's own functions keep it sound: this reaches behind them.
struct GraphTestAccess {
  static Node& node(Graph& g, NodeId n) { return g.nodes_[n.index]; }
  static Value& value(Graph& g, ValueId v) { return g.values_[v.index]; }
  static Region& region(Graph& g, RegionId r) { return g.regions_[r.index]; }
  static std::size_t& live_nodes(Graph& g) { return g.live_nodes_; }
  static auto& by_name(Graph& g) { return g.by_name_; }
  static auto& output_uses(Graph& g) { return g.output_uses_; }
};

namespace {

using ::testing::HasSubstr;
using Access = GraphTestAccess;

struct Sample {
  Graph g;
  ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {2}));
  ValueId c = g.add_constant(Constant::of<float>({2}, {1, 2}), "c");
  NodeId a = g.add_node(g.end(g.main()), Op{"onnx", "", "Add", 7}, std::array{x, c}, 1, {}, "first");
  NodeId b = g.add_node(g.end(g.main()), Op{"onnx", "", "If", 7}, std::array{g.node(a).output(0)}, 1, {}, "second");
  RegionId r = g.add_region(b, "body", "");
  ValueId i = g.add_input(r, "i", {});
  NodeId inner = g.add_node(g.end(r), Op{"onnx", "", "Mul", 7}, std::array{i, g.node(a).output(0)}, 1, {}, "inside");
  Sample() {
    g.add_output(r, "o", g.node(inner).output(0));
    g.add_output(g.main(), "y", g.node(b).output(0));
  }
  ValueId result(NodeId n) const { return g.node(n).output(0); }
  Node& node(NodeId n) { return Access::node(g, n); }
  Value& value(ValueId v) { return Access::value(g, v); }
  Region& region(RegionId which) { return Access::region(g, which); }
};

void expect_broken(const char* part, const std::function<void(Sample&)>& damage) {
  Sample s;
  ASSERT_TRUE(verify(s.g).ok());
  damage(s);
  const Status status = verify(s.g);
  ASSERT_FALSE(status.ok()) << part;
  EXPECT_EQ(status.error().code, Code::internal_verifier);
  EXPECT_THAT(status.error().message, HasSubstr(part));
}

TEST(IrVerifier, NamesTheNode) {
  Sample s;
  s.g.set_operand(s.a, 0, s.result(s.b));
  const Status status = verify(s.g);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().node, "first");
  EXPECT_EQ(status.error().op, "onnx.Add");
}

TEST(IrVerifier, Regions) {
  expect_broken("main region", [](Sample& s) { s.region(s.g.main()).owner = s.a; });
  expect_broken("without an attribute name", [](Sample& s) { s.node(s.b).regions[0].first.clear(); });
  expect_broken("dead region", [](Sample& s) { s.region(s.r).alive = false; });
  expect_broken("another owner", [](Sample& s) { s.node(s.b).regions.emplace_back("again", s.r); });
  expect_broken("says otherwise", [](Sample& s) { s.region(s.r).owner = s.a; });
  expect_broken("says otherwise", [](Sample& s) { s.region(s.r).parent = s.r; });
  expect_broken("has no owner", [](Sample& s) { s.node(s.b).regions.clear(); });
}

TEST(IrVerifier, Lists) {
  expect_broken("dead node", [](Sample& s) { s.node(s.b).alive = false; });
  expect_broken("listed twice", [](Sample& s) { s.node(s.b).next = s.a; });
  expect_broken("in which it is not", [](Sample& s) { s.node(s.a).region = s.r; });
  expect_broken("link to the node before", [](Sample& s) { s.node(s.b).prev = NodeId{}; });
  expect_broken("wrong last node", [](Sample& s) { s.region(s.g.main()).last = s.a; });
  expect_broken("in no region", [](Sample& s) { s.region(s.r).first = s.region(s.r).last = NodeId{}; });
  expect_broken("number of live nodes", [](Sample& s) { ++Access::live_nodes(s.g); });
}

TEST(IrVerifier, Values) {
  expect_broken("has no name", [](Sample& s) { s.value(s.x).name = ""; });
  expect_broken("its name stands for", [](Sample& s) { s.value(s.x).name = s.value(s.c).name; });
  expect_broken("its name stands for", [](Sample& s) { Access::by_name(s.g).erase("x"); });
  expect_broken("not well formed", [](Sample& s) { s.value(s.x).type.dims[0].symbol = "N"; });
  expect_broken("not well formed", [](Sample& s) { s.value(s.x).type.dims[0].size = -2; });
  expect_broken("not well formed", [](Sample& s) { s.value(s.x).type.ranked = false; });
  expect_broken("exactly one of", [](Sample& s) { s.value(s.x).input_of = {}; });
  expect_broken("exactly one of", [](Sample& s) { s.value(s.c).producer = s.a; });
  expect_broken("its constant has f32[2]", [](Sample& s) { s.g.set_type(s.c, Type::of(DType::float32, {3})); });
  expect_broken("not the result that it says", [](Sample& s) { s.value(s.result(s.a)).result = 1; });
  expect_broken("not the result that it says", [](Sample& s) { s.value(s.result(s.a)).producer = s.b; });
  expect_broken("input of a dead region", [](Sample& s) { s.value(s.x).input_of = RegionId{77}; });
  expect_broken("input that is none", [](Sample& s) { s.value(s.x).input_of = s.r; });
  expect_broken("its region does not", [](Sample& s) {
    s.region(s.g.main()).inputs.clear();
    s.region(s.g.main()).input_names.clear();
  });
  expect_broken("dead but used", [](Sample& s) { s.value(s.x).alive = false; });
}

TEST(IrVerifier, Uses) {
  expect_broken("lists a use that is none", [](Sample& s) { s.value(s.x).uses[0].operand = 1; });
  expect_broken("lists a use that is none", [](Sample& s) { s.value(s.x).uses[0].node = NodeId{99}; });
  expect_broken("does not know where", [](Sample& s) { s.value(s.x).uses.push_back(s.value(s.x).uses[0]); });
  expect_broken("value does not list", [](Sample& s) { s.value(s.x).uses.clear(); });
  expect_broken("broken list of uses", [](Sample& s) {
    s.node(s.a).use_slots.push_back(0), s.node(s.a).inputs.clear(), s.value(s.x).uses.clear(),
        s.value(s.c).uses.clear();
  });
  expect_broken("dead value", [](Sample& s) { s.value(s.c) = Value{}; });
  expect_broken("wrong count of output uses", [](Sample& s) { ++s.value(s.x).output_uses; });
  expect_broken("output use that is none", [](Sample& s) { Access::output_uses(s.g)[s.result(s.b)][0].index = 5; });
  expect_broken("output use twice", [](Sample& s) {
    auto& uses = Access::output_uses(s.g)[s.result(s.b)];
    uses.push_back(uses[0]);
    ++s.value(s.result(s.b)).output_uses;
  });
  expect_broken("no value lists", [](Sample& s) {
    Access::output_uses(s.g).erase(s.result(s.b));
    s.value(s.result(s.b)).output_uses = 0;
  });
  expect_broken("without a value", [](Sample& s) { s.region(s.r).outputs.push_back({"z", ValueId{}}); });
  expect_broken("without source names", [](Sample& s) { s.region(s.r).input_names.clear(); });
}

TEST(IrVerifier, Nodes) {
  expect_broken("no operator", [](Sample& s) { s.node(s.a).op.name = ""; });
  expect_broken("value says otherwise", [](Sample& s) { s.node(s.a).outputs.push_back(s.x); });
  expect_broken("without a value", [](Sample& s) { s.g.set_attr(s.a, "t", Constant{}); });
  expect_broken("without a value", [](Sample& s) { s.g.set_attr(s.a, "", std::int64_t{1}); });
}

TEST(IrVerifier, Order) {
  expect_broken("before it is made", [](Sample& s) { s.g.move_before(s.b, s.g.before(s.a)); });
  expect_broken("before it is made", [](Sample& s) { s.g.set_operand(s.a, 0, s.result(s.a)); });
  expect_broken("before it is made", [](Sample& s) { s.g.set_operand(s.inner, 0, s.result(s.b)); });  // of its owner
  expect_broken("out of its region", [](Sample& s) { s.g.set_operand(s.b, 0, s.i); });
  expect_broken("out of its region", [](Sample& s) {
    s.g.add_node(s.g.end(s.g.main()), Op{"onnx", "", "Neg", 1}, std::array{s.result(s.inner)}, 1);
  });
  expect_broken("cannot see", [](Sample& s) { s.g.set_output(s.g.main(), 0, s.i); });
  expect_broken("cannot see", [](Sample& s) { s.g.set_output(s.r, 0, s.result(s.b)); });
}

}  // namespace
}  // namespace gantry
