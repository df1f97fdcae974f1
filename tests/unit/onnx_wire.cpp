// The walk over the file that takes payloads out: it must lose nothing else, and survive anything.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/wire.hpp"
#include "onnx_support.hpp"

namespace gantry::onnx_format {
namespace {

constexpr std::size_t kLarge = 40'000;

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

void fill(onnx::TensorProto& tensor, std::string_view name, char byte, std::size_t size = kLarge) {
  tensor.set_name(std::string(name));
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.add_dims(static_cast<std::int64_t>(size));
  tensor.set_raw_data(std::string(size, byte));
}

std::string marker_of(const onnx::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == kPayloadKey) return entry.value();
  }
  return "none";
}

onnx::ModelProto parsed(const Skeleton& skeleton) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(skeleton.bytes));
  return model;
}

// A tensor wherever one can be.
onnx::ModelProto model_with_tensors() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.set_doc_string("not needed");
  auto& graph = *model.mutable_graph();
  fill(*graph.add_initializer(), "a", 'a');
  fill(*graph.add_sparse_initializer()->mutable_values(), "b", 'b');
  auto& node = *graph.add_node();
  node.set_op_type("If");
  node.set_doc_string("not needed");
  fill(*node.add_attribute()->mutable_t(), "c", 'c');
  fill(*node.add_attribute()->add_tensors(), "d", 'd');
  fill(*node.add_attribute()->mutable_g()->add_initializer(), "e", 'e');
  fill(*node.add_attribute()->mutable_sparse_tensor()->mutable_indices(), "f", 'f');
  fill(*model.add_functions()->add_node()->add_attribute()->mutable_t(), "g", 'g');
  fill(*model.add_functions()->add_attribute_proto()->mutable_t(), "h", 'h');
  graph.set_name("the last field");
  return model;
}

TEST(OnnxWire, CutsTensorsWhereverTheyAre) {
  const std::string file = model_with_tensors().SerializeAsString();
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  ASSERT_EQ(cut->payloads.size(), 8u);
  std::string seen;
  for (const Payload& payload : cut->payloads) {
    EXPECT_EQ(payload.size, kLarge);
    EXPECT_EQ(payload.field, 9u);
    const std::string contents = file.substr(payload.offset, payload.size);
    EXPECT_EQ(contents, std::string(kLarge, contents[0]));
    seen += contents[0];
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, "abcdefgh");
  EXPECT_LT(cut->bytes.size(), 1000u);
}

TEST(OnnxWire, KeepsTheRest) {
  onnx::ModelProto model = model_with_tensors();
  const std::string file = model.SerializeAsString();
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_TRUE(cut.ok());
  const onnx::ModelProto rest = parsed(*cut);
  EXPECT_EQ(rest.graph().name(), "the last field");
  EXPECT_FALSE(rest.has_doc_string());
  EXPECT_FALSE(rest.graph().node(0).has_doc_string());
  const auto& tensor = rest.graph().node(0).attribute(2).g().initializer(0);
  EXPECT_EQ(tensor.name(), "e");
  EXPECT_EQ(tensor.dims(0), static_cast<std::int64_t>(kLarge));
  EXPECT_FALSE(tensor.has_raw_data());
  const auto index = static_cast<std::size_t>(std::stoi(marker_of(tensor)));
  EXPECT_EQ(file[cut->payloads.at(index).offset], 'e');
}

TEST(OnnxWire, LeavesSmallPayloadsAlone) {
  onnx::ModelProto model;
  fill(*model.mutable_graph()->add_initializer(), "small", 's', 100);
  // ONNX's own inference reads constants of function bodies.
  fill(*model.add_functions()->add_node()->add_attribute()->mutable_t(), "body", 'b', 4000);
  const std::string file = model.SerializeAsString();
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_TRUE(cut.ok());
  EXPECT_TRUE(cut->payloads.empty());
  EXPECT_EQ(parsed(*cut).SerializeAsString(), file);
}

