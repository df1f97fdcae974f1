// Attention of com.microsoft. Integers of a model's inputs are 0 to 10: as a mask, mostly seen.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

std::string ints(const std::string& name, const std::string& value) {
  return " " + name + " = Constant<value = " + value + ">() ";
}

TEST(ContribAttention, Packed) {
  const std::string x = "float[2,5,16] x", call = "com.microsoft.Attention<num_heads = 4";
  std::vector<Row> rows;
  for (const char* more : {"", ", unidirectional = 1", ", scale = 0.7"})
    rows.push_back({17, x, "w=16,48 b=48", "y = " + call + more + ">(x, w, b)"});
  rows.push_back({17, x, "w=16,48", "y = " + call + ">(x, w)"});
  rows.push_back({17, x, "w=16,40 b=40", "y = " + call + ", qkv_hidden_sizes = [16, 16, 8]>(x, w, b)"});
  rows.push_back({17, "float[2,5,16] x, float[16,48] w", "", "y, z = " + call + ">(x, w)", "float[] y, float[] z"});
  rows.push_back({17, "float[B,S,16] x", "w=16,48 b=48", "y = " + call + ", unidirectional = 1>(x, w, b)"});
  for (const char* bias : {"float[1,1,5,5] a", "float[2,4,5,5] a"})
    rows.push_back({17, x + ", " + bias, "w=16,48 b=48", "y = " + call + ">(x, w, b, , , a)"});
  expect_equal(rows);
}

TEST(ContribAttention, PackedMasks) {
  const std::string x = "float[2,5,16] x", call = "y = com.microsoft.Attention<num_heads = 4";
  std::vector<Row> rows;
  for (const char* more :
       {"", ", unidirectional = 1", ", unidirectional = 1, mask_filter_value = -3.4028234663852886e38"})
    for (const char* mask : {"int32[2,5] m", "int32[2,5,5] m", "int32[2] m", "int32[4] m"})
      rows.push_back({17, x + ", " + mask, "w=16,48 b=48", call + more + ">(x, w, b, m)"});
  for (const char* mask : {"int32[2] {3, 5}", "int32[4] {4, 5, 1, 0}", "int32[8] {3, 5, 0, 3, 8, 0, 3, 8}",
                           "int32[2,5] {0, 0, 1, 1, 1, 1, 1, 1, 0, 0}"})
    rows.push_back({17, x, "w=16,48 b=48", ints("m", mask) + call + ">(x, w, b, m)"});
  rows.push_back({17, "float[B,S,16] x, int32[B,S] m", "w=16,48 b=48", call + ">(x, w, b, m)"});
  rows.push_back({17, "float[B,S,16] x, int32[B] m", "w=16,48 b=48", call + ">(x, w, b, m)"});
  expect_equal(rows);
  expect_refused({{17, x, "w=16,48 b=48", call + ", do_rotary = 1>(x, w, b)"}}, "do_rotary");
}

TEST(ContribAttention, PackedCache) {
  const std::string call = "y, z = com.microsoft.Attention<num_heads = 4, unidirectional = 1>",
                    outputs = "float[] y, float[] z";
  expect_equal({
      {17, "float[2,5,16] x, float[2,2,4,3,4] p", "w=16,48 b=48", call + "(x, w, b, , p)", outputs},
      {17, "float[2,1,16] x, float[2,2,4,3,4] p", "w=16,48 b=48", call + "(x, w, b, , p)", outputs},
      {17, "float[2,5,16] x, int32[2,8] m, float[2,2,4,3,4] p", "w=16,48 b=48", call + "(x, w, b, m, p)", outputs},
  });
}

constexpr const char* kSelf = "float[2,5,16] q, float[2,5,16] k, float[2,5,16] v";
constexpr const char* kCross = "float[2,5,16] q, float[2,6,16] k, float[2,6,12] v";

TEST(ContribAttention, OpenSizes) {
  const std::string mha =
      " = com.microsoft.MultiHeadAttention<num_heads = 4, unidirectional = 1>"
      "(q, k, v, , , , pk, pv)";
  std::vector<DynamicRow> rows;
  for (const std::string results : {"y0, u", "u, y0"}) {
    rows.push_back({{17, "float[B,S,16] x, float[2,B,4,P,4] p", "w=16,48 b=48",
                     results + " = com.microsoft.Attention<num_heads = 4, unidirectional = 1>(x, w, b, , p)"},
                    results[0] == 'y' ? 3 : 5,
                    {{{"x", {2, 5, 16}}, {"p", {2, 2, 4, 3, 4}}}, {{"x", {1, 1, 16}}, {"p", {2, 1, 4, 2, 4}}}}});
    rows.push_back(
        {{17, "float[B,S,16] q, float[B,T,16] k, float[B,T,16] v, float[B,4,P,4] pk, float[B,4,P,4] pv", "",
          (results[0] == 'y' ? "y0, u, w" : "u, y0, w") + mha},
         results[0] == 'y' ? 3 : 4,
         {{{"q", {2, 5, 16}}, {"k", {2, 5, 16}}, {"v", {2, 5, 16}}, {"pk", {2, 4, 3, 4}}, {"pv", {2, 4, 3, 4}}},
          {{"q", {1, 3, 16}}, {"k", {1, 4, 16}}, {"v", {1, 4, 16}}, {"pk", {1, 4, 1, 4}}, {"pv", {1, 4, 1, 4}}}}});
  }
  expect_equal_at_sizes(rows);
}

