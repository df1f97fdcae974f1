// Function bodies in the place of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"
#include "onnx_support.hpp"

namespace gantry::onnx_format {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> operators(const Graph& g) {
  std::vector<std::string> names;
  for (const NodeId n : g.nodes(g.main())) {
    const Op& op = g.node(n).op;
    names.push_back(op.str() + "@" + std::to_string(op.version));
  }
  return names;
}

// Expands the only node of this operator.
void expand(ReadResult& model, std::string_view op) {
  const Result<bool> done = model.semantics->expand(model.graph, node_of(model.graph, op));
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(*done);
  const Status sound = verify(model.graph);
  EXPECT_TRUE(sound.ok()) << sound.error().message << "\n" << print(model.graph);
}

ReadResult inferred(std::string_view text) {
  ReadResult model = read_model(text);
  EXPECT_TRUE(infer_all(model, model.graph).ok());
  return model;
}

TEST(OnnxExpand, FixedBodyOfTheLibrary) {
  ReadResult model = inferred("g (float[2] x) => (float[2] y) { [relu] y = HardSwish (x) }");
  expand(model, "HardSwish");
  EXPECT_THAT(operators(model.graph), ElementsAre("onnx.HardSigmoid@6", "onnx.Mul@14"));
  EXPECT_EQ(model.graph.node(node_of(model.graph, "Mul")).name, "relu");
  EXPECT_EQ(model.graph.value(model.graph.find_value("y")).producer, node_of(model.graph, "Mul"));
  EXPECT_TRUE(infer_all(model, model.graph).ok());
  EXPECT_EQ(type_of(model.graph, "y"), "f32[2]");
}

TEST(OnnxExpand, BodyThatDependsOnTheNode) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (y) { y = Gelu <approximate = "tanh"> (x) })");
  expand(model, "Gelu");
  EXPECT_TRUE(node_of(model.graph, "Tanh"));
  EXPECT_TRUE(infer_all(model, model.graph).ok());
  EXPECT_EQ(type_of(model.graph, "y"), "f32[2]");
}

// A model-wide opset would give the body's operators versions that its author never saw.
TEST(OnnxExpand, BodiesKeepTheVersionsThatTheyAreWrittenFor) {
  ReadResult model = inferred("g (float[2,3] x) => (y) { y = LogSoftmax <axis = 1> (x) }");
  expand(model, "LogSoftmax");
  for (const NodeId n : model.graph.nodes(model.graph.main())) {
    EXPECT_TRUE(model.semantics->infer(model.graph, n).ok());
  }
  EXPECT_EQ(type_of(model.graph, "y"), "f32[2,3]");
}

TEST(OnnxExpand, NothingToExpand) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "d" : 1]> g (float[2] x) => (y) { a = Neg (x) y = d.Op (a) })");
  for (const std::string_view op : {"Neg", "Op"}) {
    const Result<bool> done = model.semantics->expand(model.graph, node_of(model.graph, op));
    ASSERT_TRUE(done.ok());
    EXPECT_FALSE(*done);
  }
  EXPECT_EQ(model.graph.live_nodes(), 2u);
}

constexpr std::string_view kScale = R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (float[2] y) { [call] y = f.scale <by = 3.0> (x) }
    <domain: "f", opset_import: ["" : 17]>
    scale <by, axis: int = 1> (a, b) => (c) {
      k = Constant <value_float: float = @by> ()
      m = Mul (a, k)
      c = Softmax <axis: int = @axis> (m)
    })";

TEST(OnnxExpand, FunctionOfTheModel) {
  ReadResult model = inferred(kScale);
  EXPECT_TRUE(model.semantics->knows(model.graph.node(node_of(model.graph, "scale")).op));
  expand(model, "scale");
  EXPECT_THAT(operators(model.graph), ElementsAre("onnx.Mul@14", "onnx.Softmax@13"));
  const Node& mul = model.graph.node(node_of(model.graph, "Mul"));
  const auto by = model.graph.value(mul.inputs[1]).constant.read<float>();
  ASSERT_TRUE(by.ok());
  EXPECT_THAT(*by, ElementsAre(3.0F));
  EXPECT_EQ(mul.name, "call");
  EXPECT_EQ(model.graph.value(mul.outputs[0]).name, "call/m");
  EXPECT_EQ(model.graph.node(node_of(model.graph, "Softmax")).attr_or<std::int64_t>("axis", 0), 1);
}

TEST(OnnxExpand, AttributesThatTheCallerLeavesOut) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (y) { y = f.act (x) }
    <domain: "f", opset_import: ["" : 17]>
    act <alpha> (a) => (b) { b = LeakyRelu <alpha: float = @alpha> (a) })");
  expand(model, "act");
  EXPECT_EQ(model.graph.node(node_of(model.graph, "LeakyRelu")).attr("alpha"), nullptr);
}

TEST(OnnxExpand, OmittedOperandsAndNamesInUse) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (float[2] y, float[2] z) { y = f.clip (x) z = Neg (x) }
    <domain: "f", opset_import: ["" : 17]>
    clip (x, lo, hi) => (y) { z = Clip (x, lo, hi) y = Abs (z) })");
  expand(model, "clip");
  EXPECT_EQ(model.graph.node(node_of(model.graph, "Clip")).inputs.size(), 1u);
  EXPECT_EQ(model.graph.value(model.graph.find_value("z")).producer, node_of(model.graph, "Neg"));
  EXPECT_EQ(model.graph.value(model.graph.find_value("y")).producer, node_of(model.graph, "Abs"));
}

