// Models with open dimensions and operands of the run time, each run at two sizes. Numbers of the run time come from
// the shape of an input `d`: Shape(d) is [a, b] at one size and [c, e] at another.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

using Sizes = std::vector<std::map<std::string, std::vector<std::int64_t>>>;

std::string ints(const std::string& name, const std::string& list) {
  return name + " = Constant<value_ints = [" + list + "]>() ";
}

const Sizes kImages = {{{"x", {1, 3, 9, 11}}}, {{"x", {2, 3, 12, 7}}}};
const std::string kImage = "float[N,3,H,W] x";

TEST(Dynamic, ShapeArithmetic) {
  std::vector<DynamicRow> rows;
  for (const int opset : {12, 13, 18}) {
    rows.push_back({{opset, kImage, "", ints("k", "0,0,-1") + "y0 = Reshape(x, k)"}, 3, kImages});
    rows.push_back({{opset, kImage, "", ints("k", "0,-1") + "y0 = Reshape(x, k)"}, 2, kImages});
    rows.push_back({{opset, kImage, "", "y0 = Flatten<axis = 2>(x)"}, 2, kImages});
    const std::string sizes = "all_sizes = Shape(x) " + ints("i0", "0") + ints("i2", "2") + ints("i3", "3") +
                              "b = Gather(all_sizes, i0) h = Gather(all_sizes, i2) w = Gather(all_sizes, i3) ";
    rows.push_back({{opset, kImage, "",
                     sizes + "hw = Mul(h, w) " + ints("c", "3") +
                         "k = Concat<axis = 0>(b, c, hw) t = Reshape(x, k) y0 = Transpose<perm = [0,2,1]>(t)"},
                    3,
                    kImages});
    rows.push_back(
        {{opset, kImage, "v=1,3,1,1", sizes + ints("c", "3") + "k = Concat<axis = 0>(b, c, w, h) y0 = Expand(v, k)"},
         4,
         kImages});
    rows.push_back(
        {{opset, kImage, "", sizes + "k = Concat<axis = 0>(h, w) e = ConstantOfShape(k) y0 = Add(x, e)"}, 4, kImages});
  }
  expect_equal_at_sizes(rows);
}

TEST(Dynamic, OperandsOfTheRunTime) {
  const std::string inputs = kImage + ", float[A,B] d";
  const Sizes sizes = {{{"x", {1, 3, 9, 11}}, {"d", {2, 3}}}, {{"x", {2, 3, 12, 7}}, {"d", {3, 1}}}};
  const std::string two = "n2 = Shape(d) ";
  const std::string four = two + ints("ones", "1,1") + "n4 = Concat<axis = 0>(ones, n2) ";
  expect_equal_at_sizes({
      {{18, inputs, "", two + "y0 = ReduceSum(x, n2)"}, 4, sizes},
      {{18, inputs, "", two + "y0 = ReduceMean<keepdims = 0>(x, n2)"}, 2, sizes},
      {{18, inputs, "", two + ints("m", "-4,-4") + "a = Add(n2, m) y0 = ReduceMax(x, a)"}, 4, sizes},
      {{13, inputs, "", four + "y0 = Tile(x, n4)"}, 4, sizes},
      {{13, inputs, "v=1,1", two + "y0 = Expand(v, n2)"}, 2, sizes},
      {{13, inputs, "", four + "y0 = ConstantOfShape(n4)"}, 4, sizes},
      {{13, inputs, "", two + ints("e", "-1,100") + ints("a", "2,3") + "y0 = Slice(x, n2, e, a)"}, 4, sizes},
      {{13, inputs, "",
        two + ints("e", "-100,-100") + ints("a", "2,3") + ints("p", "-1,-2") + "y0 = Slice(x, n2, e, a, p)"},
       4,
       sizes},
      {{13, inputs, "", four + ints("z", "0,0,0,1") + "p = Concat<axis = 0>(z, n4) y0 = Pad(x, p)"}, 4, sizes},
      {{13, inputs, "", four + ints("z", "0,0,1,-1") + "p = Concat<axis = 0>(z, n4) y0 = Pad<mode = \"edge\">(x, p)"},
       4,
       sizes},
      {{13, inputs, "",
        two + ints("z", "0,0") + "zp = Concat<axis = 0>(z, n2, z, n2) y0 = Pad<mode = \"reflect\">(x, zp)"},
       4,
       sizes},
      {{13, inputs, "", two + "y0 = Unsqueeze(x, n2)"}, 6, sizes},
      {{14, inputs, "", two + ints("i", "0") + "a = Gather(n2, i) y0 = CumSum(x, a)"}, 4, sizes},
  });
}

