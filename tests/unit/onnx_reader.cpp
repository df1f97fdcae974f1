// ONNX models -> graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "host/ir/text.hpp"
#include "onnx_support.hpp"

namespace gantry::onnx_format {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Node& node(const ReadResult& model, std::string_view op) { return model.graph.node(node_of(model.graph, op)); }

std::string name_of(const ReadResult& model, ValueId v) { return v ? std::string(model.graph.value(v).name) : "_"; }

TEST(OnnxReader, Basics) {
  const ReadResult model = read_model(R"(
    <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1], producer_name: "maker", producer_version: "2.0",
     metadata_props: ["key": "value"]>
    net (float[1,N,4] x) => (float[1,N,4] y) <float[1] w = {2}> {
      [first] a = Mul (x, w)
      y = com.microsoft.Gelu (a)
    })");
  const Graph& g = model.graph;
  EXPECT_EQ(g.name, "net");
  EXPECT_EQ(g.source, "model.onnx");
  EXPECT_EQ(g.producer, "maker 2.0");
  EXPECT_EQ(g.opsets, (std::map<std::string, std::int64_t>{{"", 17}, {"com.microsoft", 1}}));
  EXPECT_EQ(g.metadata.at("key"), "value");
  EXPECT_THAT(g.region(g.main()).input_names, ElementsAre("x"));
  EXPECT_EQ(type_of(g, "x"), "f32[1,N,4]");
  EXPECT_EQ(node(model, "Mul").op.version, 14);
  EXPECT_EQ(node(model, "Mul").name, "first");
  EXPECT_EQ(node(model, "Gelu").op.domain, "com.microsoft");
  EXPECT_EQ(node(model, "Gelu").op.version, 1);
  ASSERT_EQ(g.region(g.main()).outputs.size(), 1u);
  EXPECT_EQ(g.region(g.main()).outputs[0].name, "y");
  EXPECT_TRUE(g.value(g.find_value("w")).is_constant());
}

TEST(OnnxReader, AttributesOfEveryKind) {
  const ReadResult model = read_model(R"(
    <ir_version: 10, opset_import: ["" : 17, "d" : 1]>
    g (float[1] x) => (float[1] y) {
      y = d.Op <i = 3, f = 0.5, s = "text", is = [1, 2], fs = [1.5, 2.5], ss = ["a", "b"], t = float[2] {1, 2},
                none: ints = []> (x)
    })");
  const Node& op = node(model, "Op");
  EXPECT_EQ(op.attr_or<std::int64_t>("i", 0), 3);
  EXPECT_EQ(op.attr_or<float>("f", 0), 0.5F);
  EXPECT_EQ(op.attr_or<std::string>("s", ""), "text");
  EXPECT_THAT(op.attr_or<std::vector<std::int64_t>>("is", {}), ElementsAre(1, 2));
  EXPECT_THAT(op.attr_or<std::vector<float>>("fs", {}), ElementsAre(1.5F, 2.5F));
  EXPECT_THAT(op.attr_or<std::vector<std::string>>("ss", {}), ElementsAre("a", "b"));
  EXPECT_EQ(op.attr_or<Constant>("t", {}).elements(), 2);
  EXPECT_TRUE(std::holds_alternative<std::vector<std::int64_t>>(*op.attr("none")));
}

TEST(OnnxReader, ConstantNodesBecomeConstants) {
  const ReadResult model = read_model(R"(
    g () => (t, f, fs, i, is, s, ss) {
      t = Constant <value = float[2] {1, 2}> ()
      f = Constant <value_float = 0.5> ()
      fs = Constant <value_floats = [1.0, 2.0]> ()
      i = Constant <value_int = 7> ()
      is = Constant <value_ints = [7, 8]> ()
      s = Constant <value_string = "a"> ()
      ss = Constant <value_strings = ["a", "b"]> ()
    })");
  const Graph& g = model.graph;
  EXPECT_EQ(g.live_nodes(), 0u);
  EXPECT_EQ(type_of(g, "t"), "f32[2]");
  EXPECT_EQ(type_of(g, "f"), "f32[]");
  EXPECT_EQ(type_of(g, "fs"), "f32[2]");
  EXPECT_EQ(type_of(g, "i"), "i64[]");
  EXPECT_EQ(type_of(g, "is"), "i64[2]");
  EXPECT_EQ(type_of(g, "s"), "str[]");
  EXPECT_EQ(type_of(g, "ss"), "str[2]");
}

