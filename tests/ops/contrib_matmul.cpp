// Products, convolutions and group normalisations of com.microsoft, with what is fused to them.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

/// A constant of bytes that depend on their place.
std::string bytes(const std::string& name, const std::string& dims, std::int64_t n) {
  std::string s = " " + name + " = Constant<value = uint8[" + dims + "] {";
  for (std::int64_t i = 0; i < n; ++i) s += (i ? ", " : "") + std::to_string((i * 73 + i * i * 11 + 5) % 256);
  return s + "}>() ";
}

TEST(ContribMatMul, Fused) {
  const auto call = [](const std::string& attributes) {
    return "y = com.microsoft.FusedMatMul<" + attributes + ">(a, b)";
  };
  expect_equal({
      {17, "float[2,3,4] a, float[2,4,5] b", "", call("alpha = 0.3")},
      {17, "float[2,4,3] a", "b=5,4", call("transA = 1, transB = 1, alpha = 0.5")},
      {17, "float[3,2,4] a, float[2,4,5] b", "", call("transBatchA = 1")},
      {17, "float[4,2,3] a, float[2,4,5] b", "", call("transBatchA = 1, transA = 1")},
      {17, "float[2,3,4] a, float[5,2,4] b", "", call("transBatchB = 1, transB = 1")},
      {17, "float[3,2,6,4] a, float[2,6,4,5] b", "", call("transBatchA = 1")},
      {17, "float[4] a, float[2,4,5] b", "", call("transA = 1")},
      {17, "float[B,S,4] a, float[B,T,4] b", "", call("transB = 1")},
      {17, "float[2,4,3] a, float[2,4,5] b", "", "y = com.microsoft.TransposeMatMul<transA = 1, alpha = 0.7>(a, b)"},
  });
  expect_equal_to({
      {{17, "float[2,3,4] a, float[2,5,4] b", "",
        "y = com.microsoft.FusedMatMulActivation<transB = 1, activation = \"LeakyRelu\", activation_alpha = 0.2>(a, "
        "b)"},
       "z = com.microsoft.FusedMatMul<transB = 1>(a, b) y = LeakyRelu<alpha = 0.2>(z)"},
      {{17, "float[2,3,4] a", "b=4,5 c=5", "y = com.microsoft.GemmFastGelu(a, b, c)"},
       "z = MatMul(a, b) y = com.microsoft.FastGelu(z, c)"},
  });
}

TEST(ContribMatMul, Gemm) {
  std::vector<Row> rows;
  for (const char* activation :
       {"\"Relu\"", "\"LeakyRelu\", activation_alpha = 0.1", "\"Sigmoid\"", "\"Tanh\"",
        "\"HardSigmoid\", activation_alpha = 0.3, activation_beta = 0.4", "\"Elu\", activation_alpha = 0.7",
        "\"Selu\", activation_alpha = 1.5, activation_gamma = 1.1", "\"Softplus\"", "\"Softsign\""})
    rows.push_back({17, "float[3,4] a", "b=5,4 c=5",
                    std::string("y = com.microsoft.FusedGemm<transB = 1, alpha = 0.5, beta = 2.0, activation = ") +
                        activation + ">(a, b, c)"});
  expect_equal(rows);
}

TEST(ContribMatMul, Blocks) {
  std::vector<Row> rows;
  for (const int bits : {2, 4, 8})
    for (const int k : {64, 80}) {
      const int blocks = (k + 31) / 32, blob = 32 * bits / 8, zeros = (blocks * bits + 7) / 8;
      const std::string attributes = "<K = " + std::to_string(k) +
                                     ", N = 9, block_size = 32, bits = " + std::to_string(bits) + ">",
                        call = "y = com.microsoft.MatMulNBits" + attributes, b = std::to_string(blocks),
                        data = bytes("w", "9," + b + "," + std::to_string(blob), std::int64_t{9} * blocks * blob),
                        zero = bytes("z", "9," + std::to_string(zeros), std::int64_t{9} * zeros),
                        x = "float[2,3," + std::to_string(k) + "] x", scales = "s=9," + b;
      rows.push_back({17, x, scales, data + call + "(x, w, s)"});
      rows.push_back({17, x, scales, data + zero + call + "(x, w, s, z)"});
      if (bits < 8)  // ONNX Runtime has no zero points in float for 8 bits
        rows.push_back({17, x, scales + " z=9," + b + " c=9", data + call + "(x, w, s, z, , c)"});
      rows.push_back({17, "float[B,S," + std::to_string(k) + "] x", scales, data + zero + call + "(x, w, s, z)"});
      rows.push_back({17, x + ", uint8[9," + b + "," + std::to_string(blob) + "] w, float[9," + b + "] s", "",
                      zero + call + "(x, w, s, z)"});
      for (Row& r : rows) r.atol = 1e-3;
    }
  expect_equal(rows);
}

TEST(ContribConv, Fused) {
  const std::string x = "float[1,3,7,8] x", call = "y = com.microsoft.FusedConv<pads = [1, 1, 1, 1]";
  std::vector<Row> rows{
      {17, x, "w=4,3,3,3 b=4", call + ">(x, w, b)"},
      {17, x + ", float[1,4,7,8] z", "w=4,3,3,3 b=4", call + ", activation = \"Relu\">(x, w, b, z)"},
      {17, x + ", float[1,4,7,8] z", "w=4,3,3,3", call + ", activation = \"Tanh\">(x, w, , z)"},
  };
  for (const char* activation :
       {"\"Relu\"", "\"LeakyRelu\", activation_params = [0.1]", "\"Clip\", activation_params = [-0.2, 0.3]",
        "\"HardSigmoid\", activation_params = [0.2, 0.5]", "\"Sigmoid\""})
    rows.push_back({17, x, "w=4,3,3,3 b=4", call + ", activation = " + activation + ">(x, w, b)"});
  rows.push_back(
      {17, "float[1,3,5,6] x", "w=3,4,3,3 b=4",
       "p = Constant<value = int64[4] {1, 1, 1, 1}>()"
       " y = com.microsoft.ConvTransposeWithDynamicPads<strides = [2, 2], output_padding = [1, 1]>(x, w, p, b)"});
  rows.push_back({17, "int8[1,7,8,3] x", "",
                  "y = com.microsoft.NhwcMaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)", "int8[] y"});
  expect_equal(rows);
}