TEST(ContribAttention, MultiHead) {
  const std::string cross = kCross, call = "com.microsoft.MultiHeadAttention<num_heads = 4";
  std::vector<Row> rows;
  for (const char* operands : {kSelf, kCross, "float[2,1,16] q, float[2,6,16] k, float[2,6,12] v",
                               "float[B,S,16] q, float[B,T,16] k, float[B,T,12] v"})
    for (const char* more : {"", ", unidirectional = 1"})
      rows.push_back({17, operands, "", "y = " + call + more + ">(q, k, v)"});
  rows.push_back({17, cross, "b=44", "y = " + call + ", scale = 0.3>(q, k, v, b)"});
  rows.push_back({17, cross + ", float[44] b", "", "y = " + call + ">(q, k, v, b)"});
  rows.push_back({17, "float[2,5,16] q, float[2,4,6,4] k, float[2,4,6,4] v", "b=48", "y = " + call + ">(q, k, v, b)"});
  for (const char* mask : {"int32[2] m", "int32[2,6] m", "int32[2,5,6] m"})
    rows.push_back({17, cross + ", " + mask, "", "y = " + call + ">(q, k, v, , m)"});
  for (const char* bias : {"float[1,1,5,6] a", "float[2,1,5,6] a", "float[1,4,5,6] a"})
    rows.push_back({17, cross + ", int32[2,6] m, " + bias, "", "y = " + call + ">(q, k, v, , m, a)"});
  rows.push_back({17, cross, "", "y, , , z = " + call + ">(q, k, v)", "float[] y, float[] z"});
  expect_equal(rows);
}

TEST(ContribAttention, MultiHeadCache) {
  const std::string outputs = "float[] y, float[] nk, float[] nv";
  std::vector<Row> rows;
  for (const char* more : {"", ", unidirectional = 1"}) {
    const std::string call = std::string("y, nk, nv = com.microsoft.MultiHeadAttention<num_heads = 4") + more + ">";
    rows.push_back({17, std::string(kSelf) + ", float[2,4,3,4] pk, float[2,4,3,4] pv", "b=48",
                    call + "(q, k, v, b, , , pk, pv)", outputs});
    rows.push_back({17, std::string(kSelf) + ", int32[2,8] m, float[1,4,5,8] a, float[2,4,3,4] pk, float[2,4,3,4] pv",
                    "", call + "(q, k, v, , m, a, pk, pv)", outputs});
  }
  rows.push_back({17, kSelf, "", "y, nk, nv = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, v)", outputs});
  rows.push_back({17, std::string(kSelf) + ", float[2,4,9,4] pk, float[2,4,9,4] pv", "",
                  ints("n", "int32[1] {3}") +
                      "y, nk, nv = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, v, , , , pk, pv, n)",
                  outputs});
  expect_equal(rows);
}

/// Forms that ONNX Runtime has kernels for on other processors only.
TEST(ContribAttention, MultiHeadPacked) {
  const std::string call = "y = com.microsoft.MultiHeadAttention<num_heads = 4>",
                    shape = ints("shape", "int64[3] {2, 6, 16}"),
                    parts = shape + ints("one", "int64[1] {1}") + ints("three", "int64[1] {3}");
  const auto part = [](const std::string& name, const std::string& packed, int i, const char* axis) {
    return ints(name + "i", "int64 {" + std::to_string(i) + "}") + name + "g = Gather<axis = " + axis + ">(" + packed +
           ", " + name + "i) " + name + " = Reshape(" + name + "g, shape) ";
  };
  expect_equal_to({
      {{17, "float[2,6,4,3,4] p", "b=48", call + "(p, , , b)"},
       parts + part("q", "p", 0, "3") + part("k", "p", 1, "3") + part("v", "p", 2, "3") + call + "(q, k, v, b)"},
      {{17, "float[2,5,16] q, float[2,6,4,2,4] p", "", call + "(q, p)"},
       parts + part("k", "p", 0, "3") + part("v", "p", 1, "3") + call + "(q, k, v)"},
  });
}

TEST(ContribAttention, DecoderMasked) {
  const std::string call = "com.microsoft.DecoderMaskedMultiHeadAttention<num_heads = 4",
                    outputs = "float[] y, float[] nk, float[] nv";
  const std::string self = "float[2,1,16] q, float[2,1,16] k, float[2,1,16] v, float[2,4,8,4] pk, float[2,4,8,4] pv";
  expect_equal({
      {17, "float[2,1,16] q, float[2,4,6,4] k, float[2,4,6,4] v", "b=48",
       "y = " + call + ">(q, k, v, , , , , , , , b)"},
      {17, "float[2,1,16] q, float[2,4,6,4] k, float[2,4,6,4] v, int32[2,6] m", "", "y = " + call + ">(q, k, v, m)"},
      {17, self, "",
       ints("n", "int32[1] {3}") + "y, nk, nv = " + call + ", past_present_share_buffer = 1>(q, k, v, , , pk, pv, n)",
       outputs},
      {17, self + ", int32[1] n0", "",
       ints("most", "int32 {7}") + "n = Min(n0, most) y, nk, nv = " + call +
           ", past_present_share_buffer = 1>(q, k, v, , , pk, pv, n)",
       outputs},
  });
  // Without a shared buffer ONNX Runtime has no kernel: it is MultiHeadAttention.
  const std::string past = "float[2,1,16] q, float[2,1,16] k, float[2,1,16] v, float[2,4,3,4] pk, float[2,4,3,4] pv";
  expect_equal_to({{{17, past, "", "y, nk, nv = " + call + ">(q, k, v, , , pk, pv)", outputs},
                    "y, nk, nv = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, v, , , , pk, pv)"}});
}

}  // namespace
}  // namespace gantry::test