TEST(OnnxExpand, SubgraphsInBodies) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x, bool c) => (y) { y = f.pick <k = 2.0> (x, c) }
    <domain: "f", opset_import: ["" : 17]>
    pick <k> (a, c) => (b) {
      b = If (c) <then_branch = t () => (p) { s = Constant <value_float: float = @k> () p = Mul (a, s) },
                  else_branch = e () => (q) { q = Neg (a) }>
    })");
  expand(model, "pick");
  EXPECT_EQ(model.graph.value(model.graph.node(node_of(model.graph, "Neg")).inputs[0]).name, "x");
  EXPECT_TRUE(infer_all(model, model.graph).ok());
  EXPECT_EQ(type_of(model.graph, "y"), "f32[2]");
}

TEST(OnnxExpand, FunctionsThatCallFunctions) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (y) { y = f.outer (x) }
    <domain: "f", opset_import: ["" : 17, "f" : 1]>
    outer (a) => (b) { t = f.inner (a) b = Neg (t) }
    <domain: "f", opset_import: ["" : 17]>
    inner (a) => (b) { b = Abs (a) })");
  expand(model, "outer");
  expand(model, "inner");
  EXPECT_THAT(operators(model.graph), ElementsAre("onnx.Abs@13", "onnx.Neg@13"));
}

TEST(OnnxExpand, AFunctionMayHandItsOperandThrough) {
  ReadResult model = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (float[2] y) { y = f.same (x) }
    <domain: "f", opset_import: ["" : 17]>
    same (a) => (a) { t = Neg (a) })");
  expand(model, "same");
  EXPECT_EQ(model.graph.value(model.graph.region(model.graph.main()).outputs[0].value).name, "x");
  EXPECT_EQ(model.graph.region(model.graph.main()).outputs[0].name, "y");
}

TEST(OnnxExpand, OverloadsAreApart) {
  ReadResult model = read_model("g (float[2] x) => (float[2] y) { y = Neg (x) }");
  const std::string bytes = model_bytes(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (y) { y = f.op (x) }
    <domain: "f", opset_import: ["" : 17]> op (a) => (b) { b = Neg (a) }
    <domain: "f", opset_import: ["" : 17]> op (a) => (b) { b = Abs (a) })",
                                        [](onnx::ModelProto& m) {
                                          m.mutable_functions(1)->set_overload("two");
                                          m.mutable_graph()->mutable_node(0)->set_overload("two");
                                        });
  Result<ReadResult> overloaded = read_bytes(bytes);
  ASSERT_TRUE(overloaded.ok()) << overloaded.error().message;
  expand(*overloaded, "op:two");
  EXPECT_THAT(operators(overloaded->graph), ElementsAre("onnx.Abs@13"));
}

// ---- functions that are refused when the model is read ----

TEST(OnnxExpand, RefusesRecursion) {
  const Diagnostic d = refused_model(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (y) { y = f.a (x) }
    <domain: "f", opset_import: ["f" : 1]> a (x) => (y) { y = f.b (x) }
    <domain: "f", opset_import: ["f" : 1]> b (x) => (y) { y = f.a (x) })");
  EXPECT_EQ(d.code, Code::input_graph);
  EXPECT_THAT(d.message, HasSubstr("calls itself"));
}

TEST(OnnxExpand, RefusesEndlessGrowth) {
  std::string text = "<ir_version: 10, opset_import: [\"f\" : 1]> g (float[2] x) => (y) { y = f.f0 (x) }\n";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "f.f" + std::to_string(i + 1);
    text += "<domain: \"f\", opset_import: [\"f\" : 1]> f" + std::to_string(i) + " (x) => (y) { a = " + next +
            " (x) y = " + next + " (a) }\n";
  }
  text += "<domain: \"f\", opset_import: [\"\" : 17]> f30 (x) => (y) { y = Neg (x) }";
  EXPECT_EQ(refused_model(text).code, Code::input_too_large);
}

TEST(OnnxExpand, RefusesFunctionsDefinedTwice) {
  EXPECT_EQ(refused_model(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (y) { y = f.a (x) }
    <domain: "f", opset_import: ["" : 17]> a (x) => (y) { y = Neg (x) }
    <domain: "f", opset_import: ["" : 17]> a (x) => (y) { y = Abs (x) })")
                .code,
            Code::input_graph);
}

// ---- bodies that are wrong ----

Diagnostic expansion_error(std::string_view body, std::string_view call = "f.a (x)") {
  ReadResult model =
      read_model(R"(<ir_version: 10, opset_import: ["" : 17, "f" : 1]> g (float[2] x) => (y) { [call] y = )" +
                 std::string(call) + " }\n<domain: \"f\", opset_import: [\"\" : 17]> " + std::string(body));
  Result<bool> done = model.semantics->expand(model.graph, node_of(model.graph, "a"));
  EXPECT_FALSE(done.ok());
  return done.ok() ? Diagnostic() : done.take_error();
}

TEST(OnnxExpand, ErrorsInBodiesNameTheCallAndThePlace) {
  const Diagnostic undefined = expansion_error("a (x) => (y) { [inside] y = Neg (gone) }");
  EXPECT_EQ(undefined.node, "call");
  EXPECT_EQ(undefined.op, "f::a");
  EXPECT_THAT(undefined.message, HasSubstr("'inside'"));
  EXPECT_THAT(undefined.message, HasSubstr("'gone'"));
  EXPECT_THAT(expansion_error("a (x) => (z) { y = Neg (x) }").message, HasSubstr("does not compute its output 'z'"));
  EXPECT_THAT(expansion_error("a (x) => (y) { y = Neg (x) }", "f.a (x, x)").message, HasSubstr("too many operands"));
  EXPECT_EQ(expansion_error("a (x) => (y) { y = Neg <oops = 1> (x) }").code, Code::input_malformed);
  EXPECT_EQ(expansion_error("a (x) => (y) { y = g.Op (x) }").code, Code::input_opset);
}

}  // namespace
}  // namespace gantry::onnx_format