/// What ONNX Runtime runs on other processors only, against its meaning.
TEST(ContribConv, ChannelsLast) {
  const std::string before = "xt = Transpose<perm = [0, 3, 1, 2]>(x) ",
                    after = " y = Transpose<perm = [0, 2, 3, 1]>(r)";
  expect_equal_to({
      {{17, "float[1,7,8,3] x", "w=4,3,3,3 b=4", "y = com.microsoft.NhwcConv<pads = [1, 1, 1, 1]>(x, w, b)"},
       before + "r = Conv<pads = [1, 1, 1, 1]>(xt, w, b)" + after},
      {{17, "float[1,7,8,3] x, float[1,5,6,4] z", "w=4,3,3,3",
        "y = com.microsoft.NhwcFusedConv<activation = \"Relu\">(x, w, , z)"},
       before + "zt = Transpose<perm = [0, 3, 1, 2]>(z) c = Conv(xt, w) s = Add(c, zt) r = Relu(s)" + after},
  });
}

TEST(ContribDiffusion, GroupNormAndGates) {
  const std::string last = "xt = Transpose<perm = [0, 3, 1, 2]>(x) ";
  // GroupNormalization of opset 21 is what ONNX Runtime has, with scale and bias of each channel.
  const auto meaning = [](const std::string& x, bool silu) {
    return "r = GroupNormalization<num_groups = 4>(" + x + ", g, b)" +
           (silu ? " h = Sigmoid(r) n = Mul(r, h)" : " n = Identity(r)");
  };
  const std::string back = " y = Transpose<perm = [0, 2, 3, 1]>(n)";
  expect_equal_to({
      {{21, "float[2,4,5,8] x", "g=8 b=8", "y = com.microsoft.GroupNorm<groups = 4, activation = 0>(x, g, b)"},
       last + meaning("xt", false) + back},
      {{21, "float[2,4,5,8] x", "g=8 b=8", "y = com.microsoft.GroupNorm<groups = 4, activation = 1>(x, g, b)"},
       last + meaning("xt", true) + back},
      {{21, "float[2,8,4,5] x", "g=8 b=8",
        "y = com.microsoft.GroupNorm<groups = 4, activation = 1, channels_last = 0>(x, g, b)"},
       meaning("x", true) + " y = Identity(n)"},
      {{21, "float[2,4,5,8] x, float[2,1,1,8] s", "g=8 b=8 c=8",
        "y, z = com.microsoft.SkipGroupNorm<groups = 4, activation = 1>(x, g, b, s, c)", "float[] y, float[] z"},
       "u = Add(x, s) z = Add(u, c) zt = Transpose<perm = [0, 3, 1, 2]>(z) " + meaning("zt", true) + back},
      {{17, "float[2,5,8] x, float[2,5,8] s", "b=8", "y = com.microsoft.BiasAdd(x, b, s)"},
       "u = Add(x, b) y = Add(u, s)"},
      {{17, "float[2,5,8] x", "b=8", "y = com.microsoft.BiasSplitGelu(x, b)"},
       "u = Add(x, b) l, r = Split<axis = 2>(u) h = com.microsoft.Gelu(r) y = Mul(l, h)"},
  });
}

TEST(ContribEmbedding, LayerNormalization) {
  const std::string ids = "int32[2,5] i", tables = "w=20,8 p=12,8 s=11,8 g=8 b=8",
                    call = "com.microsoft.EmbedLayerNormalization";
  expect_equal({
      {17, ids, tables, "y, m = " + call + "(i, , w, p, , g, b)", "float[] y, int32[] m"},
      {17, ids + ", int32[2,5] t", tables, "y, m = " + call + "(i, t, w, p, s, g, b)", "float[] y, int32[] m"},
      {17, ids + ", int32[2,5] t, int32[2,5] k", tables,
       "y, m, e = " + call + "<epsilon = 0.01>(i, t, w, p, s, g, b, k)", "float[] y, int32[] m, float[] e"},
      {17, ids + ", int32[1,5] q", tables, "y, m = " + call + "(i, , w, p, , g, b, , q)", "float[] y, int32[] m"},
      {17,
       "int32[2,5] i, int32[2,5] t, int32[2,5] k, uint8[11,8] w, uint8[9,8] p, uint8[11,8] s, uint8[8] g, uint8[8] b",
       "",
       "a = Constant<value_float = 0.02>() z = Constant<value = uint8 {3}>() y, m = "
       "com.microsoft.QEmbedLayerNormalization"
       "<epsilon = 0.00001>(i, t, w, p, s, g, b, k, a, a, a, a, a, z, z, z, z, z)",
       "float[] y, int32[] m", 1e-3},
      {17, "int32[B,S] i, int32[B,S] t", tables, "y, m = " + call + "(i, t, w, p, s, g, b)", "float[] y, int32[] m"},
  });
}

}  // namespace
}  // namespace gantry::test
