// GroupQueryAttention and RotaryEmbedding of com.microsoft.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

const std::string kOutputs = "float[] y, float[] nk, float[] nv";

std::string ints(const std::string& name, const std::string& value) {
  return " " + name + " = Constant<value = " + value + ">() ";
}
/// seqlens_k and total_sequence_length as constants.
std::string lengths(const std::string& last, int total) {
  return ints("n", "int32[2] {" + last + "}") + ints("t", "int32 {" + std::to_string(total) + "}");
}
/// Operands of `tokens` new ones, and a cache of `rows`.
std::string operands(const std::string& batch, const std::string& tokens, const std::string& rows = {}) {
  const std::string at = "[" + batch + "," + tokens + ",";
  std::string s = "float" + at + "64] q, float" + at + "32] k, float" + at + "32] v";
  if (!rows.empty()) s += ", float[" + batch + ",2," + rows + ",16] pk, float[" + batch + ",2," + rows + ",16] pv";
  return s;
}
std::string call(const std::string& more, const std::string& values) {
  return "y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2" + more + ">(" + values + ")";
}

TEST(ContribGroupedAttention, Prompt) {
  std::vector<Row> rows;
  for (const char* more :
       {"", ", scale = 0.7", ", softcap = 2.0", ", local_window_size = 2", ", smooth_softmax = 1", ", causal = 0"})
    for (const char* last : {"4, 4", "2, 4"})
      rows.push_back({17, operands("2", "5"), "", lengths(last, 5) + call(more, "q, k, v, , , n, t"), kOutputs});
  for (const char* more : {", do_rotary = 1", ", do_rotary = 1, rotary_interleaved = 1"}) {
    rows.push_back(
        {17, operands("2", "5"), "c=9,8 s=9,8", lengths("4, 4", 5) + call(more, "q, k, v, , , n, t, c, s"), kOutputs});
    rows.push_back(
        {17, "float[2,5,128] q", "c=9,8 s=9,8", lengths("4, 4", 5) + call(more, "q, , , , , n, t, c, s"), kOutputs});
    rows.push_back({17, operands("B", "5") + ", int32[B] n0", "c=9,8 s=9,8",
                    ints("four", "int32 {4}") + ints("t", "int32 {5}") + "n = Min(n0, four)" +
                        call(more, "q, k, v, , , n, t, c, s"),
                    kOutputs});
  }
  rows.push_back({17, operands("2", "5") + ", float[1,4,5,5] a, float[4] h", "",
                  lengths("4, 4", 5) + call(", softcap = 3.0", "q, k, v, , , n, t, , , , a, h"), kOutputs});
  rows.push_back({17, operands("2", "5"), "c=9,8 s=9,8",
                  lengths("4, 4", 5) + ints("p", "int64[2,5] {3, 4, 5, 6, 7, 3, 4, 5, 6, 7}") +
                      call(", do_rotary = 1", "q, k, v, , , n, t, c, s, p"),
                  kOutputs});
  expect_equal(rows);
}

TEST(ContribGroupedAttention, Cache) {
  std::vector<Row> rows;
  const std::string given = "q, k, v, pk, pv, n, t, c, s", weights = "c=20,8 s=20,8";
  for (const char* more : {", do_rotary = 1", ", do_rotary = 1, local_window_size = 3"}) {
    rows.push_back({17, operands("2", "1", "6"), weights, lengths("6, 6", 7) + call(more, given), kOutputs});
    rows.push_back({17, operands("2", "1", "6"), weights, lengths("4, 6", 7) + call(more, given), kOutputs});
    rows.push_back({17, operands("2", "1", "16"), weights, lengths("5, 5", 6) + call(more, given), kOutputs});
    rows.push_back({17, operands("2", "5", "16"), weights, lengths("4, 4", 5) + call(more, given), kOutputs});
    rows.push_back({17, operands("1", "3", "6"), weights,
                    ints("n", "int32[1] {8}") + ints("t", "int32 {9}") + call(more, given), kOutputs});
  }
  expect_equal(rows);
  expect_refused(
      {{17, operands("2", "1", "6"), "",
        lengths("6, 6", 7) + call(", sliding_window_cache = 1, local_window_size = 6", "q, k, v, pk, pv, n, t"),
        kOutputs}},
      "evicted");
}