TEST(Dynamic, Windows) {
  std::vector<DynamicRow> rows;
  for (const std::string window :
       {"pads = [1,1,1,1]", "auto_pad = \"SAME_UPPER\", strides = [2,2]", "auto_pad = \"SAME_LOWER\", strides = [2,2]",
        "auto_pad = \"SAME_LOWER\"", "pads = [1,0,2,1], strides = [2,1]"}) {
    rows.push_back({{13, kImage, "w=4,3,3,3 b=4", "y0 = Conv<" + window + ">(x, w, b)"}, 4, kImages});
    const std::string pool = "<kernel_shape = [3,3], " + window;
    rows.push_back({{13, kImage, "", "y0 = MaxPool" + pool + ">(x)"}, 4, kImages});
    rows.push_back({{13, kImage, "", "y0 = AveragePool" + pool + ">(x)"}, 4, kImages});
    rows.push_back({{13, kImage, "", "y0 = AveragePool" + pool + ", count_include_pad = 1>(x)"}, 4, kImages});
    if (window.starts_with("auto")) continue;
    rows.push_back({{13, kImage, "", "y0 = MaxPool" + pool + ", ceil_mode = 1>(x)"}, 4, kImages});
    rows.push_back({{13, kImage, "", "y0 = AveragePool" + pool + ", ceil_mode = 1>(x)"}, 4, kImages});
  }
  for (const std::string window : {"strides = [2,2]", "strides = [2,2], pads = [1,1,1,1], output_padding = [1,1]",
                                   "auto_pad = \"SAME_UPPER\", strides = [2,2]",
                                   "auto_pad = \"SAME_LOWER\", strides = [3,2]", "dilations = [2,2]"})
    rows.push_back({{13, kImage, "w=3,4,3,3 b=4", "y0 = ConvTranspose<" + window + ">(x, w, b)"}, 4, kImages});
  rows.push_back({{13, "float[N,2,D,H,W] x", "", "y0 = MaxPool<kernel_shape = [2,2,2], strides = [2,2,2]>(x)"},
                  5,
                  {{{"x", {1, 2, 5, 6, 4}}}, {{"x", {2, 2, 4, 8, 5}}}}});
  expect_equal_at_sizes(rows);
}

TEST(Dynamic, Resize) {
  std::vector<DynamicRow> rows;
  const std::string scales = "e = Constant<value_floats = [1.0,1.0,2.0,1.5]>() ";
  for (const std::string mode : {"nearest", "linear", "cubic"})
    for (const std::string coordinates : {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"}) {
      const std::string attributes =
          "<mode = \"" + mode + "\", coordinate_transformation_mode = \"" + coordinates + "\">";
      rows.push_back({{13, kImage, "", scales + "y0 = Resize" + attributes + "(x,,e)"}, 4, kImages});
      // To the size of another value.
      rows.push_back({{13, kImage + ", float[N,3,A,B] d", "", "k = Shape(d) y0 = Resize" + attributes + "(x,,,k)"},
                      4,
                      {{{"x", {1, 3, 9, 11}}, {"d", {1, 3, 5, 20}}}, {{"x", {2, 3, 4, 6}}, {"d", {2, 3, 8, 6}}}}});
    }
  expect_equal_at_sizes(rows);
}

TEST(Dynamic, OtherLayouts) {
  expect_equal_at_sizes({
      {{13, "float[N,8,H,W] x", "", "y0 = DepthToSpace<blocksize = 2>(x)"},
       4,
       {{{"x", {1, 8, 3, 4}}}, {{"x", {2, 8, 5, 2}}}}},
      {{13, "float[N,8,H,W] x", "", "y0 = DepthToSpace<blocksize = 2, mode = \"CRD\">(x)"},
       4,
       {{{"x", {1, 8, 3, 4}}}, {{"x", {2, 8, 5, 2}}}}},
      {{13, "float[N,3,H,W] x", "", "y0 = SpaceToDepth<blocksize = 2>(x)"},
       4,
       {{{"x", {1, 3, 4, 6}}}, {{"x", {2, 3, 8, 2}}}}},
      {{12, "float[N,L,6] x", "", "y0 = Softmax<axis = 1>(x)"}, 3, {{{"x", {1, 5, 6}}}, {{"x", {2, 3, 6}}}}},
      {{20, "float[N,2,3] x, float[A,3,H,W] d", "", "k = Shape(d) y0 = AffineGrid(x, k)"},
       4,
       {{{"x", {1, 2, 3}}, {"d", {1, 3, 4, 5}}}, {{"x", {2, 2, 3}}, {"d", {2, 3, 6, 3}}}}},
      {{18, kImage, "", "p, q, y0 = Split<axis = 3, num_outputs = 3>(x)"}, 4, kImages},
      {{18, kImage + ", float[A,B] d", "", "k = Shape(d) y0 = CenterCropPad<axes = [2,3]>(x, k)"},
       4,
       {{{"x", {1, 3, 9, 11}}, {"d", {5, 14}}}, {{"x", {2, 3, 4, 6}}, {"d", {8, 3}}}}},
  });
}

}  // namespace
}  // namespace gantry::test
