#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

TEST(Operators, Conv) {
  expect_equal({
      {17, "float[1,3,9,8] x", "w=4,3,3,3 b=4", "y = Conv(x, w, b)"},
      {17, "float[2,3,9,8] x", "w=4,3,3,3", "y = Conv<pads = [1,1,1,1]>(x, w)"},
      {17, "float[1,3,9,8] x", "w=4,3,3,3", "y = Conv<pads = [0,1,2,0], strides = [2,1]>(x, w)"},
      {17, "float[1,3,9,8] x", "w=4,3,3,3", "y = Conv<strides = [2,2], pads = [1,1,1,1]>(x, w)"},
      {17, "float[1,3,9,8] x", "w=4,3,3,3", "y = Conv<dilations = [2,2], pads = [2,2,2,2]>(x, w)"},
      {17, "float[1,3,9,8] x", "w=4,3,2,4", "y = Conv<auto_pad = \"SAME_UPPER\", strides = [2,2]>(x, w)"},
      {17, "float[1,3,9,8] x", "w=4,3,2,4", "y = Conv<auto_pad = \"SAME_LOWER\", strides = [2,2]>(x, w)"},
      {17, "float[1,3,9,8] x", "w=4,3,2,4", "y = Conv<auto_pad = \"VALID\">(x, w)"},
      {11, "float[1,4,9,8] x", "w=6,2,3,3 b=6", "y = Conv<group = 2>(x, w, b)"},
      {11, "float[2,4,9,8] x", "w=4,1,3,3 b=4", "y = Conv<group = 4, pads = [1,1,1,1]>(x, w, b)"},
      {11, "float[1,4,9,8] x", "w=8,1,3,3", "y = Conv<group = 4, strides = [2,2]>(x, w)"},
      {11, "float[1,4,9,8] x", "w=4,1,3,3", "y = Conv<group = 4, dilations = [2,2]>(x, w)"},
      {17, "float[1,5,4,6] x", "w=7,5,1,1 b=7", "y = Conv(x, w, b)"},
      {17, "float[1,5,4,6] x", "w=7,5,1,1 b=7", "y = Conv<strides = [2,2]>(x, w, b)"},
      {17, "float[2,3,11] x", "w=4,3,3 b=4", "y = Conv<pads = [1,2]>(x, w, b)"},
      {17, "float[1,4,11] x", "w=4,1,3", "y = Conv<group = 4, dilations = [2], pads = [2,2]>(x, w)"},
      {17, "float[2,3,11] x", "w=4,3,1 b=4", "y = Conv(x, w, b)"},
      {17, "float[1,2,5,6,7] x", "w=3,2,3,2,3 b=3", "y = Conv<pads = [1,0,1,1,1,1], strides = [1,2,1]>(x, w, b)"},
      {17, "float[1,4,5,6,7] x", "w=4,2,3,2,3", "y = Conv<group = 2>(x, w)"},
      {17, "float[1,2,3,4,5] x", "w=3,2,1,1,1 b=3", "y = Conv(x, w, b)"},
      {17, "float[1,3,6,6] x, float[2,3,3,3] k", "", "y = Conv(x, k)"},
      {17, "float[1,3,8,8] x", "w=3,3,3,3", "p = Conv<pads=[1,1,1,1]>(x, w) q = Relu(p) r = Add(q, x) y = Clip(r)"},
  });
}

TEST(Operators, ConvTranspose) {
  expect_equal({
      {17, "float[1,3,5,6] x", "w=3,4,3,3 b=4", "y = ConvTranspose(x, w, b)"},
      {17, "float[2,3,5,6] x", "w=3,4,2,2", "y = ConvTranspose<strides = [2,2]>(x, w)"},
      {17, "float[1,3,5,6] x", "w=3,4,4,4 b=4", "y = ConvTranspose<strides = [2,2], pads = [1,1,1,1]>(x, w, b)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3 b=4", "y = ConvTranspose<strides = [2,2], pads = [1,0,0,2]>(x, w, b)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3 b=4", "y = ConvTranspose<strides = [3,2], output_padding = [1,1]>(x, w, b)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3",
       "y = ConvTranspose<strides = [2,2], pads = [1,1,1,1], output_padding = [1,1]>(x, w)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3", "y = ConvTranspose<strides = [2,2], output_shape = [10,12]>(x, w)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3", "y = ConvTranspose<strides = [2,2], auto_pad = \"SAME_UPPER\">(x, w)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3", "y = ConvTranspose<strides = [2,2], auto_pad = \"SAME_LOWER\">(x, w)"},
      {17, "float[1,3,5,6] x", "w=3,4,3,3 b=4", "y = ConvTranspose<dilations = [2,2]>(x, w, b)"},
      {17, "float[1,4,5,6] x", "w=4,3,3,3 b=6", "y = ConvTranspose<group = 2, strides = [2,2]>(x, w, b)"},
      {17, "float[1,4,5,6] x", "w=4,1,3,3", "y = ConvTranspose<group = 4>(x, w)"},
      {17, "float[1,3,7] x", "w=3,4,3 b=4", "y = ConvTranspose<strides = [2]>(x, w, b)"},
      {17, "float[1,2,3,4,5] x", "w=2,3,2,2,2 b=3", "y = ConvTranspose<strides = [2,2,2]>(x, w, b)"},
  });
}

