// Types by the ONNX library over our graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "onnx_support.hpp"

namespace gantry::onnx_format {
namespace {

using ::testing::HasSubstr;

Graph inferred(std::string_view text, const ReadOptions& options = {}) {
  ReadResult model = read_model(text, options);
  const Status status = infer_all(model, model.graph);
  EXPECT_TRUE(status.ok()) << status.error().node << ": " << status.error().message;
  return std::move(model.graph);
}

Diagnostic contradiction(std::string_view text) {
  ReadResult model = read_model(text);
  Status status = infer_all(model, model.graph);
  if (!status.ok()) return status.take_error();
  ADD_FAILURE() << "was inferred:\n" << print(model.graph);
  return {};
}

TEST(OnnxInference, ShapesAndTypes) {
  const Graph g = inferred(R"(
    g (float[1,3,32,32] x, float[8,3,3,3] w) => (y) <int64[2] to = {1, -1}> {
      a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)
      b = Reshape (a, to)
      y = Cast <to = 7> (b)
    })");
  EXPECT_EQ(type_of(g, "a"), "f32[1,8,16,16]");
  EXPECT_EQ(type_of(g, "b"), "f32[1,2048]");
  EXPECT_EQ(type_of(g, "y"), "i64[1,2048]");
}

TEST(OnnxInference, SymbolsPassThrough) {
  const Graph g = inferred("g (float[N,3] x, float[3,M] w) => (y) { a = Neg (x) y = MatMul (a, w) } ");
  EXPECT_EQ(type_of(g, "a"), "f32[N,3]");
  EXPECT_EQ(type_of(g, "y"), "f32[N,M]");
}

TEST(OnnxInference, KnowsMoreThanItsOperatorSays) {
  const Graph g = inferred("g (float[N,3] x) => (float[2,3] y) { a = Neg (x) y = Abs (a) }");
  EXPECT_EQ(type_of(g, "y"), "f32[2,3]");  // declared; the operator says [N,3]
}

TEST(OnnxInference, OldFormsHaveTheirOwnRules) {
  const Graph g = inferred(R"(
    <ir_version: 7, opset_import: ["" : 11]> g (float[2,3,4] x) => (y) { y = ReduceSum <axes = [1], keepdims = 0> (x) })");
  EXPECT_EQ(type_of(g, "y"), "f32[2,4]");
}

TEST(OnnxInference, FixedShapesGoThrough) {
  const std::string_view text = "g (float[N,3] x) => (float[N,3] y) <float[N,3] a> { a = Neg (x) y = Abs (a) }";
  const Graph g = inferred(text, {.shapes = {{"x", {5, 3}}}});
  EXPECT_EQ(type_of(g, "a"), "f32[5,3]");
  EXPECT_EQ(type_of(g, "y"), "f32[5,3]");
}

TEST(OnnxInference, DefaultsAndTensorsAsAttributes) {
  const Graph g = inferred(R"(
    g () => (y, z) {
      s = Constant <value_ints = [2, 3]> ()
      y = ConstantOfShape <value = int32[1] {7}> (s)
      z = ConstantOfShape (s)
    })");
  EXPECT_EQ(type_of(g, "y"), "i32[2,3]");
  EXPECT_EQ(type_of(g, "z"), "f32[2,3]");
}

TEST(OnnxInference, TransformedConstantsAreSeen) {
  Graph g;
  const ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {2, 3, 4}));
  const Constant stored = Constant::of<std::int64_t>({3}, {1, 2, 12});
  const Result<Constant> backwards = stored.slice({.starts = {2}, .steps = {-1}, .sizes = {3}});
  ASSERT_TRUE(backwards.ok());
  const ValueId operands[] = {x, g.add_constant(*backwards)};
  const NodeId reshape = g.add_node(g.end(g.main()), Op{"onnx", "", "Reshape", 14}, operands, 1);
  ASSERT_TRUE(make_semantics()->infer(g, reshape).ok());
  EXPECT_EQ(g.value(g.node(reshape).output(0)).type.str(), "f32[12,2,1]");
}