TEST(OnnxReader, OmittedOperandsAndResults) {
  const ReadResult model = read_model(R"(
    g (float[5,1,2] x, float[1,12,2] w, float[1,12,3] r, float[1,1,3] c) => (float[1,1,3] y) {
      , y, = LSTM <hidden_size = 3> (x, w, r, , , , c, )
    })");
  const Node& lstm = node(model, "LSTM");
  ASSERT_EQ(lstm.inputs.size(), 7u);
  EXPECT_FALSE(lstm.inputs[3]);
  EXPECT_EQ(name_of(model, lstm.inputs[6]), "c");
  ASSERT_EQ(lstm.outputs.size(), 2u);
  EXPECT_FALSE(lstm.outputs[0]);
  EXPECT_EQ(name_of(model, lstm.outputs[1]), "y");
}

TEST(OnnxReader, AnInputWithAnInitializerIsAConstant) {
  const ReadResult model = read_model(R"(
    <ir_version: 3, opset_import: ["" : 8]>
    g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) })");
  EXPECT_THAT(model.graph.region(model.graph.main()).input_names, ElementsAre("x"));
  EXPECT_TRUE(model.graph.value(model.graph.find_value("w")).is_constant());
  EXPECT_EQ(node(model, "Add").op.version, 7);
}

TEST(OnnxReader, OutputsMayBeInputsAndConstants) {
  const ReadResult model = read_model("g (float[2] x) => (float[2] x, float[1] w) <float[1] w = {1}> { }");
  EXPECT_EQ(model.graph.region(model.graph.main()).outputs.size(), 2u);
}

TEST(OnnxReader, DeclaredTypesAreKept) {
  const ReadResult model = read_model(R"(
    <ir_version: 10, opset_import: ["" : 17, "d" : 1]>
    g (float[2] x) => (float[K] y) <float[3,M] a> { a = d.F (x) y = d.G (a) })");
  EXPECT_EQ(type_of(model.graph, "a"), "f32[3,M]");
  EXPECT_EQ(type_of(model.graph, "y"), "f32[K]");
}

// ---- order ----

TEST(OnnxReader, SortsNodes) {
  const ReadResult model = read_model(R"(
    g (float[2] x) => (float[2] y) { y = Neg (b) b = Abs (a) a = Exp (x) })");
  std::vector<std::string_view> order;
  for (const NodeId n : model.graph.nodes(model.graph.main())) order.push_back(model.graph.node(n).op.name);
  EXPECT_THAT(order, ElementsAre("Exp", "Abs", "Neg"));
}

TEST(OnnxReader, SortsByWhatSubgraphsCapture) {
  const ReadResult model = read_model(R"(
    g (bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) { p = Neg (late) }, else_branch = e () => (float[2] q) { q = Neg (x) }>
      late = Exp (x)
    })");
  std::vector<std::string_view> order;
  for (const NodeId n : model.graph.nodes(model.graph.main())) order.push_back(model.graph.node(n).op.name);
  EXPECT_THAT(order, ElementsAre("Exp", "If"));
}

TEST(OnnxReader, RefusesACycle) {
  const Diagnostic d = refused_model(R"(
    g (float[2] x) => (float[2] y) { [one] a = Add (x, b) [two] b = Neg (a) y = Neg (a) })");
  EXPECT_EQ(d.code, Code::input_graph);
  EXPECT_THAT(d.message, HasSubstr("cycle"));
  EXPECT_THAT(d.message, HasSubstr("'one' -> 'two'"));
}

TEST(OnnxReader, RefusesANodeThatUsesItself) {
  EXPECT_THAT(refused_model("g (float[2] x) => (float[2] y) { y = Add (x, y) }").message, HasSubstr("cycle"));
}

// ---- names ----

