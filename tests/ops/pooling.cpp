#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

/// Pools of 1 to 3 axes with and without dilation, padding and ceil_mode.
std::vector<Row> pools(const std::string& op, int opset, const std::string& more, const std::string& type = "float",
                       const std::string& outputs = "") {
  const char* shapes[] = {"[2,3,9]", "[2,3,9,8]", "[1,2,7,9,8]"};
  std::vector<Row> rows;
  for (int axes = 1; axes <= 3; ++axes)
    for (int dilation : {1, 2})
      for (int pad : {0, 1})
        for (int ceil : {0, 1}) {
          const auto list = [&](int n, int times = 1) {
            std::string s = std::to_string(n);
            for (int i = 1; i < axes * times; ++i) s += "," + std::to_string(n);
            return "[" + s + "]";
          };
          rows.push_back({opset, type + shapes[axes - 1] + " x", "",
                          (outputs.empty() ? "y = " : "y, z = ") + op + "<kernel_shape = " + list(3) +
                              ", strides = " + list(2) + ", dilations = " + list(dilation) +
                              ", pads = " + list(pad, 2) + ", ceil_mode = " + std::to_string(ceil) + more + ">(x)",
                          type + "[] y" + outputs});
        }
  return rows;
}

TEST(Pooling, Dilations) {
  expect_equal(pools("MaxPool", 12, ""));
  expect_equal(pools("AveragePool", 19, ", count_include_pad = 0"));
  expect_equal(pools("AveragePool", 19, ", count_include_pad = 1"));
}

TEST(Pooling, Indices) {
  for (const char* order : {"0", "1"})
    expect_equal(pools("MaxPool", 12, std::string(", storage_order = ") + order, "float", ", int64[] z"));
}

TEST(Pooling, NarrowTypes) {
  expect_equal(pools("MaxPool", 12, "", "uint8"));
  expect_equal(pools("MaxPool", 12, "", "int8"));
}

TEST(Pooling, Norms) {
  for (const char* p : {"1", "2", "3"}) expect_equal(pools("LpPool", 18, std::string(", p = ") + p));
  std::vector<Row> rows;
  for (const char* x : {"float[2,7,5] x", "float[2,7,5,4] x", "float[2,7,3,2,4] x"}) {
    for (const char* p : {"1", "2"}) {
      rows.push_back({13, x, "", std::string("y = GlobalLpPool<p = ") + p + ">(x)"});
      for (const char* axis : {"0", "1", "-1"})
        rows.push_back({13, x, "", std::string("y = LpNormalization<axis = ") + axis + ", p = " + p + ">(x)"});
    }
    rows.push_back({21, x, "w=7 b=7", "y = GroupNormalization<num_groups = 7>(x, w, b)"});
    rows.push_back({13, x, "w=7 b=7", "y = InstanceNormalization<epsilon = 0.001>(x, w, b)"});
    rows.push_back({13, x, "", "y = MeanVarianceNormalization<axes = [0,2]>(x)"});
  }
  for (const char* size : {"1", "3", "5"})  // ONNX Runtime has odd sizes and rank 4
    rows.push_back({13, "float[2,7,5,4] x", "",
                    std::string("y = LRN<alpha = 0.3, beta = 0.6, bias = 1.3, size = ") + size + ">(x)"});
  rows.push_back({21, "float[2,6,4,5] x", "w=6 b=6", "y = GroupNormalization<num_groups = 2>(x, w, b)"});
  rows.push_back({18, "float[2,6,4,5] x", "w=2 b=2", "y = GroupNormalization<num_groups = 2>(x, w, b)"});
  expect_equal(rows);
}

TEST(Pooling, Unpool) {
  expect_equal({
      {11, "float[1,2,6,8] x", "",
       "a, z = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x) y = MaxUnpool<kernel_shape = [2,2], strides = "
       "[2,2]>(a, z)"},
      {11, "float[1,2,8] x", "",
       "a, z = MaxPool<kernel_shape = [2], strides = [2]>(x) y = MaxUnpool<kernel_shape = [2], strides = [2]>(a, z)"},
  });
}

TEST(Pooling, ConvTransposeWithWeightsOfTheRunTime) {
  expect_equal({
      {13, "float[2,4,5,4] x, float[4,3,3,2] w", "", "y = ConvTranspose<group = 2, strides = [2,2]>(x, w)"},
      {13, "float[2,4,5,4] x, float[4,3,3,2] w", "", "y = ConvTranspose<dilations = [2,3]>(x, w)"},
      {13, "float[2,4,5] x, float[4,3,3] w", "", "y = ConvTranspose<group = 2, dilations = [2]>(x, w)"},
      {13, "float[1,4,3,4,5] x, float[4,3,2,2,2] w", "", "y = ConvTranspose<group = 2, dilations = [2,1,2]>(x, w)"},
      {13, "float[1,1,3,3] x, float[1,2,3,3] w", "", "y = ConvTranspose<strides = [3,2], output_shape = [10,8]>(x, w)"},
  });
}

}  // namespace
}  // namespace gantry::test
