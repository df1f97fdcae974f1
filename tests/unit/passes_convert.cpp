// Conversion, its errors, patterns, and the runner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "tests/unit/passes_fake.hpp"

namespace gantry::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph chain_of(const std::vector<std::string>& ops) {
  Graph g;
  ValueId v = g.add_input(g.main(), "x", Type::of(DType::float32, {2}));
  for (const std::string& op : ops) {
    const NodeId n =
        g.add_node(g.end(g.main()), Op{"onnx", "", op, 7}, std::array{v}, 1, {}, op + std::to_string(v.index));
    v = g.node(n).output(0);
    g.set_type(v, Type::of(DType::float32, {2}));
  }
  g.add_output(g.main(), "y", v);
  return g;
}

std::vector<std::string> op_names(const Graph& g) {
  std::vector<std::string> names;
  for (const NodeId n : g.nodes(g.main())) names.push_back(g.node(n).op.str());
  return names;
}

FakeExtensions::NodeFunction to(const std::string& name) {
  return [name](Graph& g, NodeId n) { return replace_by_chain(g, n, "tflite", {name}); };
}

FakeExtensions::NodeFunction declines(const std::string& why) {
  return [why](Graph& g, NodeId n) {
    return Outcome{.kind = Outcome::Kind::declined,
                   .plugin = "test",
                   .reasons = {error(Code::declined, why).on_node(g.node(n).name).from_plugin("test")}};
  };
}

TEST(Convert, EveryNode) {
  Bench bench(chain_of({"A", "B"}));
  bench.plugins.converters["A"] = to("NEG");
  bench.plugins.converters["B"] = to("ABS");
  ASSERT_TRUE(bench.run("convert").ok());
  EXPECT_THAT(op_names(bench.graph), ElementsAre("tflite.NEG", "tflite.ABS"));
}

TEST(Convert, OpensAPluginThatAnExpansionNeeds) {
  Bench bench(chain_of({"A"}));
  bench.plugins.converters["A"] = to("NEG");
  bench.plugins.only_offered.insert("A");
  ASSERT_TRUE(bench.run("convert").ok());
  EXPECT_EQ(bench.plugins.opens, 1U);
  EXPECT_THAT(op_names(bench.graph), ElementsAre("tflite.NEG"));
}

TEST(Convert, DeclinedNodeIsExpandedAndItsBodyNormalized) {
  Bench bench(chain_of({"A"}));
  bench.plugins.converters["A"] = declines("not that one");
  bench.plugins.converters["B"] = to("NEG");
  bench.source.bodies["A"] = [](Graph& g, NodeId n) -> Result<bool> {
    replace_by_chain(g, n, "onnx", {"OldB", "B"});
    return true;
  };
  bench.plugins.upgrades["OldB"] = [](Graph& g, NodeId n) { return replace_by_chain(g, n, "onnx", {"B"}); };
  ASSERT_TRUE(bench.run("convert").ok());
  EXPECT_THAT(op_names(bench.graph), ElementsAre("tflite.NEG", "tflite.NEG"));
}

TEST(Convert, ReportsEveryNodeThatCannotBeConverted) {
  Bench bench(chain_of({"A", "No", "A", "Odd", "No", "No", "No", "No", "No", "No"}));
  bench.plugins.converters["A"] = to("NEG");
  bench.plugins.converters["Odd"] = declines("odd group");
  const Status status = bench.run("convert");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::unsupported_op);
  ASSERT_EQ(bench.report.diagnostics.size(), 2U);
  const Diagnostic& no = bench.report.diagnostics[0];
  EXPECT_EQ(no.op, "No");
  EXPECT_EQ(no.node, "No2");
  EXPECT_THAT(no.message, HasSubstr("No, since version 7"));
  EXPECT_THAT(no.message, HasSubstr("no manifest on the search path offers it"));
  EXPECT_THAT(no.message, HasSubstr("7 nodes: No2, No5"));
  EXPECT_THAT(no.message, HasSubstr("and 2 more"));
  EXPECT_THAT(no.hint, HasSubstr("--allow-custom"));
  const Diagnostic& odd = bench.report.diagnostics[1];
  EXPECT_EQ(odd.code, Code::declined);
  EXPECT_EQ(odd.plugin, "test");
  EXPECT_THAT(odd.message, HasSubstr("odd group"));
}

TEST(Convert, TellsWhyABodyWasNeeded) {
  Bench bench(chain_of({"A"}));
  bench.plugins.converters["A"] = declines("rank 9");
  bench.source.bodies["A"] = [](Graph& g, NodeId n) -> Result<bool> {
    replace_by_chain(g, n, "onnx", {"No"});
    return true;
  };
  ASSERT_FALSE(bench.run("convert").ok());
  EXPECT_THAT(bench.report.diagnostics.at(0).message,
              HasSubstr("function body of A, whose converter declined: rank 9"));
}