TEST(OnnxInference, UnknownOperatorsAreLeftAlone) {
  const Graph g = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "d" : 1]> g (float[2] x) => (y) { a = d.Op (x) y = Neg (a) })");
  EXPECT_EQ(type_of(g, "a"), "?[*]");
}

// ---- shapes computed from shapes ----

TEST(OnnxInference, ElementsOfComputedShapes) {
  const Graph g = inferred(R"(
    g (float[N,6,4] x) => (y) {
      s = Shape (x)
      zero = Constant <value_int = 0> ()
      n = Gather <axis = 0> (s, zero)
      axes = Constant <value_ints = [0]> ()
      n1 = Unsqueeze (n, axes)
      rest = Constant <value_ints = [24]> ()
      to = Concat <axis = 0> (n1, rest)
      y = Reshape (x, to)
    })");
  EXPECT_EQ(type_of(g, "y"), "f32[N,24]");
}

TEST(OnnxInference, LengthOfAComputedShapeIsARank) {
  const Graph g = inferred("g (float[K] x, int64[3] s) => (y) { y = Expand (x, s) }");
  EXPECT_EQ(type_of(g, "y"), "f32[?,?,?]");
}

// ---- contradictions ----

TEST(OnnxInference, ContradictionsNameNodeAndTypes) {
  const Diagnostic add = contradiction("g (float[2] x, float[3] z) => (y) { [n] y = Add (x, z) }");
  EXPECT_EQ(add.code, Code::input_type);
  EXPECT_EQ(add.node, "n");
  EXPECT_EQ(add.op, "Add");
  EXPECT_THAT(add.message, HasSubstr("ncompatible dimensions"));

  const Diagnostic product = contradiction("g (float[2,3] x, float[4,5] z) => (y) { y = MatMul (x, z) }");
  EXPECT_EQ(product.code, Code::input_type);

  const Diagnostic declared = contradiction("g (float[2] x) => (float[3] y) { [n] y = Neg (x) }");
  EXPECT_EQ(declared.code, Code::input_type);
  EXPECT_EQ(declared.node, "n");
  EXPECT_THAT(declared.message, HasSubstr("f32[2]"));
  EXPECT_THAT(declared.message, HasSubstr("f32[3]"));
  EXPECT_EQ(contradiction("g (float[2] x) => (int32[2] y) { y = Neg (x) }").code, Code::input_type);
}

TEST(OnnxInference, WantOfKnowledgeIsNoContradiction) {
  const Graph g = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "d" : 1]>
    g (float[2] x) => (y) { a = d.Op (x) y = Add (a, x) z = Squeeze (a) })");
  EXPECT_EQ(type_of(g, "x"), "f32[2]");
}

// ---- subgraphs ----

TEST(OnnxInference, If) {
  const Graph g = inferred(R"(
    g (bool c, float[2,3] x) => (y) {
      y = If (c) <then_branch = t () => (p) { p = Transpose <perm = [1, 0]> (x) },
                  else_branch = e () => (q) { axis = Constant <value_ints = [3, 2]> () q = Reshape (x, axis) }>
    })");
  EXPECT_EQ(type_of(g, "p"), "f32[3,2]");
  EXPECT_EQ(type_of(g, "q"), "f32[3,2]");
  EXPECT_EQ(type_of(g, "y"), "f32[3,2]");
}

TEST(OnnxInference, BranchesOfDifferentShape) {
  const Graph g = inferred(R"(
    g (bool c, float[2,3] x, float[5,3] z) => (y) {
      y = If (c) <then_branch = t () => (p) { p = Neg (x) }, else_branch = e () => (q) { q = Neg (z) }>
    })");
  EXPECT_EQ(type_of(g, "y"), "f32[?,3]");
}

constexpr std::string_view kLoop = R"(
    g (float[2,3] x, float[3] s) => (y, last, all) {
      n = Constant <value_int = 5> ()
      y, last, all = Loop (n, , x, s) <body = b (i, k, a, b) => (k2, a2, b2, out) {
        k2 = Identity (k)
        a2 = Neg (a)
        b2 = Concat <axis = 0> (b, b)
        out = ReduceMax <axes = [0], keepdims = 0> (a)
      }>
    })";

