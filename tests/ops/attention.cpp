#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

constexpr const char* kHeads = "float[2,4,5,8] q, float[2,4,6,8] k, float[2,4,6,3] v";
constexpr const char* kGrouped = "float[2,6,5,8] q, float[2,2,6,8] k, float[2,2,6,8] v";

TEST(Attention, Plain) {
  std::vector<Row> rows;
  for (const char* inputs : {kHeads, kGrouped})
    for (const char* attributes : {"", "<is_causal = 1>", "<scale = 0.3>", "<softcap = 2.0>"})
      rows.push_back({23, inputs, "", std::string("y = Attention") + attributes + "(q, k, v)"});
  rows.push_back({23, "float[2,5,32] q, float[2,6,16] k, float[2,6,16] v", "",
                  "y = Attention<q_num_heads = 4, kv_num_heads = 2>(q, k, v)"});
  rows.push_back({23, "float[N,5,32] q, float[N,6,16] k, float[N,6,16] v", "",
                  "y = Attention<q_num_heads = 4, kv_num_heads = 2>(q, k, v)"});
  for (const char* causal : {"", ", is_causal = 1"})
    rows.push_back({23, "float[B,S,32] q, float[B,T,16] k, float[B,T,16] v", "",
                    std::string("y = Attention<q_num_heads = 4, kv_num_heads = 2") + causal + ">(q, k, v)"});
  rows.push_back({23, "float[B,4,S,8] q, float[B,4,T,8] k, float[B,4,T,8] v, float[B,4,P,8] pk, float[B,4,P,8] pv", "",
                  "y, nk, nv = Attention<is_causal = 1>(q, k, v, , pk, pv)", "float[] y, float[] nk, float[] nv"});
  expect_equal(rows);
}

TEST(Attention, MasksAndCaches) {
  const std::string heads = kHeads;
  std::vector<Row> rows;
  for (const char* mask : {"float[5,6] m", "float[2,1,5,6] m", "float[2,4,5,6] m"})
    rows.push_back({23, heads + ", " + mask, "", "y = Attention(q, k, v, m)"});
  rows.push_back({23, heads + ", float[2,4,7,8] pk, float[2,4,7,3] pv", "",
                  "y, nk, nv = Attention<is_causal = 1>(q, k, v, , pk, pv)", "float[] y, float[] nk, float[] nv"});
  rows.push_back({23, heads + ", float[5,6] m0", "",
                  "c = Constant<value_float = -0.5>() m = Greater(m0, c) y = Attention(q, k, v, m)"});
  expect_equal(rows);
}

TEST(Attention, NormalizationAndRotation) {
  expect_equal({
      {23, "float[2,3,8] x", "s=8", "y = RMSNormalization(x, s)"},
      {23, "float[2,3,8] x", "s=3,8", "y = RMSNormalization<axis = 1, epsilon = 0.01>(x, s)"},
      {23, "float[2,4,3,8] x", "c=2,3,4 s=2,3,4", "y = RotaryEmbedding(x, c, s)"},
      {23, "float[2,4,3,8] x", "c=2,3,4 s=2,3,4", "y = RotaryEmbedding<interleaved = 1>(x, c, s)"},
      {23, "float[2,4,3,8] x", "c=2,3,2 s=2,3,2", "y = RotaryEmbedding<rotary_embedding_dim = 4>(x, c, s)"},
      {23, "float[2,3,32] x", "c=2,3,4 s=2,3,4", "y = RotaryEmbedding<num_heads = 4>(x, c, s)"},
      {23, "float[B,S,32] x, int64[B,S] p", "c=12,4 s=12,4", "y = RotaryEmbedding<num_heads = 4>(x, c, s, p)"},
  });
}

}  // namespace
}  // namespace gantry::test