TEST(OnnxReader, RefusesWhatIsNeverDefined) {
  const Diagnostic d = refused_model("g (float[2] x) => (float[2] y) { [n] y = Add (x, weight) }");
  EXPECT_EQ(d.code, Code::input_graph);
  EXPECT_EQ(d.node, "n");
  EXPECT_EQ(d.op, "Add");
  EXPECT_THAT(d.message, HasSubstr("'weight'"));
  EXPECT_THAT(refused_model("g (float[2] x) => (float[2] z) { y = Neg (x) }").message, HasSubstr("output 'z'"));
}

TEST(OnnxReader, RefusesNamesDefinedTwice) {
  for (const std::string_view text : {
           "g (float[2] x) => (float[2] y) { y = Neg (x) y = Abs (x) }",
           "g (float[2] x) => (float[2] x) { x = Neg (x) }",
           "g (float[2] x, float[2] x) => (float[2] y) { y = Neg (x) }",
           "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { w = Neg (x) y = Neg (w) }",
           "g (float[2] x) => (float[2] y, float[2] y) { y = Neg (x) }",
       }) {
    EXPECT_EQ(refused_model(text).code, Code::input_graph) << text;
  }
  const auto twice = [](onnx::ModelProto& m) { *m.mutable_graph()->add_initializer() = m.graph().initializer(0); };
  const Diagnostic d = refused_model("g (float[1] x) => (float[1] y) <float[1] w = {1}> { y = Add (x, w) }", twice);
  EXPECT_THAT(d.message, HasSubstr("value 'w' is defined twice"));
}

TEST(OnnxReader, RefusesNamesThatAreNoText) {
  const auto spoil = [](onnx::ModelProto& m) { m.mutable_graph()->mutable_node(0)->set_output(0, "\xFF\xFE"); };
  EXPECT_EQ(refused_model("g (float[1] x) => (float[1] x) { y = Neg (x) }", spoil).code, Code::input_malformed);
}

// ---- subgraphs ----

TEST(OnnxReader, SubgraphsSeeOuterValues) {
  const ReadResult model = read_model(R"(
    g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
      a = Add (x, w)
      y = If (c) <
        then_branch = t () => (float[2] p) <float[2] v = {3, 4}> { p = Mul (a, v) },
        else_branch = e () => (float[2] q) {
          q = If (c) <then_branch = tt () => (float[2] r) { r = Sub (a, w) },
                      else_branch = ee () => (float[2] s) { s = Div (a, w) }>
        }>
    })");
  const Graph& g = model.graph;
  EXPECT_EQ(g.regions().size(), 5u);
  EXPECT_EQ(name_of(model, node(model, "Sub").inputs[0]), "a");
  EXPECT_EQ(name_of(model, node(model, "Mul").inputs[1]), "v");
  const RegionId inner = node(model, "Sub").region;
  EXPECT_EQ(g.region(inner).name, "tt");
  EXPECT_EQ(g.region(g.region(inner).parent).name, "e");
}

TEST(OnnxReader, InnerNamesShadowOuterOnes) {
  const ReadResult model = read_model(R"(
    g (bool c, float[2] x) => (float[2] y) {
      a = Exp (x)
      y = If (c) <then_branch = t () => (float[2] y) { a = Log (x) y = Neg (a) },
                  else_branch = e () => (float[2] y) { y = Abs (a) }>
    })");
  const Graph& g = model.graph;
  EXPECT_EQ(g.value(node(model, "Neg").inputs[0]).producer, node_of(g, "Log"));
  EXPECT_EQ(g.value(node(model, "Abs").inputs[0]).producer, node_of(g, "Exp"));
  // The outer values have their names, whatever the subgraphs inside call theirs.
  EXPECT_EQ(g.value(g.find_value("y")).producer, node_of(g, "If"));
  EXPECT_EQ(g.value(g.find_value("a")).producer, node_of(g, "Exp"));
  EXPECT_EQ(g.region(node(model, "Neg").region).outputs[0].name, "y");
}

TEST(OnnxReader, SubgraphInputsAndDefaults) {
  const ReadResult model = read_model(R"(
    g (int64 n, float[2] x) => (float[2] y) {
      y = Loop (n, , x) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] s2) <float[2] s = {1, 2}> {
        k2 = Identity (k) s2 = Neg (s)
      }>
    })");
  const Node& loop = node(model, "Loop");
  EXPECT_FALSE(loop.inputs[1]);
  EXPECT_EQ(model.graph.region(loop.regions[0].second).inputs.size(), 3u);
  EXPECT_FALSE(model.graph.value(node(model, "Neg").inputs[0]).is_constant());
}