TEST(OnnxWire, CutsPackedFloatsAndDoubles) {
  onnx::ModelProto model;
  auto& floats = *model.mutable_graph()->add_initializer();
  auto& doubles = *model.mutable_graph()->add_initializer();
  for (int i = 0; i < 1000; ++i) floats.add_float_data(1.5F);
  for (int i = 0; i < 1000; ++i) doubles.add_double_data(2.5);
  const std::string file = model.SerializeAsString();
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_TRUE(cut.ok());
  ASSERT_EQ(cut->payloads.size(), 2u);
  EXPECT_EQ(cut->payloads[0].size, 4000u);
  EXPECT_EQ(cut->payloads[0].field, 4u);
  EXPECT_EQ(cut->payloads[1].size, 8000u);
  EXPECT_EQ(cut->payloads[1].field, 10u);
}

// Pieces of one field are joined by protobuf, which a view of the file cannot do.
TEST(OnnxWire, LeavesPayloadsInPiecesToProtobuf) {
  onnx::TensorProto piece;
  for (int i = 0; i < 1000; ++i) piece.add_float_data(1.5F);
  onnx::ModelProto model;
  *model.mutable_graph()->add_initializer() = piece;
  std::string tensor = piece.SerializeAsString() + piece.SerializeAsString();
  std::string graph = "\x2A";  // initializer
  for (std::size_t n = tensor.size(); n; n >>= 7) graph += static_cast<char>((n & 0x7F) | (n >> 7 ? 0x80 : 0));
  graph += tensor;
  std::string file = "\x3A";  // graph
  for (std::size_t n = graph.size(); n; n >>= 7) file += static_cast<char>((n & 0x7F) | (n >> 7 ? 0x80 : 0));
  file += graph;
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_TRUE(cut->payloads.empty());
  EXPECT_EQ(parsed(*cut).graph().initializer(0).float_data_size(), 2000);
}

TEST(OnnxWire, RefusesItsOwnMarkerInAFile) {
  onnx::ModelProto model;
  auto& entry = *model.mutable_graph()->add_initializer()->add_external_data();
  entry.set_key(std::string(kPayloadKey));
  entry.set_value("0");
  const std::string file = model.SerializeAsString();
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, Code::input_malformed);
}

TEST(OnnxWire, NamesTheByteThatIsWrong) {
  const std::string file =
      "\x08\x0A\x3A\x05\x0A\x7F"
      "abc";  // a node of 127 bytes in a graph of 5
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, Code::input_malformed);
  EXPECT_NE(cut.error().message.find("at byte 4"), std::string::npos) << cut.error().message;
}

TEST(OnnxWire, RefusesMalformedForms) {
  for (const std::string& file : {
           std::string("\x07"),                                              // wire type 7
           std::string("\x0B\x0C"),                                          // a group
           std::string("\x02\x00", 2),                                       // field 0
           std::string("\x08"),                                              // no value
           std::string("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),  // more than 64 bits
           std::string("\x3A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),      // longer than memory
           std::string("\x38\x01"),                                          // a graph that is a number
           std::string("\xFF\xFF\xFF\xFF\xFF\x01\x01"),                      // a field number beyond 32 bits
       }) {
    const Result<Skeleton> cut = cut_payloads(bytes_of(file));
    ASSERT_FALSE(cut.ok());
    EXPECT_EQ(cut.error().code, Code::input_malformed);
  }
}

TEST(OnnxWire, EveryTruncationIsAnError) {
  const std::string file = model_bytes("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }");
  for (std::size_t size = 1; size < file.size(); ++size) {
    const std::string part = file.substr(0, size);
    const Result<Skeleton> cut = cut_payloads(bytes_of(part));
    EXPECT_TRUE(cut.ok() || cut.error().code == Code::input_malformed);
  }
}

TEST(OnnxWire, DepthIsLimited) {
  onnx::ModelProto model;
  onnx::GraphProto* graph = model.mutable_graph();
  for (int i = 0; i < 60; ++i) graph = graph->add_node()->add_attribute()->mutable_g();
  const std::string file = model.SerializeAsString();
  const Result<Skeleton> cut = cut_payloads(bytes_of(file));
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("nested"), std::string::npos);
}

}  // namespace
}  // namespace gantry::onnx_format