TEST(OnnxInference, LoopKeepsShapesThatItsBodyKeeps) {
  const Graph g = inferred(kLoop);
  EXPECT_EQ(type_of(g, "a"), "f32[2,3]");
  EXPECT_EQ(type_of(g, "y"), "f32[2,3]");
  EXPECT_EQ(type_of(g, "b"), "f32[*]");  // it grows
  EXPECT_EQ(type_of(g, "last"), "f32[*]");
  EXPECT_EQ(type_of(g, "all"), "f32[5,3]");
}

TEST(OnnxInference, Scan) {
  const Graph g = inferred(R"(
    g (float[2] h, float[7,2] x) => (y, ys) {
      y, ys = Scan <num_scan_inputs = 1, body = b (hi, xi) => (ho, yo) { ho = Add (hi, xi) yo = Neg (ho) }> (h, x)
    })");
  EXPECT_EQ(type_of(g, "xi"), "f32[2]");
  EXPECT_EQ(type_of(g, "y"), "f32[2]");
  EXPECT_EQ(type_of(g, "ys"), "f32[7,2]");
}

TEST(OnnxInference, ContradictionsInSubgraphsNameTheirNode) {
  const Diagnostic d = contradiction(R"(
    g (bool c, float[2] x, float[3] z) => (y) {
      y = If (c) <then_branch = t () => (p) { [inner] p = Add (x, z) }, else_branch = e () => (q) { q = Neg (x) }>
    })");
  EXPECT_EQ(d.code, Code::input_type);
  EXPECT_EQ(d.node, "inner");
}

TEST(OnnxInference, BranchesWithDifferentNumbersOfOutputs) {
  EXPECT_EQ(contradiction(R"(
    g (bool c, float[2] x) => (y) {
      y = If (c) <then_branch = t () => (p, r) { p = Neg (x) r = Neg (x) }, else_branch = e () => (q) { q = Neg (x) }>
    })")
                .code,
            Code::input_type);
}

TEST(OnnxInference, AxesThatNoTensorHas) {
  for (const char* node : {"LayerNormalization <axis = 2147483648> (x, z)", "Softmax <axis = -2147483649> (x)",
                           "GatherND <batch_dims = -5> (x, i)", "Transpose <perm = [4294967296, 0]> (x)"})
    EXPECT_EQ(contradiction(std::string("g (float[2,3] x, float[3] z, int64[2,1] i) => (y) { y = ") + node + " }").code,
              Code::input_type)
        << node;
}

// ---- functions ----

TEST(OnnxInference, FunctionsByTheirBodies) {
  const Graph g = inferred(R"(
    <ir_version: 10, opset_import: ["" : 17, "f" : 1]>
    g (float[2,3] x) => (y) { y = f.flip (x) }
    <domain: "f", opset_import: ["" : 17]>
    flip (a) => (b) { t = Transpose <perm = [1, 0]> (a) b = Neg (t) })");
  EXPECT_EQ(type_of(g, "y"), "f32[3,2]");
}

TEST(OnnxSemantics, KnowsOperatorsAndVersions) {
  const auto semantics = make_semantics();
  EXPECT_TRUE(semantics->knows({"onnx", "", "Conv", 11}));
  EXPECT_TRUE(semantics->knows({"onnx", "ai.onnx.ml", "Scaler", 1}));
  EXPECT_FALSE(semantics->knows({"onnx", "", "Nothing", 11}));
  EXPECT_FALSE(semantics->knows({"onnx", "com.microsoft", "Attention", 1}));
  EXPECT_FALSE(semantics->knows({"tflite", "", "Conv", 11}));
  EXPECT_EQ(semantics->newest_version({"onnx", "", "Relu", 6}), 14);
  EXPECT_EQ(semantics->newest_version({"onnx", "ai.onnx.ml", "Scaler", 1}), 1);
  EXPECT_EQ(semantics->newest_version({"onnx", "", "Nothing", 1}), 0);
}

}  // namespace
}  // namespace gantry::onnx_format