TEST(Operators, Pools) {
  expect_equal({
      {17, "float[1,3,9,8] x", "", "y = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x)"},
      {17, "float[2,3,9,8] x", "", "y = MaxPool<kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]>(x)"},
      {17, "float[1,3,9,8] x", "", "n = Exp(x) m = Neg(n) y = MaxPool<kernel_shape = [3,3], pads = [1,1,1,1]>(m)"},
      {17, "float[1,3,9,8] x", "", "y = MaxPool<kernel_shape = [3,2], strides = [2,2], ceil_mode = 1>(x)"},
      {17, "float[1,3,10,8] x", "",
       "y = MaxPool<kernel_shape = [3,3], strides = [3,3], pads = [0,0,1,1], ceil_mode = 1>(x)"},
      {17, "float[1,3,9,8] x", "", "y = MaxPool<kernel_shape = [2,3], auto_pad = \"SAME_UPPER\", strides = [2,2]>(x)"},
      {17, "float[1,3,9,8] x", "", "y = MaxPool<kernel_shape = [2,3], auto_pad = \"SAME_LOWER\", strides = [2,2]>(x)"},
      {17, "float[1,3,11] x", "", "y = MaxPool<kernel_shape = [3], strides = [2]>(x)"},
      {17, "float[1,2,4,6,8] x", "", "y = MaxPool<kernel_shape = [2,3,2], strides = [2,1,2], pads = [0,1,0,0,1,0]>(x)"},
      {17, "float[1,3,9,8] x", "", "y = AveragePool<kernel_shape = [2,2], strides = [2,2]>(x)"},
      {17, "float[1,3,9,8] x", "", "y = AveragePool<kernel_shape = [3,3], pads = [1,1,1,1]>(x)"},
      {17, "float[1,3,9,8] x", "",
       "y = AveragePool<kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2], count_include_pad = 1>(x)"},
      {17, "float[1,3,9,8] x", "", "y = AveragePool<kernel_shape = [3,3], pads = [0,1,2,1], strides = [2,2]>(x)"},
      {19, "float[1,3,9,8] x", "", "y = AveragePool<kernel_shape = [3,3], strides = [2,2], ceil_mode = 1>(x)"},
      {17, "float[1,3,9,8] x", "", "y = AveragePool<kernel_shape = [2,3], auto_pad = \"SAME_UPPER\">(x)"},
      {17, "float[1,3,11] x", "", "y = AveragePool<kernel_shape = [3], strides = [2], pads = [1,1]>(x)"},
      {17, "float[1,2,4,6,8] x", "", "y = AveragePool<kernel_shape = [2,2,2], strides = [2,2,2]>(x)"},
      {17, "float[2,3,5,7] x", "", "y = GlobalAveragePool(x)"},
      {17, "float[2,3,5] x", "", "y = GlobalMaxPool(x)"},
  });
}

TEST(Operators, BatchNormalizationIsInTheWeights) {
  const Row row{
      17, "float[1,3,8,8] x", "w=4,3,3,3 b=4 s=4 h=4 m=4 v0=4",
      "v1 = Constant<value_float = 2.0>() v2 = Add(v0, v1) p = Conv(x, w, b) y = BatchNormalization(p, s, h, m, v2)"};
  expect_equal({row,
                {17, "float[1,3,5,5] x", "s=3 h=3 m=3 v0=3",
                 "c = Constant<value_float = 2.0>() v = Add(v0, c) y = BatchNormalization(x, s, h, m, v)"},
                {17, "float[1,3,5,5] x", "w=3,4,2,2 s=4 h=4 m=4 v0=4",
                 "c = Constant<value_float = 2.0>() v = Add(v0, c) p = ConvTranspose<strides = [2,2]>(x, w) y = "
                 "BatchNormalization(p, s, h, m, v)"}});
  const auto ops = converted_operators(row);
  EXPECT_FALSE(ops.contains("MUL"));
  EXPECT_EQ(ops.at("CONV_2D"), 1u);
}

TEST(Operators, PaddingIsTheConvolutions) {
  const Row row{17, "float[1,3,8,8] x", "w=4,3,3,3",
                "p = Constant<value_ints = [0,0,1,1,0,0,1,1]>() q = Pad(x, p) y = Conv(q, w)"};
  expect_equal({row});
  EXPECT_FALSE(converted_operators(row).contains("PAD"));
}

}  // namespace
}  // namespace gantry::test