/// Sizes and lengths of the run time: a full cache, whose length is the total's, and the result or the new cache.
TEST(ContribGroupedAttention, OpenSizes) {
  const std::string full = ints("i", "int32 {1}") +
                           "p64 = Shape<start = 2, end = 3>(pk) p32 = Cast<to = 6>(p64)"
                           " b = Shape<start = 0, end = 1>(q) last = Expand(p32, b) total = Add(p32, i) ";
  const auto sizes = [](std::int64_t b, std::int64_t p) {
    return std::map<std::string, std::vector<std::int64_t>>{
        {"q", {b, 1, 64}}, {"k", {b, 1, 32}}, {"v", {b, 1, 32}}, {"pk", {b, 2, p, 16}}, {"pv", {b, 2, p, 16}}};
  };
  const Row row{17, operands("B", "1", "P"), "c=20,8 cs=20,8"};
  std::vector<DynamicRow> rows;
  for (const std::string results : {"y0, u, w", "u, y0, w", "u, w, y0"}) {
    rows.push_back({row, results[0] == 'y' ? 3 : 4, {sizes(2, 6), sizes(1, 3)}});
    rows.back().row.nodes = full + results +
                            " = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1>"
                            "(q, k, v, pk, pv, last, total, c, cs)";
  }
  // Lengths are inputs, 0 to 10, and the largest is the total.
  for (const char* more : {"", ", local_window_size = 3"}) {
    const Row ragged{
        17, operands("2", "1", "12") + ", int32[2] last", "c=20,8 cs=20,8",
        "most = ReduceMax<keepdims = 0>(last)" + ints("i", "int32 {1}") + "total = Add(most, i)" +
            " y0, u, w = com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1" + more +
            ">(q, k, v, pk, pv, last, total, c, cs)"};
    rows.push_back({ragged, 3, {{{"last", {2}}}}});
  }
  expect_equal_at_sizes(rows);
}

TEST(ContribGroupedAttention, Rotary) {
  std::vector<Row> rows;
  for (const char* x : {"float[2,5,32] x", "float[2,4,5,8] x"})
    for (const char* more : {"", "<interleaved = 1>"}) {
      const std::string y = std::string("y = com.microsoft.RotaryEmbedding") + more + "(x, p, c, s)";
      rows.push_back({17, std::string(x) + ", int64[2,5] p", "c=16,4 s=16,4", y});
      rows.push_back({17, std::string(x) + ", int64[1] p", "c=20,4 s=20,4", y});
      rows.push_back({17, x, "c=16,4 s=16,4", ints("p", "int64[1] {3}") + y});
      rows.push_back({17, x, "c=16,4 s=16,4", ints("p", "int64[2,5] {0, 1, 2, 3, 4, 4, 5, 6, 7, 8}") + y});
    }
  rows.push_back({17, "float[2,5,32] x, int64[2,5] p", "c=16,2 s=16,2",
                  "y = com.microsoft.RotaryEmbedding<num_heads = 4, rotary_embedding_dim = 4>(x, p, c, s)"});
  rows.push_back(
      {17, "float[B,S,32] x, int64[B,S] p", "c=16,4 s=16,4", "y = com.microsoft.RotaryEmbedding(x, p, c, s)"});
  rows.push_back({17, "float[B,S,32] x, int64[1] p", "c=20,4 s=20,4", "y = com.microsoft.RotaryEmbedding(x, p, c, s)"});
  expect_equal(rows);
}

TEST(ContribGroupedAttention, RotaryOfThreeStreams) {
  std::vector<Row> rows;
  for (const char* layout : {"0", "1"})
    for (const char* interleaved : {"0", "1"}) {
      const std::string call =
          std::string("y = com.microsoft.MRotaryEmbedding<mrope_section = [3, 3, 2], mrope_layout = ") + layout +
          ", interleaved = " + interleaved;
      rows.push_back({17, "float[2,5,64] x, int64[3,2,5] p", "c=11,8 s=11,8", call + ", num_heads = 4>(x, p, c, s)"});
      rows.push_back({17, "float[2,4,5,16] x, int64[3,2,5] p", "c=11,8 s=11,8", call + ">(x, p, c, s)"});
    }
  rows.push_back({17, "float[B,S,64] x, int64[3,B,S] p", "c=11,4 s=11,4",
                  "y = com.microsoft.MRotaryEmbedding<mrope_section = [2, 1, 1], num_heads = 4, rotary_embedding_dim = "
                  "8>(x, p, c, s)"});
  expect_equal(rows);
}

/// ONNX Runtime normalises heads on other processors only.
TEST(ContribGroupedAttention, NormalizedHeads) {
  const std::string split = ints("hs", "int64[4] {0, 0, -1, 16}") + ints("js", "int64[3] {0, 0, -1}");
  const auto norm = [](const std::string& x, const std::string& w) {
    return x + "h = Reshape(" + x + ", hs) " + x + "r = SimplifiedLayerNormalization<axis = -1, epsilon = 0.01>(" + x +
           "h, " + w + ") " + x + "n = Reshape(" + x + "r, js) ";
  };
  expect_equal_to({{{17, operands("2", "5"), "c=9,8 s=9,8 qw=16 kw=16",
                     lengths("4, 4", 5) +
                         call(", do_rotary = 1, qk_norm_epsilon = 0.01", "q, k, v, , , n, t, c, s, , , , , , qw, kw"),
                     kOutputs},
                    lengths("4, 4", 5) + split + norm("q", "qw") + norm("k", "kw") +
                        call(", do_rotary = 1", "qn, kn, v, , , n, t, c, s")}});
}

}  // namespace
}  // namespace gantry::test