TEST(Convert, CustomOperatorsWhereAllowed) {
  Bench bench(chain_of({"A", "No", "No"}));
  bench.plugins.converters["A"] = to("NEG");
  bench.allow_custom = true;
  ASSERT_TRUE(bench.run("convert").ok());
  EXPECT_THAT(op_names(bench.graph), ElementsAre("tflite.NEG", "tflite.custom::No", "tflite.custom::No"));
  ASSERT_EQ(bench.report.diagnostics.size(), 1U);
  EXPECT_EQ(bench.report.diagnostics[0].code, Code::warn_custom);
}

TEST(Convert, PluginFailureEndsIt) {
  Bench bench(chain_of({"A"}));
  bench.plugins.converters["A"] = [](Graph&, NodeId) -> Result<Outcome> { return error(Code::plugin_failed, "broke"); };
  const Status status = bench.run("convert");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::plugin_failed);
  EXPECT_EQ(status.error().node, "A1");
}

// ---- patterns ----

// A pair of the operator becomes one.
Result<bool> merge_pair(Graph& g, NodeId root) {
  const ValueId x = g.node(root).input(0);
  const NodeId before = g.value(x).producer;
  if (!before || g.node(before).op.name != g.node(root).op.name) return false;
  const NodeId made = g.add_node(g.before(root), g.node(root).op, g.node(before).inputs, 1);
  g.set_type(g.node(made).output(0), g.value(x).type);
  g.replace_uses(g.node(root).output(0), g.node(made).output(0));
  return true;
}

TEST(Patterns, RunUntilNothingChanges) {
  Bench bench(chain_of({"A", "A", "A", "B", "A", "A"}));
  bench.plugins.pattern_list.push_back({{"pair", "test", Op{"onnx", "", "A", 1}}, merge_pair});
  ASSERT_TRUE(bench.run("patterns").ok());
  EXPECT_THAT(op_names(bench.graph), ElementsAre("onnx.A", "onnx.B", "onnx.A"));
}

TEST(Patterns, CanBeSwitchedOff) {
  Bench bench(chain_of({"A", "A"}));
  bench.plugins.pattern_list.push_back({{"pair", "test", Op{"onnx", "", "A", 1}}, merge_pair});
  bench.options.disabled.insert("pattern:pair");
  ASSERT_TRUE(bench.run("patterns").ok());
  EXPECT_EQ(bench.graph.live_nodes(), 2U);
}

TEST(Patterns, OneThatNeverEndsIsNamed) {
  Bench bench(chain_of({"A"}));
  bench.plugins.pattern_list.push_back(
      {{"again", "test", Op{"onnx", "", "A", 1}}, [](Graph& g, NodeId root) -> Result<bool> {
         replace_by_chain(g, root, "onnx", {"A"});
         return true;
       }});
  const Status status = bench.run("patterns");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::plugin_failed);
  EXPECT_THAT(status.error().message, HasSubstr("again"));
}

// ---- the runner ----

TEST(Runner, EveryPassHasANameAndIsFound) {
  for (const Pass& pass : all_passes()) {
    EXPECT_FALSE(pass.help.empty());
    EXPECT_EQ(find_pass(pass.name), &pass);
  }
  EXPECT_EQ(find_pass("nothing"), nullptr);
}

TEST(Runner, RecordsRoundsAsOne) {
  Bench bench(chain_of({"A"}));
  bench.plugins.messages.push_back(note("from a plugin"));
  ASSERT_TRUE(bench.run("dce").ok());
  ASSERT_TRUE(bench.run("dce").ok());
  ASSERT_EQ(bench.report.passes.size(), 1U);
  EXPECT_TRUE(bench.report.passes[0].enabled);
  EXPECT_EQ(bench.report.passes[0].nodes_before, 1U);
  ASSERT_EQ(bench.report.diagnostics.size(), 1U);
  EXPECT_EQ(bench.report.diagnostics[0].message, "from a plugin");
}

TEST(Runner, SkipsADisabledPass) {
  Bench bench(chain_of({"A"}));
  bench.options.disabled.insert("convert");
  ASSERT_TRUE(bench.run("convert").ok());
  ASSERT_EQ(bench.report.passes.size(), 1U);
  EXPECT_FALSE(bench.report.passes[0].enabled);
}

TEST(Runner, DumpsBeforeAndAfter) {
  Bench bench(chain_of({"A"}));
  std::vector<std::string> titles;
  bench.options.on_dump = [&](std::string_view title, const Graph&) { titles.emplace_back(title); };
  bench.options.dump.insert("dce");
  ASSERT_TRUE(bench.run("dce").ok());
  ASSERT_TRUE(bench.run("cse").ok());
  EXPECT_THAT(titles, ElementsAre("before dce", "after dce"));
}

}  // namespace
}  // namespace gantry::testing