TEST(OnnxReader, ErrorsInSubgraphsNameTheNode) {
  const Diagnostic d = refused_model(R"(
    g (bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) { [inner] p = Neg (gone) },
                  else_branch = e () => (float[2] q) { q = Neg (x) }>
    })");
  EXPECT_EQ(d.node, "inner");
  EXPECT_EQ(d.code, Code::input_graph);
}

// ---- versions ----

TEST(OnnxReader, AiOnnxIsTheDefaultDomain) {
  const ReadResult model = read_model(R"(
    <ir_version: 10, opset_import: ["ai.onnx" : 17]>
    g (float[2] x) => (float[2] y) { a = ai.onnx.Neg (x) y = Abs (a) })");
  EXPECT_EQ(model.graph.opsets.at(""), 17);
  EXPECT_EQ(node(model, "Neg").op.domain, "");
}

TEST(OnnxReader, RefusesVersionsThatItDoesNotKnow) {
  const std::string body = "g (float[1] x) => (float[1] y) { y = Neg (x) }";
  const auto refused_with = [&](const std::string& header) { return refused_model("<" + header + ">\n" + body); };
  const Diagnostic opset = refused_with("ir_version: 10, opset_import: [\"\" : 99]");
  EXPECT_EQ(opset.code, Code::input_opset);
  EXPECT_THAT(opset.message, HasSubstr("opset 99 of ai.onnx; this build knows opsets up to 28"));
  EXPECT_EQ(refused_with("ir_version: 10, opset_import: [\"\" : 0]").code, Code::input_opset);
  EXPECT_EQ(refused_with("ir_version: 10, opset_import: [\"\" : 17, \"ai.onnx\" : 18]").code, Code::input_opset);
  EXPECT_EQ(refused_with("ir_version: 10, opset_import: [\"ai.onnx.ml\" : 3]").code, Code::input_opset);
  EXPECT_EQ(refused_with("ir_version: 99, opset_import: [\"\" : 17]").code, Code::input_opset);
  EXPECT_EQ(refused_with("ir_version: 10, opset_import: []").code, Code::input_opset);
  const auto no_ir = [](onnx::ModelProto& m) { m.clear_ir_version(); };
  EXPECT_EQ(refused_model(body, no_ir).code, Code::input_malformed);
}

TEST(OnnxReader, RefusesOperatorsOutsideOfTheImportedOpset) {
  const Diagnostic early = refused_model("g (float[1] x) => (float[1] y) { [n] y = Gelu (x) }");
  EXPECT_EQ(early.code, Code::input_opset);
  EXPECT_EQ(early.node, "n");
  EXPECT_THAT(early.message, HasSubstr("newer than opset 17"));
  const Diagnostic late = refused_model("g (float[1] x) => (float[1] y) { y = Upsample (x) }");
  EXPECT_THAT(late.message, HasSubstr("was removed in opset 10"));
  const Diagnostic domain = refused_model("g (float[1] x) => (float[1] y) { y = d.Op (x) }");
  EXPECT_EQ(domain.code, Code::input_opset);
  EXPECT_THAT(domain.message, HasSubstr("domain 'd'"));
}

TEST(OnnxReader, UnknownOperatorsAreLeftToThePlugins) {
  const ReadResult model = read_model("g (float[1] x) => (float[1] y) { y = NoSuchOperator (x) }");
  EXPECT_EQ(node(model, "NoSuchOperator").op.version, 17);
  EXPECT_FALSE(model.semantics->knows(node(model, "NoSuchOperator").op));
}

// ---- nodes that are not valid ----

