// QONNX files that others wrote: one domain, one name of the operator, quantized weights kept, shapes.
#include <fstream>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "tests/keras/keras_file.hpp"

namespace gantry::test {
namespace {

struct Written {
  std::string imports, domain, op;
};
void PrintTo(const Written& w, std::ostream* out) { *out << w.domain << " " << w.op; }

class CleanUp : public KerasTest, public testing::WithParamInterface<Written> {};

TEST_P(CleanUp, IsQuantOfQonnx) {
  const auto& [imports, domain, op] = GetParam();
  const std::string quant =
      domain + "." + op + " <signed: int = 1, narrow: int = 1, rounding_mode: string = \"ROUND\">";
  const std::string text = "<ir_version: 8, opset_import: [\"\": 13" + imports + R"(]>
    g (float[1, 2] x) => (float[1, 2] y)
    <float[2, 2] w = {1, 0.4, -0.3, 0}, float s = {0.25}, float z = {0}, float b = {4}>
    { wq = )" + quant + R"((w, s, z, b)  m = MatMul(x, wq)  y = )" +
                           quant + "(m, s, z, b) }";
  onnx::ModelProto made;
  const auto parsed = onnx::OnnxParser::Parse(made, text.c_str());
  ASSERT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
  std::string bytes;
  ASSERT_TRUE(made.SerializeToString(&bytes));
  const Status s = convert(write("old.onnx", bytes), folder_ / "new.onnx", "qonnx");
  ASSERT_TRUE(s.ok()) << s.error().message;
  onnx::ModelProto file;
  std::ifstream in(folder_ / "new.onnx", std::ios::binary);
  ASSERT_TRUE(file.ParseFromIstream(&in));
  std::vector<std::string> operators;
  for (const auto& n : file.graph().node()) {
    operators.push_back(n.domain() + ":" + n.op_type());
    EXPECT_FALSE(n.name().empty());
  }
  EXPECT_THAT(operators,
              testing::ElementsAre("qonnx.custom_op.general:Quant", ":MatMul", "qonnx.custom_op.general:Quant"));
  EXPECT_EQ(file.graph().value_info_size(), 2);  // wq, m
  EXPECT_EQ(file.opset_import_size(), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Domains, CleanUp,
    testing::Values(Written{"", "onnx.brevitas", "Quant"}, Written{", \"onnx.brevitas\": 1", "onnx.brevitas", "Quant"},
                    Written{", \"finn.custom_op.general\": 1", "finn.custom_op.general", "Quant"},
                    Written{", \"qonnx.custom_op.general\": 1", "qonnx.custom_op.general", "Quant"},
                    Written{", \"qonnx.custom_op.general\": 2", "qonnx.custom_op.general", "IntQuant"}));

}  // namespace
}  // namespace gantry::test
