#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

TEST(Contrib, GeluAndItsLike) {
  expect_equal({
      {17, "float[2,3,8] x", "", "y = com.microsoft.Gelu(x)"},
      {17, "float[2,3,8] x", "", "y = com.microsoft.QuickGelu(x)"},
      {17, "float[2,3,8] x", "", "y = com.microsoft.QuickGelu<alpha = 1.0>(x)"},
      {17, "float[2,3,8] x", "b=8", "y = com.microsoft.BiasGelu(x, b)"},
      {17, "float[B,S,8] x, float[8] b", "", "y = com.microsoft.BiasGelu(x, b)"},
      {17, "float[2,3,8] x", "b=8", "y = com.microsoft.FastGelu(x, b)"},
      {17, "float[2,3,8] x", "", "y = com.microsoft.FastGelu(x)"},
  });
}

TEST(Contrib, SkipNormalization) {
  std::vector<Row> rows;
  for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    for (const char* attributes : {"", "<epsilon = 0.01>"}) {
      const std::string call = std::string("com.microsoft.") + op + attributes;
      const std::string none = op[4] == 'L' ? ", " : "";
      rows.push_back({17, "float[2,3,8] x, float[2,3,8] s", "g=8", "y = " + call + "(x, s, g)"});
      rows.push_back(
          {17, "float[B,S,8] x, float[B,S,8] s", "g=8", "y, , , z = " + call + "(x, s, g)", "float[] y, float[] z"});
      rows.push_back({17, "float[2,3,8] x, float[2,3,8] s, float[8] g", "b=8",
                      "y, , , z = " + call + "(x, s, g, " + none + "b)", "float[] y, float[] z"});
    }
  rows.push_back(
      {17, "float[2,3,8] x, float[2,3,8] s", "g=8 b=8 c=8", "y = com.microsoft.SkipLayerNormalization(x, s, g, b, c)"});
  rows.push_back({17, "float[2,3,8] x", "g=8", "y = SimplifiedLayerNormalization<axis = -1>(x, g)"});
  rows.push_back({17, "float[2,3,8] x", "g=3,8", "y = SimplifiedLayerNormalization<axis = 1, epsilon = 0.01>(x, g)"});
  // As ONNX Runtime's optimiser writes them, before ONNX had them.
  for (int opset : {11, 13, 17}) {
    rows.push_back({opset, "float[2,3,8] x", "g=8 b=8", "y = LayerNormalization<axis = -1>(x, g, b)"});
    rows.push_back({opset, "float[2,3,8] x", "g=8", "y = SimplifiedLayerNormalization<axis = -1>(x, g)"});
  }
  rows.push_back({17, "float[2,3,8] x, float[1,3,8] s", "g=8", "y = com.microsoft.SkipLayerNormalization(x, s, g)"});
  rows.push_back({17, "float[2,3,8] x, float[3,8] s", "g=8", "y = com.microsoft.SkipLayerNormalization(x, s, g)"});
  rows.push_back(
      {17, "float[6,8] x, float[6,8] s", "g=8", "y = com.microsoft.SkipSimplifiedLayerNormalization(x, s, g)"});
  rows.push_back({17, "float16[2,3,8] x0, float16[2,3,8] s0, float16[8] g0", "",
                  "y = com.microsoft.SkipLayerNormalization(x0, s0, g0)", "float16[] y", 1e-2});
  expect_equal(rows);
}

}  // namespace
}  // namespace gantry::test