TEST(OnnxReader, ChecksNodesAgainstTheirSchema) {
  for (const auto& [text, part] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"[n] y = Add (x)", "input size 1"},
           {"[n] y, z = Neg (x)", "output size 2"},
           {"[n] y = Neg <bogus = 1> (x)", "Unrecognized attribute"},
           {"[n] y = Softmax <axis = 1.5> (x)", "Mismatched attribute type"},
           {"[n] y = Cast (x)", "Required attribute 'to'"},
           {"[n] y = Add (, x)", "marked single"},
           {"[n] y = Concat <axis = 0> (x, , x)", "is missing"},
           {"[n] y = Neg (x) z = Constant <value_int = 1, value_float = 1.0> ()", "exactly one"},
       }) {
    const std::string model = "g (float[1] x) => (float[1] y) { " + std::string(text) + " }";
    const Diagnostic d = refused_model(model);
    EXPECT_EQ(d.code, Code::input_malformed) << text;
    EXPECT_THAT(d.message, HasSubstr(part));
    EXPECT_FALSE(d.node.empty());
  }
}

TEST(OnnxReader, RefusesAttributesThatItCannotCarry) {
  const Diagnostic d = refused_model("g () => (float y) { y = Optional <type: type_proto = float[2]> () }");
  EXPECT_EQ(d.code, Code::unsupported_op);
  EXPECT_THAT(d.message, HasSubstr("'type' holds a type"));
  EXPECT_EQ(d.op, "Optional");
}

TEST(OnnxReader, RefusesInputsThatAreNoTensors) {
  EXPECT_THAT(refused_model("g (seq(float[2]) x) => (int64 y) { y = SequenceLength (x) }").message,
              HasSubstr("input 'x' is of kind sequence"));
  EXPECT_EQ(refused_model("g (float8e4m3fn[2] x) => (float[2] y) { y = Cast <to = 1> (x) }").code,
            Code::unsupported_type);
  const auto untyped = [](onnx::ModelProto& m) { m.mutable_graph()->mutable_input(0)->clear_type(); };
  EXPECT_THAT(refused_model("g (float[2] x) => (float[2] y) { y = Neg (x) }", untyped).message, HasSubstr("no type"));
}

TEST(OnnxReader, RefusesDeclarationsThatContradict) {
  const Diagnostic d = refused_model("g () => (float[3] w) <float[2] w = {1, 2}> { }");
  EXPECT_EQ(d.code, Code::input_type);
  EXPECT_THAT(d.message, HasSubstr("'w' as f32[3]"));
  EXPECT_THAT(d.message, HasSubstr("f32[2]"));
}

TEST(OnnxReader, NotesWhatItLeavesOut) {
  const std::string bytes = model_bytes("g (float[1] x) => (float[1] y) { y = Neg (x) }", [](onnx::ModelProto& m) {
    m.mutable_graph()->add_quantization_annotation()->set_tensor_name("x");
  });
  const Result<ReadResult> model = read_bytes(bytes);
  ASSERT_TRUE(model.ok());
  ASSERT_EQ(model->notes.size(), 1u);
  EXPECT_EQ(model->notes[0].code, Code::warn_ignored);
}

// ---- --shape ----

constexpr std::string_view kDynamic = R"(
  <ir_version: 10, opset_import: ["" : 17, "d" : 1]>
  g (float[N,3] x, float z) => (float[N,3] y) <float[N,3] a> { a = Neg (x) y = d.Op (a, z) })";

TEST(OnnxReader, ShapesCanBeFixed) {
  const ReadResult model = read_model(kDynamic, {.shapes = {{"x", {5, 3}}}});
  EXPECT_EQ(type_of(model.graph, "x"), "f32[5,3]");
  EXPECT_EQ(type_of(model.graph, "a"), "f32[*]");  // what was declared of it may be stale
  EXPECT_EQ(type_of(model.graph, "y"), "f32[*]");
  EXPECT_EQ(type_of(read_model(kDynamic, {.shapes = {{"x", {7, 4}}}}).graph, "x"), "f32[7,4]");
}

TEST(OnnxReader, ShapesMustFitTheInputs) {
  const std::string bytes = model_bytes(kDynamic);
  const Diagnostic unknown = refused(bytes, {.shapes = {{"q", {1}}}});
  EXPECT_EQ(unknown.code, Code::usage);
  EXPECT_THAT(unknown.hint, HasSubstr("'x' f32[N,3], 'z'"));
  EXPECT_EQ(refused(bytes, {.shapes = {{"x", {1, 2, 3}}}}).code, Code::usage);
  EXPECT_EQ(refused(bytes, {.shapes = {{"x", {1, -3}}}}).code, Code::usage);
}

}  // namespace
}  // namespace gantry::onnx_format
