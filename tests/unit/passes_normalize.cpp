// The worklist: order of upgrade, inference, folding, expansion; bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "tests/unit/passes_fake.hpp"

namespace gantry::testing {
namespace {

using ::testing::HasSubstr;

Graph graph_of(std::string_view text) {
  Result<Graph> g = parse(text);
  EXPECT_TRUE(g.ok()) << (g.ok() ? "" : g.error().message + g.error().place);
  return g.ok() ? *std::move(g) : Graph();
}

std::vector<std::string> op_names(const Graph& g, RegionId r = RegionId{1}) {
  std::vector<std::string> names;
  for (const NodeId n : g.nodes(r)) names.emplace_back(g.node(n).op.name);
  return names;
}

constexpr std::string_view kOneNode = R"(graph "g" {
  input %x: f32[2]
  %y: f32[2] = onnx.A@1(%x) "node"
  output "y" = %y
})";

TEST(Normalize, VisitsWhatAnUpgradeMakes) {
  Bench bench(graph_of(kOneNode));
  bench.plugins.upgrades["A"] = [](Graph& g, NodeId n) { return replace_by_chain(g, n, "onnx", {"B", "C"}); };
  bench.plugins.upgrades["C"] = [](Graph& g, NodeId n) { return replace_by_chain(g, n, "onnx", {"D"}); };
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_EQ(op_names(bench.graph), (std::vector<std::string>{"B", "D"}));
}

TEST(Normalize, ExpandsOnlyWhereNoConverterIsOffered) {
  Bench bench(graph_of(kOneNode));
  const auto body = [](Graph& g, NodeId n) -> Result<bool> {
    replace_by_chain(g, n, "onnx", {"Kept", "A2"});
    return true;
  };
  bench.source.bodies["A"] = body;
  bench.source.bodies["Kept"] = body;
  bench.plugins.converters["Kept"] = [](Graph&, NodeId) { return Outcome{}; };
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_EQ(op_names(bench.graph), (std::vector<std::string>{"Kept", "A2"}));
}

TEST(Normalize, PluginsKnowBeforeTheReaderDoes) {
  Bench bench(graph_of(kOneNode));
  std::string asked;
  bench.source.inference["A"] = [&](Graph&, NodeId) {
    asked += "source ";
    return Status{};
  };
  bench.plugins.defined.inference["A"] = [&](Graph&, NodeId) {
    asked += "plugin ";
    return Status{};
  };
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_EQ(asked, "plugin ");
}

TEST(Normalize, ErrorNamesTheNode) {
  Bench bench(graph_of(kOneNode));
  bench.source.inference["A"] = [](Graph&, NodeId) { return Status(error(Code::input_type, "does not fit")); };
  const Status status = bench.run("normalize");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::input_type);
  EXPECT_EQ(status.error().node, "node");
  EXPECT_EQ(status.error().op, "A");
}

TEST(Normalize, FoldsConstantsInOneWalk) {
  Bench bench(graph_of(R"(graph "g" {
    const %c: i64[1] = [1]
    %a: i64[1] = onnx.Inc@1(%c)
    %b: i64[1] = onnx.Inc@1(%a)
    output "b" = %b
  })"));
  bench.plugins.folders["Inc"] = [](Graph& g, NodeId n) -> Result<bool> {
    const auto old = g.value(g.node(n).input(0)).constant.read<std::int64_t>();
    const ValueId c = g.add_constant(Constant::of<std::int64_t>({1}, {(*old)[0] + 1}));
    g.replace_uses(g.node(n).output(0), c);
    g.erase_node(n);
    return true;
  };
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_TRUE(op_names(bench.graph).empty());
  EXPECT_EQ(*bench.graph.value(bench.graph.region(RegionId{1}).outputs[0].value).constant.read<std::int64_t>(),
            std::vector<std::int64_t>{3});
}

