// The writer of ONNX files: names, types, opsets, subgraphs, external data; what it refuses.
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/reader.hpp"
#include "host/formats/onnx/writer.hpp"
#include "host/ir/text.hpp"
#include "tests/support/onnx_text.hpp"

namespace gantry::onnx_format {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class OnnxWriter : public testing::Test {
 protected:
  OnnxWriter() : folder_(fs::temp_directory_path() / ("gantry_onnx_writer_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~OnnxWriter() override {
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }
  fs::path path(const std::string& name = "out.onnx") const { return folder_ / name; }

  Graph read_text(const std::string& text) const {
    auto r = read(test::write_onnx(path("in.onnx"), text));
    EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().message);
    return std::move(r->graph);
  }
  onnx::ModelProto written(const Graph& g, const WriteOptions& options = {}) const {
    const auto stats = write(g, path(), options);
    EXPECT_TRUE(stats.ok()) << (stats.ok() ? "" : stats.error().message);
    onnx::ModelProto model;
    std::ifstream in(path(), std::ios::binary);
    EXPECT_TRUE(model.ParseFromIstream(&in));
    if (stats.ok()) {
      EXPECT_EQ(stats->file_bytes, fs::file_size(path()));
    }
    EXPECT_NO_THROW(onnx::checker::check_model(path().string()));
    return model;
  }
  fs::path folder_;
};

std::vector<std::string> operators(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& n : graph.node()) names.push_back(n.op_type());
  return names;
}

TEST_F(OnnxWriter, ReadsBackAsItWas) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[N,4] x) => (float[N,4] y) <float[4] w = {1, 2, 3, 4}> { [first] a = Mul(x, w) [second] y = Relu(a) })";
  Graph g = read_text(text);
  const std::string before = print(g);
  const onnx::ModelProto model = written(g);
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_EQ(model.ir_version(), 8);
  EXPECT_EQ(model.producer_name(), "gantry");
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "N");
  auto again = read(path());
  ASSERT_TRUE(again.ok());
  again->graph.source = g.source;
  again->graph.producer = g.producer;
  EXPECT_EQ(print(again->graph), before);
}

TEST_F(OnnxWriter, OutputsHaveTheirNamesWhateverStandsForThem) {
  Graph g = read_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[4] x) => (float[4] y, float[4] z, float[4] k) <float[4] w = {1, 2, 3, 4}> {
      y = Relu(x) z = Identity(x) k = Identity(w) })");
  const Region& main = g.region(g.main());
  const ValueId relu = main.outputs[0].value, w = g.find_value("w");
  for (const NodeId n : g.nodes(g.main()))
    if (g.node(n).op.name == "Identity") g.replace_uses(g.node(n).outputs[0], g.node(n).inputs[0]);
  g.set_output(g.main(), 1, relu);
  g.set_output(g.main(), 2, w);
  g.erase_dead();
  const onnx::ModelProto model = written(g);
  EXPECT_THAT(operators(model.graph()), ElementsAre("Relu", "Identity", "Identity"));
  EXPECT_EQ(model.graph().output(0).name(), "y");
  EXPECT_EQ(model.graph().output(1).name(), "z");
  EXPECT_EQ(model.graph().output(2).name(), "k");
}

TEST_F(OnnxWriter, NodesGetNamesOfTheirOwn) {
  Graph g = read_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[4] x) => (float[4] y) { [same] a = Relu(x) [same] b = Neg(a) y = Abs(b) })");
  const onnx::ModelProto model = written(g);
  EXPECT_EQ(model.graph().node(0).name(), "same");
  EXPECT_EQ(model.graph().node(1).name(), "same_1");
  EXPECT_EQ(model.graph().node(2).name(), "y");
}

TEST_F(OnnxWriter, OtherDomainsAreImported) {
  Graph g = read_text(R"(<ir_version: 8, opset_import: ["" : 17, "qonnx.custom_op.general" : 2, "unused" : 3]>
    g (float[1,4] x) => (float[1,4] y) <float s = {0.5}, float z = {0}, float b = {4}> {
      q = qonnx.custom_op.general.Quant <narrow = 0, rounding_mode = "ROUND", signed = 1> (x, s, z, b) y = Relu(q) })");
  g.set_type(g.find_value("q"), Type::of(DType::float32, {1, 4}));
  const onnx::ModelProto model = written(g);
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "qonnx.custom_op.general");
  EXPECT_EQ(model.opset_import(1).version(), 2);
  EXPECT_EQ(model.graph().node(0).domain(), "qonnx.custom_op.general");
  EXPECT_EQ(model.graph().value_info(0).name(), "q");
}

