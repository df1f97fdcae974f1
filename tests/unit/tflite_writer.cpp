#include <algorithm>
#include <limits>
#include <numeric>
#include <tflite_generated.h>

#include <gmock/gmock.h>

#include "tests/unit/tflite_support.hpp"

namespace gantry::tflite_format {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A graph written to a file, and the file taken apart by the generated accessors.
class Written {
 public:
  explicit Written(const Graph& g, const WriteOptions& options = {}) {
    const auto r = write(g, folder_ / "model.tflite", options);
    if (!r.ok()) {
      ADD_FAILURE() << r.error().message;
      return;
    }
    stats = *r;
    bytes = bytes_of(folder_ / "model.tflite");
    model = tflite::GetModel(bytes.data());
  }
  const tflite::SubGraph& subgraph(unsigned i = 0) const { return *model->subgraphs()->Get(i); }
  const tflite::Tensor& tensor(unsigned i) const { return *subgraph().tensors()->Get(i); }
  const tflite::OperatorCode& code(unsigned i) const { return *model->operator_codes()->Get(i); }
  std::string metadata(std::string_view name) const {
    for (const tflite::Metadata* m : *model->metadata()) {
      if (m->name()->string_view() != name) continue;
      const auto* data = model->buffers()->Get(m->buffer())->data();
      return {data->begin(), data->end()};
    }
    return "absent";
  }

  WriteStats stats;
  std::string bytes;
  const tflite::Model* model = nullptr;

