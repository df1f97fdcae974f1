// ONNX to ONNX: models written channels-last, a Transpose around each Conv, as exporters of other frameworks write
// them.
#include <fstream>
#include <set>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "tests/models/networks.hpp"
#include "tests/support/onnx_text.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

/// Every value is channels-last.
class LastText : public NetworkText {
 public:
  std::string first(const std::string& x) { return node("Transpose<perm = [0,3,1,2]>", x); }
  std::string last(const std::string& x) { return node("Transpose<perm = [0,2,3,1]>", x); }
  std::string conv_last(const std::string& x, int in, int out, int kernel = 3, int stride = 1, int group = 1) {
    return last(conv(first(x), in, out, kernel, stride, group));
  }
};

Row residual() {
  LastText t;
  std::string x = t.node("Relu", t.conv_last("x", 3, 8, 3, 2));
  for (int block = 0; block < 2; ++block) {
    const std::string wide = t.clip6(t.conv_last(x, 8, 24, 1)), deep = t.clip6(t.conv_last(wide, 24, 24, 3, 1, 24));
    x = t.node("Add", x + ", " + t.conv_last(deep, 24, 8, 1));
  }
  const std::string pooled = t.node("ReduceMean<keepdims = 0>", x + ", " + t.ints("1,2"));
  return t.done("float[1,16,16,3] x", t.node("Softmax", t.node("MatMul", pooled + ", " + t.weight("8,10"))));
}

/// Concat, Split, Pad, Resize, batch norm and pools between the convolutions; an image comes out.
Row encoder() {
  LastText t;
  const std::string a = t.node("Relu", t.conv_last("x", 3, 8));
  const std::string padded = t.node("Pad", a + ", " + t.ints("0,1,1,0,0,1,1,0"));
  const std::string pool = t.last(t.node("MaxPool<kernel_shape = [3,3], strides = [2,2]>", t.first(padded)));
  const std::string joined = t.node("Concat<axis = 3>", pool + ", " + t.conv_last(pool, 8, 4, 1));
  const std::string wide = t.conv_last(joined, 12, 8);
  const std::string norm = t.last(t.node("BatchNormalization", t.first(t.node("Sigmoid", wide)) + ", " + t.weight("8") +
                                                                   ", " + t.weight("8") + ", " + t.weight("8") + ", " +
                                                                   t.node("Abs", t.weight("8"))));
  const std::string scales = t.node("Constant<value_floats = [1.0, 1.0, 2.0, 2.0]>", "");
  const std::string up = t.last(t.node("Resize<mode = \"nearest\">", t.first(norm) + ", , " + scales));
  const std::string sum = t.node("Mul", t.node("Add", up + ", " + a) + ", " + t.weight("8"));
  return t.done("float[1,16,16,3] x", t.conv_last(sum, 8, 2));
}

/// Attention over the pixels of a feature map.
Row tokens() {
  LastText t;
  const std::string map = t.node("Relu", t.conv_last("x", 3, 16, 3, 2));
  const std::string flat = t.node("Reshape", map + ", " + t.ints("1,16,16"));
  const std::string q = t.node("MatMul", flat + ", " + t.weight("16,16"));
  const std::string k = t.node("Transpose<perm = [0,2,1]>", t.node("MatMul", flat + ", " + t.weight("16,16")));
  const std::string read = t.node("MatMul", t.node("Softmax<axis = -1>", t.node("MatMul", q + ", " + k)) + ", " + flat);
  const std::string back = t.node("Reshape", t.node("Add", read + ", " + flat) + ", " + t.ints("1,4,4,16"));
  return t.done("float[1,8,8,3] x", t.node("ReduceMax<keepdims = 1>", t.conv_last(back, 16, 8) + ", " + t.ints("1,2")));
}