TEST_F(OnnxWriter, SubgraphsSeeTheConstantsOfTheMainGraph) {
  Graph g = read_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (bool c, float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
      y = If (c) <then_branch = t () => (float[4] a) { a = Add(x, w) },
                  else_branch = e () => (float[4] b) { b = Identity(x) }> })");
  const onnx::ModelProto model = written(g);
  EXPECT_EQ(model.graph().initializer_size(), 1);
  ASSERT_EQ(model.graph().node(0).attribute_size(), 2);
  for (const auto& a : model.graph().node(0).attribute()) EXPECT_EQ(a.g().node_size(), 1);
}

TEST_F(OnnxWriter, TheOpsetIsThatOfTheNewestForm) {
  Graph g = read_text(R"(<ir_version: 7, opset_import: ["" : 11]>
    g (float[2,4] x) => (float[2,4] y) { a = Relu(x) y = Softmax<axis = 1>(a) })");
  EXPECT_EQ(written(g).opset_import(0).version(), 11);
  const NodeId relu = g.region(g.main()).first;
  g.set_op(relu, {"onnx", "", "Relu", 14});
  const auto refused = write(g, path("no.onnx"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::output_format);
  EXPECT_THAT(refused.error().message, HasSubstr("Softmax"));
  EXPECT_FALSE(fs::exists(path("no.onnx")));
  g.set_op(g.node(relu).next, {"onnx", "", "Softmax", 13});
  EXPECT_EQ(written(g).opset_import(0).version(), 14);
}

/// y = x + w^T, with w of 64 KiB.
Graph weighted() {
  std::vector<float> values(128 * 128);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Graph g;
  g.name = "g";
  g.opsets[""] = 17;
  const ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {128, 128}));
  const Constant w = Constant::of<float>({128, 128}, std::span<const float>(values));
  const ValueId t = g.add_constant(*w.permute(std::vector<std::int64_t>{1, 0}), "w");
  const ValueId k = g.add_constant(w, "k");
  const NodeId a = g.add_node(g.end(g.main()), {"onnx", "", "Add", 14}, std::vector{x, t}, 1, {}, "a");
  const NodeId b =
      g.add_node(g.end(g.main()), {"onnx", "", "Add", 14}, std::vector{g.node(a).outputs[0], k}, 1, {}, "b");
  for (const NodeId n : {a, b}) g.set_type(g.node(n).outputs[0], Type::of(DType::float32, {128, 128}));
  g.add_output(g.main(), "y", g.node(b).outputs[0]);
  return g;
}

TEST_F(OnnxWriter, WeightsInsideAndBeside) {
  for (const bool external : {false, true}) {
    const onnx::ModelProto model = written(weighted(), {.external_data = external});
    ASSERT_EQ(model.graph().initializer_size(), 2);
    EXPECT_EQ(fs::exists(path("out.onnx.data")), external);
    EXPECT_EQ(model.graph().initializer(0).data_location() == onnx::TensorProto::EXTERNAL, external);
    const auto again = read(path());
    ASSERT_TRUE(again.ok()) << again.error().message;
    const auto w = again->graph.value(again->graph.find_value("w")).constant.read<float>(0, 3);
    ASSERT_TRUE(w.ok());
    EXPECT_THAT(*w, ElementsAre(0, 128, 256));
  }
  // Beyond what one file holds they go beside it by themselves.
  const auto stats = write(weighted(), path("big.onnx"), {.most_bytes = 100'000});
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->external_bytes, 2 * 65536u);
  EXPECT_EQ(stats->weight_bytes, 2 * 65536u);
  EXPECT_TRUE(fs::exists(path("big.onnx.data")));
}

}  // namespace
}  // namespace gantry::onnx_format