 private:
  TemporaryFolder folder_;
};

template <class V>
std::vector<std::int32_t> list(const V* v) {
  return {v->begin(), v->end()};
}

Diagnostic refused(const Graph& g) {
  const TemporaryFolder folder;
  auto r = write(g, folder / "model.tflite");
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(folder.files(), 0u);
  return r.ok() ? Diagnostic() : r.take_error();
}

TEST(TfliteWriter, RoundTrips) {
  expect_round_trip(graph_of(R"(graph "net" {
    input %image: f32[?,8,8,3]
    const %w: f32[2,1,1,3] = [1, 2, 3, 4, 5, 6]
    const %shape: i32[2] = [-1, 128]
    const %axes: i32[1] = [1]
    %c: f32[?,8,8,2] = tflite.CONV_2D@1(%image, %w, _) {fused_activation_function = "RELU6", padding = "VALID", stride_h = 1, stride_w = 1}
    %r: f32[?,128] = tflite.RESHAPE@1(%c, %shape)
    %mean: f32[?] = tflite.MEAN@1(%r, %axes)
    %custom: f32[*] = tflite.custom::Thing@3(%r) {a = 7, b = 1.5, c = "text", d = [1, 2], e = [1.5, 2.5], f = ["x", "y"]}
    output "mean" = %mean
    output "custom" = %custom
  })"));
}

TEST(TfliteWriter, EveryElementType) {
  for (const char* type :
       {"f32", "f16", "f64", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "c64", "c128", "i4", "u4"}) {
    SCOPED_TRACE(type);
    const std::string t = type;
    std::string values = "[1, 2, 3]";
    if (t[0] == 'c') values = "[1, 0, 2, 0, 3, 0]";
    if (t[0] != 'c') {
      expect_round_trip(graph_of("graph \"g\" {\n input %x: " + t + "[3]\n const %k: " + t + "[3] = " + values +
                                 "\n %y: " + t + "[3] = tflite.ADD@1(%x, %k)\n output \"y\" = %y\n}"));
    } else {
      expect_round_trip(graph_of("graph \"g\" {\n input %x: " + t + "[3]\n %y: " + t +
                                 "[3] = tflite.ADD@1(%x, %x)\n output \"y\" = %y\n}"));
    }
  }
  expect_round_trip(graph_of(R"(graph "g" {
    input %x: str[2]
    const %k: str[2] = ["", "two\x00\n"]
    const %t: bool[2] = [true, false]
    %y: bool[2] = tflite.EQUAL@1(%x, %k)
    %z: bool[2] = tflite.LOGICAL_AND@1(%y, %t)
    output "z" = %z
  })"));
}

TEST(TfliteWriter, Shapes) {
  const Written w(graph_of(R"(graph "g" {
    input %scalar: f32[]
    input %partly: f32[N,3]
    input %unranked: f32[*]
    input %empty: f32[0,2]
    %a: f32[] = tflite.NEG@1(%scalar)
    %b: f32[N,3] = tflite.NEG@1(%partly)
    %c: f32[*] = tflite.NEG@1(%unranked)
    %d: f32[0,2] = tflite.NEG@1(%empty)
    output "a" = %a
    output "b" = %b
    output "c" = %c
    output "d" = %d
  })"));
  EXPECT_EQ(w.tensor(0).shape()->size(), 0u);
  EXPECT_TRUE(w.tensor(0).has_rank());
  EXPECT_THAT(list(w.tensor(1).shape()), ElementsAre(1, 3));
  EXPECT_THAT(list(w.tensor(1).shape_signature()), ElementsAre(-1, 3));
  EXPECT_EQ(w.tensor(2).shape(), nullptr);
  EXPECT_FALSE(w.tensor(2).has_rank());
  EXPECT_THAT(list(w.tensor(3).shape()), ElementsAre(0, 2));
  EXPECT_EQ(w.tensor(3).shape_signature(), nullptr);
}

TEST(TfliteWriter, NamesAndSignature) {
  Graph g = graph_of(R"(graph "g" {
    input %x: f32[2] "serving.in"
    %result: f32[2] = tflite.NEG@1(%x)
    %y: f32[2] = tflite.EXP@1(%result)
    output "result" = %y
    output "again" = %y
  })");
  const Written w(g, {.signature = "main", .description = "a net"});
  EXPECT_EQ(w.tensor(0).name()->str(), "serving.in");
  EXPECT_EQ(w.tensor(1).name()->str(), "result_1") << "an inner tensor must not have the name of an output";
  EXPECT_EQ(w.tensor(2).name()->str(), "result");
  EXPECT_THAT(list(w.subgraph().outputs()), ElementsAre(2, 2));
  EXPECT_EQ(w.model->description()->str(), "a net");
  ASSERT_EQ(w.model->signature_defs()->size(), 1u);
  const tflite::SignatureDef& s = *w.model->signature_defs()->Get(0);
  EXPECT_EQ(s.signature_key()->str(), "main");
  EXPECT_EQ(s.inputs()->Get(0)->name()->str(), "serving.in");
  ASSERT_EQ(s.outputs()->size(), 2u);
  EXPECT_EQ(s.outputs()->Get(1)->name()->str(), "again");
  EXPECT_EQ(s.outputs()->Get(1)->tensor_index(), 2u);
}

TEST(TfliteWriter, OperatorCodes) {
  const Written w(graph_of(R"(graph "g" {
    input %x: f32[2]
    %a: f32[2] = tflite.ADD@1(%x, %x)
    %b: f32[2] = tflite.GELU@1(%a)
    %c: f32[2] = tflite.ADD@1(%b, %a)
    %d: f32[2] = tflite.custom::Mine@4(%c)
    output "d" = %d
  })"));
  ASSERT_EQ(w.model->operator_codes()->size(), 3u);
  EXPECT_EQ(w.code(0).builtin_code(), tflite::BuiltinOperator_ADD);
  EXPECT_EQ(w.code(0).deprecated_builtin_code(), 0);
  EXPECT_EQ(w.code(1).builtin_code(), tflite::BuiltinOperator_GELU);
  EXPECT_EQ(w.code(1).deprecated_builtin_code(), 127);
  EXPECT_EQ(w.code(2).custom_code()->str(), "Mine");
  EXPECT_EQ(w.code(2).version(), 4);
  EXPECT_EQ(w.code(2).deprecated_builtin_code(), 32);
  const tflite::Operator& gelu = *w.subgraph().operators()->Get(1);
  EXPECT_EQ(gelu.builtin_options_type(), tflite::BuiltinOptions_GeluOptions) << "options are there though all default";
  EXPECT_NE(gelu.builtin_options(), nullptr);
}

