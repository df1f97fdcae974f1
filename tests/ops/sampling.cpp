#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

TEST(Sampling, GridSampleOfEveryMode) {
  std::vector<Row> rows;
  const auto add = [&](int opset, const std::string& mode, const char* shapes) {
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* corners : {"0", "1"})
        rows.push_back({opset, shapes, "",
                        "y = GridSample<mode = \"" + mode + "\", padding_mode = \"" + padding +
                            "\", align_corners = " + corners + ">(x, g)"});
  };
  for (const char* mode : {"bilinear", "nearest", "bicubic"}) add(16, mode, "float[2,3,5,6] x, float[2,3,4,2] g");
  for (const char* mode : {"linear", "nearest"}) add(20, mode, "float[2,3,3,5,6] x, float[2,2,3,4,3] g");
  add(20, "cubic", "float[1,2,4,7] x, float[1,3,3,2] g");
  rows.push_back({20, "float[1,3,5,6] x", "g=1,3,4,2", "y = GridSample(x, g)"});
  rows.push_back({22, "float[N,3,H,W] x, float[N,P,4,2] g", "", "y = GridSample(x, g)"});
  expect_equal(rows);
}

TEST(Sampling, Regions) {
  std::vector<Row> rows;
  const std::string regions =
      "e = Constant<value = float[1] {9.0}>() t = Sigmoid(q) r = Mul(t, e) b = Constant<value = int64[3] {0,1,1}>() ";
  for (const char* mode : {"avg", "max"})
    for (const char* ratio : {"0", "2"}) {
      const std::string attributes =
          std::string("output_height = 3, output_width = 2, spatial_scale = 0.5, mode = \"") + mode +
          "\", sampling_ratio = " + ratio;
      rows.push_back({10, "float[2,3,7,9] x, float[3,4] q", "", regions + "y = RoiAlign<" + attributes + ">(x, r, b)"});
      const char* where = *ratio == '0' ? "half_pixel" : "output_half_pixel";
      rows.push_back(
          {16, "float[2,3,7,9] x, float[3,4] q", "",
           regions + "y = RoiAlign<" + attributes + ", coordinate_transformation_mode = \"" + where + "\">(x, r, b)"});
    }
  rows.push_back(
      {13, "float[2,3,7,9] x", "",
       "r = Constant<value = float[2,5] {0.0,0.0,0.0,8.0,8.0, 1.0,2.5,1.0,15.0,9.0}>() y = MaxRoiPool<pooled_shape "
       "= [3,2], spatial_scale = 0.5>(x, r)"});
  expect_equal(rows);
}

TEST(Sampling, DeformConv) {
  expect_equal({
      {19, "float[2,4,7,8] x, float[2,12,5,7] o", "w=8,4,3,2", "y = DeformConv(x, w, o)"},
      {19, "float[2,4,7,8] x, float[2,24,3,5] o, float[2,12,3,5] m", "w=8,2,3,2 b=8",
       "y = DeformConv<group = 2, offset_group = 2, strides = [2,2], dilations = [2,1], pads = [1,1,1,1]>(x, w, o, b, "
       "m)"},
      {22, "float[1,4,5,5] x, float[1,32,4,4] o", "w=4,1,2,2 b=4",
       "y = DeformConv<group = 4, offset_group = 4>(x, w, o, b)"},
  });
}

TEST(Sampling, Col2Im) {
  const std::string sizes = "s = Constant<value_ints = [7,6]>() k = Constant<value_ints = [3,2]>() ";
  expect_equal({
      {18, "float[2,12,25] x", "", sizes + "y = Col2Im(x, s, k)"},
      {18, "float[2,12,16] x", "", sizes + "y = Col2Im<dilations = [2,1], pads = [1,2,0,1], strides = [1,2]>(x, s, k)"},
      {18, "float[1,16,36] x", "",
       "s = Constant<value_ints = [4,4,5]>() k = Constant<value_ints = [2,2,2]>() y = Col2Im(x, s, k)"},
  });
}

}  // namespace
}  // namespace gantry::test