struct Case {
  std::string name;
  Row (*network)();
  std::size_t preserve, nchw;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class OnnxToOnnx : public testing::TestWithParam<Case> {
 protected:
  OnnxToOnnx() : folder_(fs::temp_directory_path() / ("gantry_onnx_" + GetParam().name + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    Row row = GetParam().network();
    write_model(folder_ / "m.onnx", row);
  }
  ~OnnxToOnnx() override {
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }
  Report convert(const std::string& name, const std::string& io) {
    LayoutSettings layout;
    layout.io = io;
    Report report;
    const Status s = convert_model(folder_ / "m.onnx", folder_ / name, layout, {}, report);
    EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
    EXPECT_TRUE(report.layout.optimal);
    return report;
  }
  onnx::ModelProto read(const std::string& name) const {
    onnx::ModelProto model;
    std::ifstream in(folder_ / name, std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&in));
    return model;
  }
  fs::path folder_;
};

TEST_P(OnnxToOnnx, KeepsItsNumbersAndLosesTheInnerTransposes) {
  const Report report = convert("a.onnx", "preserve");
  EXPECT_EQ(report.transposes, GetParam().preserve);
  EXPECT_EQ(static_cast<std::int64_t>(report.transpose_bytes + report.transposes * 8192), report.layout.lower_bound);
  expect_same_numbers(folder_ / "m.onnx", folder_ / "a.onnx", 1e-4);
  convert("b.onnx", "preserve");
  EXPECT_EQ(read("a.onnx").SerializeAsString(), read("b.onnx").SerializeAsString());
}

TEST_P(OnnxToOnnx, IsWholeForOthersToRead) {
  convert("a.onnx", "preserve");
  onnx::ModelProto model = read("a.onnx");
  EXPECT_NO_THROW(onnx::checker::check_model(model, true));
  std::set<std::string> typed, made, names;
  for (const auto& v : model.graph().value_info()) typed.insert(v.name());
  for (const auto& v : model.graph().output()) typed.insert(v.name());
  for (const auto& n : model.graph().node()) {
    EXPECT_TRUE(names.insert(n.name()).second) << n.name();
    for (const auto& y : n.output()) {
      EXPECT_TRUE(made.insert(y).second) << y;
      EXPECT_TRUE(typed.contains(y)) << y;
    }
  }
}

TEST_P(OnnxToOnnx, ChannelsFirstAtTheEdges) {
  const Report report = convert("a.onnx", "nchw");
  EXPECT_EQ(report.transposes, GetParam().nchw);
  EXPECT_EQ(report.inputs[0].perm, (std::vector<std::int64_t>{0, 3, 1, 2}));
}

/// Converts ONNX text to ONNX, and compares the numbers.
Report round_trip(const std::string& text, const LayoutSettings& layout = {}) {
  const fs::path folder = fs::temp_directory_path() / ("gantry_onnx_" + std::to_string(getpid()));
  fs::create_directories(folder);
  Report report;
  const fs::path in = write_onnx(folder / "in.onnx", text), out = folder / "out.onnx";
  const Status s = convert_model(in, out, layout, {}, report);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
  if (s.ok()) expect_same_numbers(in, out, 1e-5);
  fs::remove_all(folder);
  return report;
}

const std::string kTwoConvolutions = R"(
    a = Transpose<perm = [0,3,1,2]>(x) b = Conv(a, w) c = Transpose<perm = [0,2,3,1]>(b)
    d = Relu(c)
    e = Transpose<perm = [0,3,1,2]>(d) f = Conv(e, w) y = Transpose<perm = [0,2,3,1]>(f))";
const std::string kWeights = " <float[2,2,1,1] w = {1, 2, 3, -4}> ";
const std::string kHead = R"(<ir_version: 8, opset_import: ["" : 17]> g )";

TEST(OnnxForms, ASymbolicDimensionIsOneAtom) {
  const Report report =
      round_trip(kHead + "(float[N,4,5,2] x) => (float[N,4,5,2] y)" + kWeights + "{" + kTwoConvolutions + "}");
  EXPECT_TRUE(report.layout.optimal);
  EXPECT_EQ(report.transposes, 2u);
  EXPECT_EQ(report.inputs[0].type, "f32[N,4,5,2]");
}

TEST(OnnxForms, SeveralOpenDimensionsAreRightToo) {
  const Report report =
      round_trip(kHead + "(float[N,H,W,2] x) => (float[N,H,W,2] y)" + kWeights + "{" + kTwoConvolutions + "}");
  EXPECT_LE(report.transposes, 4u);
}

TEST(OnnxForms, SubgraphsAreRight) {
  const Report report = round_trip(kHead + "(bool first, float[1,4,5,2] x) => (float[1,4,5,2] z)" + kWeights +
                                   "{ z = If(first) <then_branch = t () => (float[1,4,5,2] y) {" + kTwoConvolutions +
                                   "}, else_branch = e () => (float[1,4,5,2] o) { o = Neg(x) }> }");
  EXPECT_EQ(report.target_ops.at("If"), 1u);
}

TEST(OnnxForms, FunctionsAreExpandedAndOldFormsAreNew) {
  const Report report = round_trip(R"(<ir_version: 8, opset_import: ["" : 11, "local" : 1]>
    g (float[2,3,4] x) => (float[2,3,4] y) { a = local.twice(x) y = Softmax<axis = 2>(a) }
    <domain: "local", opset_import: ["" : 11]> twice (u) => (v) { v = Add(u, u) })");
  EXPECT_FALSE(report.target_ops.contains("local::twice"));
}

TEST(OnnxForms, RanksBeyondThoseOfKernels) {
  const Report report = round_trip(kHead + R"((float[1,2,1,2,1,2,1,3,2] x) => (float[2,3,1,2,1,2,1,2,1] y) {
    a = Transpose(x) b = Relu(a) c = Transpose(b) d = Neg(c) y = Transpose(d) })");
  EXPECT_EQ(report.transposes, 1u);
}

TEST(OnnxForms, SingleInputsByName) {
  LayoutSettings layout;
  layout.io_by_name = {{"x", "nchw"}};
  Report report;
  const fs::path folder = fs::temp_directory_path() / ("gantry_onnx_io_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path in =
      write_onnx(folder / "in.onnx", kHead + "(float[1,4,4,4] x) => (float[1,4,4,4] y) { y = Relu(x) }");
  ASSERT_TRUE(convert_model(in, folder / "out.onnx", layout, {}, report).ok());
  // The type is the same; that it is reordered is told all the same.
  EXPECT_EQ(report.inputs[0].perm, (std::vector<std::int64_t>{0, 3, 1, 2}));
  EXPECT_THAT(report.outputs[0].perm, testing::IsEmpty());
  EXPECT_EQ(report.transposes, 1u);
  onnx::ModelProto model;
  std::ifstream file(folder / "out.onnx", std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&file));
  std::string said;
  for (const auto& p : model.metadata_props())
    if (p.key() == "gantry.reordered") said = p.value();
  EXPECT_EQ(said, "x: 0,3,1,2");
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxToOnnx,
                         testing::Values(Case{"residual", residual, 1, 0}, Case{"encoder", encoder, 2, 0},
                                         Case{"tokens", tokens, 4, 3}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace gantry::test