TEST(TfliteWriter, EqualConstantsShareABuffer) {
  Graph g;
  std::vector<float> big(4000), other(4000, 2.0f);
  std::iota(big.begin(), big.end(), 0.0f);
  const Constant one = Constant::of<float>({4000}, std::span<const float>(big));
  const ValueId x = g.add_input(g.main(), "x", Type::of(DType::float32, {4000}));
  std::vector<ValueId> operands{x};
  const auto add = [&](const Constant& c) { operands.push_back(g.add_constant(c, "k")); };
  add(one);
  add(one);                                                         // one handle twice
  add(Constant::of<float>({4000}, std::span<const float>(other)));  // another
  add(Constant::of<std::int32_t>({3}, {1, 2, 3}));                  // small: by content
  add(Constant::of<std::int32_t>({3, 1}, {1, 2, 3}));
  add(Constant::of<float>({0}, {}));  // empty, and yet constant
  const NodeId n = g.add_node(g.end(g.main()), {.dialect = "tflite", .domain = "custom", .name = "Many"}, operands, 1);
  g.set_type(g.node(n).outputs[0], Type::of(DType::float32, {1}));
  g.add_output(g.main(), "y", g.node(n).outputs[0]);

  const Written w(g);
  const auto buffer = [&](unsigned t) { return w.tensor(t).buffer(); };
  EXPECT_EQ(buffer(0), 0u);
  EXPECT_EQ(w.model->buffers()->Get(0)->data(), nullptr);
  EXPECT_EQ(buffer(1), buffer(2));
  EXPECT_NE(buffer(1), buffer(3));
  EXPECT_EQ(buffer(4), buffer(5));
  EXPECT_NE(buffer(6), 0u);
  EXPECT_EQ(w.model->buffers()->Get(buffer(6))->data()->size(), 0u);
  EXPECT_EQ(w.stats.weight_bytes, 2 * 16000u + 12u);
  EXPECT_EQ(w.stats.file_bytes, w.bytes.size());
  for (const tflite::Buffer* b : *w.model->buffers()) {
    if (b->data() && b->data()->size() > 0) {
      EXPECT_EQ((b->data()->data() - reinterpret_cast<const std::uint8_t*>(w.bytes.data())) % 16, 0);
    }
  }
}

TEST(TfliteWriter, SameBytesTwice) {
  const std::string text = R"(graph "g" {
    input %x: f32[4]
    const %k: f32[4] = [1, 2, 3, 4]
    %a: f32[4] = tflite.MUL@1(%x, %k)
    %b: f32[4] = tflite.custom::C@1(%a) {p = 1, q = "r"}
    output "b" = %b
  })";
  EXPECT_EQ(Written(graph_of(text)).bytes, Written(graph_of(text)).bytes);
}

