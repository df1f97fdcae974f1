// Quantized operators computed as written. A tolerance of 1 is one step, where ONNX Runtime rounds in another order.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

std::string scalar(const std::string& name, float v) {
  return " " + name + " = Constant<value_float = " + std::to_string(v) + ">()";
}
std::string zero(const std::string& name, const std::string& type, int v) {
  return " " + name + " = Constant<value = " + type + " {" + std::to_string(v) + "}>()";
}

TEST(Quantization, QuantizeAndDequantize) {
  std::vector<Row> rows;
  const std::pair<const char*, int> types[] = {{"int8", -3}, {"uint8", 100}};
  for (const auto& [t, z] : types) {
    const std::string parameters = scalar("s", 0.013f) + zero("z", t, z);
    rows.push_back({13, "float[2,3,4] x", "", parameters + " y = QuantizeLinear(x, s, z)", std::string(t) + "[] y"});
    rows.push_back(
        {13, "float[2,3,4] x", "", parameters + " q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z)"});
    rows.push_back({13, std::string(t) + "[2,3,4] x", "", parameters + " y = DequantizeLinear(x, s, z)"});
  }
  for (const char* t : {"int16", "uint16"})
    rows.push_back({21, "float[2,3,4] x", "", scalar("s", 0.001f) + zero("z", t, 7) + " y = QuantizeLinear(x, s, z)",
                    std::string(t) + "[] y"});
  for (int axis : {0, 1, 2, -1}) {
    const std::string n = std::to_string(axis < 0 ? 4 : axis + 2);
    rows.push_back({13, "float[2,3,4] x, float[" + n + "] s0", "",
                    "e = Exp(s0) y = QuantizeLinear<axis = " + std::to_string(axis) + ">(x, e)", "uint8[] y"});
    rows.push_back({13, "int8[2,3,4] x, float[" + n + "] s", "",
                    "y = DequantizeLinear<axis = " + std::to_string(axis) + ">(x, s)"});
  }
  rows.push_back({21, "float[2,5,4] x, float[2,3,4] s0", "",
                  "e = Exp(s0) y = QuantizeLinear<axis = 1, block_size = 2>(x, e)", "uint8[] y"});
  rows.push_back({21, "int8[2,6,4] x, float[2,3,4] s", "", "y = DequantizeLinear<axis = 1, block_size = 2>(x, s)"});
  rows.push_back({13, "float[2,3] x", "", "y, s, z = DynamicQuantizeLinear(x)", "uint8[] y, float[] s, uint8[] z", 1});
  expect_equal(rows);
}

TEST(Quantization, IntegerProducts) {
  std::vector<Row> rows{
      {13, "uint8[3,4] a, uint8[4,5] b", "", "y = MatMulInteger(a, b)", "int32[] y", 0},
      {13, "uint8[2,3,4] a, int8[4,5] b, uint8 az, int8 bz", "", "y = MatMulInteger(a, b, az, bz)", "int32[] y", 0},
      {13, "uint8[3,4] a, uint8[4,5] b", "", zero("z", "uint8", 128) + " y = MatMulInteger(a, b, z, z)", "int32[] y",
       0},
      // Sums beyond 2^24: in two and in four parts.
      {13, "uint8[2,3000] a, uint8[3000,3] b", "", "y = MatMulInteger(a, b)", "int32[] y", 0},
      {13, "uint8[2,9000] a, uint8[9000,3] b", "", "y = MatMulInteger(a, b)", "int32[] y", 0},
      {13, "uint8[1,3,6,7] x, uint8[4,3,3,3] w", "", "y = ConvInteger<pads = [1,1,1,1]>(x, w)", "int32[] y", 0},
      {13, "uint8[1,3,6,7] x, uint8[4,3,3,3] w, uint8 xz", "", "y = ConvInteger<pads = [1,1,1,1]>(x, w, xz)",
       "int32[] y", 0},
      {13, "uint8[1,300,5,5] x, uint8[4,300,3,3] w", "", "y = ConvInteger(x, w)", "int32[] y", 0},
  };
  expect_equal(rows);
}

TEST(Quantization, ProductsThatRound) {
  const std::string p = scalar("a", 0.02f) + scalar("b", 0.03f) + scalar("c", 0.5f) + zero("z", "uint8", 120);
  expect_equal({
      {13, "uint8[3,4] x, uint8[4,5] w", "", p + " y = QLinearMatMul(x, a, z, w, b, z, c, z)", "uint8[] y", 1},
      {13, "uint8[1,3,6,7] x, uint8[4,3,3,3] w", "",
       p + " y = QLinearConv<pads = [1,1,1,1], strides = [2,1]>(x, a, z, w, b, z, c, z)", "uint8[] y", 1},
  });
}

}  // namespace
}  // namespace gantry::test