TEST(Normalize, FoldsByTypeButNothingGiant) {
  Bench bench(graph_of(R"(graph "g" {
    input %x: f32[2,3]
    input %u: f32[N,3]
    const %c: i64[1] = [1000000]
    const %f: f32[1] = [1]
    %shape: i64[2] = onnx.Shape@1(%x)
    %size: i64[] = onnx.Size@1(%u)
    %other: i64[2] = onnx.Try@1(%x)
    %giant: f32[1000000] = onnx.Try@1(%c, %f)
    %small: f32[10] = onnx.Try@1(%c, %f)
    output "a" = %shape
    output "b" = %size
    output "c" = %other
    output "d" = %giant
    output "e" = %small
  })"));
  std::vector<std::string> asked;
  for (const std::string op : {"Shape", "Size", "Try"}) {
    bench.plugins.folders[op] = [&](Graph& g, NodeId n) -> Result<bool> {
      asked.emplace_back(g.value(g.node(n).output(0)).name);
      return false;
    };
  }
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"shape", "size", "small"}));
}

TEST(Normalize, FunctionsThatCallThemselvesEnd) {
  Bench bench(graph_of(kOneNode));
  bench.source.bodies["A"] = [](Graph& g, NodeId n) -> Result<bool> {
    replace_by_chain(g, n, "onnx", {"A", "A"});
    return true;
  };
  const Status status = bench.run("normalize");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::input_too_large);
  EXPECT_THAT(status.error().message, HasSubstr("levels deep"));
  EXPECT_EQ(status.error().node, "node");
}

TEST(Normalize, FunctionsThatDoubleEnd) {
  // f0 calls f1 twice, f1 calls f2 twice, ...: 2^40 nodes at 40 levels.
  Bench bench(graph_of(R"(graph "g" {
    input %x: f32[2]
    %y: f32[2] = onnx.f0@1(%x) "node"
    output "y" = %y
  })"));
  for (int i = 0; i < 40; ++i) {
    bench.source.bodies["f" + std::to_string(i)] = [i](Graph& g, NodeId n) -> Result<bool> {
      const std::string next = "f" + std::to_string(i + 1);
      replace_by_chain(g, n, "onnx", {next, next});
      return true;
    };
  }
  const Status status = bench.run("normalize");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::input_too_large);
  EXPECT_THAT(status.error().message, HasSubstr("more than"));
}

TEST(Normalize, LongChainsAreNoDepth) {
  // 1,000 functions one after the other, each of which expands: the levels do not add up.
  Graph g;
  ValueId v = g.add_input(g.main(), "x", Type::of(DType::float32, {2}));
  for (int i = 0; i < 1000; ++i) {
    const NodeId n = g.add_node(g.end(g.main()), Op{"onnx", "", "A", 1}, std::array{v}, 1);
    v = g.node(n).output(0);
    g.set_type(v, Type::of(DType::float32, {2}));
  }
  g.add_output(g.main(), "y", v);
  Bench bench(std::move(g));
  bench.options.verify = false;
  bench.source.bodies["A"] = [](Graph& graph, NodeId n) -> Result<bool> {
    replace_by_chain(graph, n, "onnx", {"B", "B"});
    return true;
  };
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_EQ(bench.graph.live_nodes(), 2000U);
}

TEST(Normalize, WalksRegions) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {2}));
  const NodeId loop = g.add_node(g.end(g.main()), Op{"onnx", "", "Outer", 1}, std::array{x}, 1);
  const RegionId body = g.add_region(loop, "body", "body");
  const ValueId in = g.add_input(body, "in", Type{});
  const NodeId inner = g.add_node(g.end(body), Op{"onnx", "", "Inner", 1}, std::array{in}, 1);
  g.add_output(body, "out", g.node(inner).output(0));
  g.add_output(g.main(), "y", g.node(loop).output(0));
  Bench bench(std::move(g));
  // The outer node gives the type of the region's input, then takes that of its output.
  bench.source.inference["Outer"] = [&](Graph& graph, NodeId n) {
    graph.set_type(in, graph.value(graph.node(n).input(0)).type);
    graph.set_type(graph.node(n).output(0), graph.value(graph.region(body).outputs[0].value).type);
    return Status{};
  };
  bench.source.inference["Inner"] = [](Graph& graph, NodeId n) {
    graph.set_type(graph.node(n).output(0), graph.value(graph.node(n).input(0)).type);
    return Status{};
  };
  ASSERT_TRUE(bench.run("normalize").ok());
  EXPECT_EQ(bench.graph.value(bench.graph.region(RegionId{1}).outputs[0].value).type, Type::of(DType::float32, {2}));
}

}  // namespace
}  // namespace gantry::testing
