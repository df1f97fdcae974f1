// Quantized operators of com.microsoft. A tolerance of 1 is one step, where ONNX Runtime rounds in another order.
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
const std::string kParameters =
    scalar("a", 0.02f) + scalar("b", 0.03f) + scalar("c", 0.5f) + zero("z", "uint8", 5) + zero("n", "int8", -3) + " ";

TEST(ContribQuantized, Elementwise) {
  std::vector<Row> rows;
  for (const char* op : {"QLinearAdd", "QLinearMul"})
    rows.push_back({17, "uint8[3,4] x, uint8[4] w", "",
                    kParameters + "y = com.microsoft." + op + "(x, a, z, w, b, z, c, z)", "uint8[] y", 1});
  for (const char* op : {"QLinearSigmoid", "QLinearLeakyRelu<alpha = 0.1>", "QLinearSoftmax<opset = 13, axis = -1>",
                         "QLinearSoftmax<opset = 12, axis = 1>"})
    rows.push_back(
        {17, "uint8[3,4,5] x", "", kParameters + "y = com.microsoft." + op + "(x, a, z, b, z)", "uint8[] y", 1});
  rows.push_back({17, "uint8[2,3] x, uint8[2,4] w", "",
                  kParameters + "y = com.microsoft.QLinearConcat<axis = 1>(c, z, x, a, z, w, b, z)", "uint8[] y", 1});
  for (const char* last : {"0", "1"})
    rows.push_back(
        {17, "uint8[1,5,6,7] x", "",
         kParameters + "y = com.microsoft.QLinearGlobalAveragePool<channels_last = " + last + ">(x, a, z, b, z)",
         "uint8[] y", 1});
  rows.push_back(
      {17, "uint8[1,6,7,3] x, uint8[4,3,3,3] w", "",
       kParameters + "y = com.microsoft.QLinearConv<channels_last = 1, pads = [1, 1, 1, 1]>(x, a, z, w, b, z, c, z)",
       "uint8[] y", 1});
  expect_equal(rows);
}

TEST(ContribQuantized, Products) {
  const std::string gemm = "y = com.microsoft.QGemm";
  expect_equal({
      {17, "uint8[3,8] x, uint8[8,5] w", "", kParameters + gemm + "(x, a, z, w, b, z)"},
      {17, "uint8[3,8] x, uint8[8,5] w", "", kParameters + gemm + "(x, a, z, w, b, z, , c, z)", "uint8[] y", 1},
      {17, "int8[8,3] x, int8[5,8] w, int32[5] s", "",
       kParameters + gemm + "<transA = 1, transB = 1, alpha = 0.5>(x, a, n, w, b, n, s)"},
      {17, "uint8[2,3,8] x, uint8[8,5] w", "s=5",
       kParameters + "y = com.microsoft.MatMulIntegerToFloat(x, w, a, b, z, z, s)"},
      {17, "int8[3,8] x, int8[8,5] w", "s=5", kParameters + "y = com.microsoft.MatMulIntegerToFloat(x, w, a, s)"},
      {17, "float[2,3,8] x, uint8[8,5] w", "s=5",
       kParameters + "y = com.microsoft.DynamicQuantizeMatMul(x, w, b, z, s)", "float[] y", 0.02},
      {17, "int16[2,3,4] x, int16[4,5] w", "", "y = com.microsoft.MatMulInteger16(x, w)", "int32[] y", 0},
  });
  // ONNX Runtime has no kernels for these here.
  expect_equal_to({
      {{17, "uint8[3,4] x, uint8[4] w", "", kParameters + "y = com.microsoft.MulInteger(x, z, w, z)", "int32[] y", 0},
       kParameters +
           "i = Cast<to = 6>(x) j = Cast<to = 6>(w) k = Cast<to = 6>(z) p = Sub(i, k) q = Sub(j, k) y = Mul(p, q)"},
      {{17, "int8[2,3,4] x", "", "y = com.microsoft.ReduceSumInteger<axes = [1], keepdims = 1>(x)", "int32[] y", 0},
       "i = Cast<to = 6>(x) s = Constant<value_ints = [1]>() y = ReduceSum(i, s)"},
  });
}

TEST(ContribQuantized, Attention) {
  const std::string call = "com.microsoft.QAttention<num_heads = 4", x = "uint8[2,5,16] x, uint8[16,48] w";
  expect_equal({
      {17, x, "s=48", kParameters + "y = " + call + ">(x, w, s, a, b, , z, z)"},
      {17, x + ", int32[2] m", "s=48", kParameters + "y = " + call + ", unidirectional = 1>(x, w, s, a, b, m, z, z)"},
      {17, x + ", float[2,2,4,3,4] p", "s=48",
       kParameters + "y, r = " + call + ", unidirectional = 1>(x, w, s, a, b, , z, z, p)", "float[] y, float[] r"},
  });
}

TEST(ContribQuantized, GatherBlocks) {
  std::vector<Row> rows;
  for (const int bits : {2, 4, 8}) {
    const std::string width = std::to_string(64 * bits / 8), zeros = std::to_string(bits == 8 ? 2 : 1);
    std::string data = "d = Constant<value = uint8[12," + width + "] {",
                zero_points = "z = Constant<value = uint8[12," + zeros + "] {";
    for (int i = 0; i < 12 * 64 * bits / 8; ++i) data += (i ? ", " : "") + std::to_string(i * 37 % 256);
    for (int i = 0; i < 12 * (bits == 8 ? 2 : 1); ++i) zero_points += (i ? ", " : "") + std::to_string(i * 21 % 256);
    const std::string call =
        "y = com.microsoft.GatherBlockQuantized<block_size = 32, quantize_axis = 1, bits = " + std::to_string(bits) +
        ">";
    data += "}>() ";
    rows.push_back({17, "int64[2,3] i", "s=12,2", data + call + "(d, i, s)"});
    rows.push_back({17, "int32[N] i", "s=12,2", data + zero_points + "}>() " + call + "(d, i, s, z)"});
  }
  expect_equal(rows);
}

}  // namespace
}  // namespace gantry::test