TEST(TfliteWriter, Metadata) {
  Graph g = graph_of("graph \"g\" {\n input %x: f32[2]\n %y: f32[2] = tflite.GELU@1(%x)\n output \"y\" = %y\n}");
  g.source = "a \"b\".onnx";
  g.metadata = {{"gantry.io_layout", "preserve"}, {"author", "me"}, {"min_runtime_version", "no"}};
  const Written w(g);
  EXPECT_EQ(w.stats.min_runtime_version, "2.9.0");
  EXPECT_EQ(w.metadata("min_runtime_version"), std::string("2.9.0").append(11, '\0'));
  EXPECT_EQ(w.metadata("author"), "me");
  EXPECT_THAT(w.metadata("gantry"), HasSubstr(R"({"io_layout": "preserve", "source": "a \"b\".onnx", "version": )"));
  EXPECT_EQ(w.metadata("gantry.io_layout"), "absent");
}

TEST(TfliteWriter, Regions) {
  Graph g = graph_of(R"(graph "g" {
    input %go: bool[]
    input %x: f32[2]
    const %k: f32[2] = [1, 2]
    %y: f32[2] = tflite.IF@1(%go, %x) then_subgraph_index: "yes" {
      input %a: f32[2]
      %b: f32[2] = tflite.ADD@1(%a, %k)
      output "b" = %b
    } else_subgraph_index: "no" {
      input %c: f32[2]
      %d: f32[2] = tflite.SUB@1(%c, %k)
      output "d" = %d
    }
    output "y" = %y
  })");
  expect_round_trip(g);
  const Written w(g);
  ASSERT_EQ(w.model->subgraphs()->size(), 3u);
  EXPECT_EQ(w.subgraph(1).name()->str(), "yes");
  const auto* options = w.subgraph().operators()->Get(0)->builtin_options_as_IfOptions();
  EXPECT_EQ(options->then_subgraph_index(), 1);
  EXPECT_EQ(options->else_subgraph_index(), 2);
}

TEST(TfliteWriter, RefusesWhatTheFormatCannotSay) {
  const auto with = [](const std::string& node) {
    return graph_of("graph \"g\" {\n input %x: f32[2]\n %y: f32[2] = " + node + "\n output \"y\" = %y\n}");
  };
  Diagnostic d = refused(with(R"(tflite.SOFTMAX@1(%x) {gamma = 1.0} "head")"));
  EXPECT_EQ(d.code, Code::internal);
  EXPECT_EQ(d.node, "head");
  EXPECT_EQ(d.op, "tflite.SOFTMAX");
  EXPECT_THAT(d.message, HasSubstr("\"gamma\""));
  EXPECT_THAT(refused(with("tflite.SOFTMAX@1(%x) {beta = 1}")).message, HasSubstr("must be a float"));
  EXPECT_THAT(refused(with("tflite.ADD@1(%x, %x) {fused_activation_function = \"SWISH\"}")).message,
              HasSubstr("ActivationFunctionType has no value \"SWISH\""));
  EXPECT_THAT(refused(with("tflite.ADD@1(%x, %x) {pot_scale_int16 = 2}")).message,
              HasSubstr("beyond what the file can hold"));
  EXPECT_THAT(refused(with("tflite.GATHER@1(%x, %x) {axis = 2147483648}")).message,
              HasSubstr("beyond what the file can hold"));
  EXPECT_THAT(refused(with("tflite.LOGISTIC@1(%x) {beta = 1.0}")).message, HasSubstr("no options"));
  EXPECT_THAT(refused(with("tflite.CALL@1(%x)")).message, HasSubstr("one region"));
  EXPECT_THAT(refused(with("tflite.NO_SUCH@1(%x)")).message, HasSubstr("no operator of TFLite"));
  EXPECT_EQ(refused(with("onnx.Relu@14(%x)")).code, Code::internal);
  EXPECT_EQ(refused(graph_of("graph \"g\" {\n input %x: ?[*]\n output \"y\" = %x\n}")).code, Code::unsupported_type);
  EXPECT_EQ(refused(graph_of("graph \"g\" {\n input %x: f32[4294967296]\n output \"y\" = %x\n}")).code,
            Code::target_limit);
  EXPECT_THAT(refused(graph_of(R"(graph "g" {
    input %go: bool[]
    input %x: f32[2]
    %y: f32[2] = tflite.IF@1(%go) then_subgraph_index: "yes" {
      %b: f32[2] = tflite.NEG@1(%x)
      output "b" = %b
    } else_subgraph_index: "no" {
      %d: f32[2] = tflite.EXP@1(%x)
      output "d" = %d
    }
    output "y" = %y
  })"))
                  .message,
              HasSubstr("another region"));
}

}  // namespace
}  // namespace gantry::tflite_format
