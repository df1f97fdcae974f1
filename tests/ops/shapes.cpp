#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

TEST(Operators, GemmAndMatMul) {
  std::vector<Row> rows{
      {13, "float[3,4] a", "w=5,4 c=5", "y = Gemm<transB = 1>(a, w, c)"},
      {13, "float[3,4] a", "w=4,5 c=1,5", "y = Gemm<alpha = 0.5, beta = 2.0>(a, w, c)"},
      {13, "float[4,3] a", "w=4,5 c=3,1", "y = Gemm<transA = 1>(a, w, c)"},
      {13, "float[4,3] a", "w=4,5 c=3,5", "y = Gemm<transA = 1, beta = 0.5>(a, w, c)"},
      {13, "float[3,4] a, float[4,5] b", "", "y = Gemm(a, b)"},
      {13, "float[3,4] a, float[5,4] b, float[5] c", "", "y = Gemm<transB = 1, alpha = 2.0>(a, b, c)"},
      {13, "float[3,4] a", "w=4,5", "y = MatMul(a, w)"},
      {13, "float[2,3,4] a", "w=4,5 c=5", "p = MatMul(a, w) y = Add(p, c)"},
      {13, "float[2,3,4] a, float[2,4,5] b", "", "y = MatMul(a, b)"},
      {13, "float[2,3,4] a, float[4,5] b", "", "y = MatMul(a, b)"},
      {13, "float[3,4] a, float[2,4,5] b", "", "y = MatMul(a, b)"},
      {13, "float[2,1,3,4] a, float[5,4,6] b", "", "y = MatMul(a, b)"},
      {13, "float[4] a, float[4,5] b", "", "y = MatMul(a, b)"},
      {13, "float[2,3,4] a, float[4] b", "", "y = MatMul(a, b)"},
      {13, "float[4] a, float[4] b", "", "y = MatMul(a, b)"},
      {13, "float[1,2,2,2,3,4] a, float[1,2,2,2,4,5] b", "", "y = MatMul(a, b)"},
      {13, "float[2,4,3] a, float[2,4,5] b", "", "t = Transpose<perm = [0,2,1]>(a) y = MatMul(t, b)"},
  };
  expect_equal(rows);
}

TEST(Operators, Reductions) {
  std::vector<Row> rows;
  for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSumExp"})
    for (const char* axes : {"[1]", "[-1]", "[0,2]", "[2,3]"})
      for (const char* keep : {"0", "1"})
        rows.push_back(
            {18, "float[2,3,4,5] x", "",
             std::string("a = Constant<value_ints = ") + axes + ">() y = " + op + "<keepdims = " + keep + ">(x, a)"});
  rows.push_back({13, "float[2,3,4] x", "", "y = ReduceMean<axes = [1], keepdims = 0>(x)"});
  rows.push_back({13, "float[2,3,4] x", "", "y = ReduceMean(x)"});
  rows.push_back({18, "float[2,3,4] x", "", "y = ReduceMax<noop_with_empty_axes = 1>(x)"});
  rows.push_back({13, "float[2,3,4] x", "", "y = ArgMax<axis = 1, keepdims = 0>(x)", "int64[] y"});
  rows.push_back({13, "float[2,3,4] x", "", "y = ArgMin<axis = -1>(x)", "int64[] y"});
  rows.push_back(
      {14, "float[2,3,4] x", "", "a = Constant<value_int = 1>() y = CumSum<exclusive = 1, reverse = 1>(x, a)"});
  expect_equal(rows);
}

TEST(Operators, MovingElements) {
  expect_equal({
      {14, "float[2,3,4] x", "", "s = Constant<value_ints = [0,-1]>() y = Reshape(x, s)"},
      {13, "float[2,3,4] x", "", "y = Flatten<axis = 2>(x)"},
      {13, "float[2,3,4] x", "", "y = Flatten<axis = 0>(x)"},
      {13, "float[1,3,1,4] x", "", "a = Constant<value_ints = [0,2]>() y = Squeeze(x, a)"},
      {11, "float[1,3,1,4] x", "", "y = Squeeze<axes = [2]>(x)"},
      {13, "float[1,3,1,4] x", "", "y = Squeeze(x)"},
      {13, "float[3,4] x", "", "a = Constant<value_ints = [0,-1]>() y = Unsqueeze(x, a)"},
      {11, "float[3,4] x", "", "y = Unsqueeze<axes = [1]>(x)"},
      {13, "float[2,3,4] x", "", "y = Transpose(x)"},
      {13, "float[2,3,4,5] x", "", "y = Transpose<perm = [0,3,1,2]>(x)"},
      {13, "float[2,3] a, float[2,4] b", "", "y = Concat<axis = 1>(a, b)"},
      {13, "float[2,3] a", "b=1,3", "y = Concat<axis = 0>(a, b)"},
      {18, "float[2,7] x", "", "a, b, c = Split<axis = 1, num_outputs = 3>(x) y = Concat<axis = 1>(c, a, b)"},
      {13, "float[2,6] x", "", "a, b = Split<axis = 1>(x) y = Sub(a, b)"},
      {13, "float[2,6] x", "",
       "s = Constant<value_ints = [2,4]>() a, b = Split<axis = 1>(x, s) y = Concat<axis = 1>(b, a)"},
      {11, "float[2,6] x", "", "a, b = Split<axis = 1, split = [2,4]>(x) y = Concat<axis = 1>(b, a)"},
      {13, "float[2,1,4] x", "", "s = Constant<value_ints = [2,3,4]>() y = Expand(x, s)"},
      {13, "float[2,3] x", "", "r = Constant<value_ints = [2,3]>() y = Tile(x, r)"},
      {13, "float[1,8,3,4] x", "", "y = DepthToSpace<blocksize = 2>(x)"},
      {13, "float[1,8,3,4] x", "", "y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x)"},
      {13, "float[1,2,4,6] x", "", "y = SpaceToDepth<blocksize = 2>(x)"},
  });
}

TEST(Operators, NothingIsNoOperator) {
  expect_equal({
      {13, "float[2,3] x", "",
       "s = Constant<value_ints = [3,0]>() a, b = Split<axis = 1>(x, s) c = Exp(b) y = Concat<axis = 1>(c, a)"},
      {13, "float[2,3] x", "",
       "s = Constant<value_ints = [1,0,2]>() a, b, c = Split<axis = 1>(x, s) y = Concat<axis = 1>(c, b, a)"},
      {13, "float[2,3] x", "",
       "s = Constant<value_ints = [1]>() a = Slice(x, s, s, s) b = Neg(a) y = Concat<axis = 1>(b, x)"},
  });
  expect_refused({{13, "float[2,3] x", "", "s = Constant<value_ints = [1]>() y = Slice(x, s, s, s)"}},
                 "without elements");
}

TEST(Operators, PickingElements) {
  const auto slice = [](const char* starts, const char* ends, const char* axes, const char* steps) {
    return Row{13, "float[4,5,6] x", "",
               std::string("s = Constant<value_ints = ") + starts + ">() e = Constant<value_ints = " + ends +
                   ">() a = Constant<value_ints = " + axes + ">() p = Constant<value_ints = " + steps +
                   ">() y = Slice(x, s, e, a, p)"};
  };
  expect_equal({
      slice("[1]", "[3]", "[0]", "[1]"),
      slice("[1,-3]", "[3,9223372036854775807]", "[0,2]", "[1,1]"),
      slice("[0]", "[6]", "[2]", "[2]"),
      slice("[-1]", "[-9223372036854775807]", "[1]", "[-1]"),
      slice("[4,5]", "[0,1]", "[1,2]", "[-2,-1]"),
      {9, "float[4,5,6] x", "", "y = Slice<starts = [1,2], ends = [3,100], axes = [0,2]>(x)"},
      {13, "float[4,5] x", "", "i = Constant<value_ints = [2,-1,0]>() y = Gather<axis = 1>(x, i)"},
      {13, "float[4,5] x", "", "i = Constant<value_int = -2>() y = Gather(x, i)"},
      {13, "float[4,5] x, int64[2,2] i", "", "t = Constant<value_int = 3>() j = Mod(i, t) y = Gather<axis = 1>(x, j)"},
      {13, "int64[2,3] i", "w=11,4", "y = Gather(w, i)"},
      {13, "float[2,3,4] x", "", "p = Constant<value_ints = [0,1,0,0,2,1]>() y = Pad(x, p)"},
      {13, "float[2,3,4] x", "",
       "p = Constant<value_ints = [0,1,0,0,2,1]>() v = Constant<value_float = 1.5>() y = Pad(x, p, v)"},
      {13, "float[2,3,4] x", "", "p = Constant<value_ints = [0,-1,0,0,2,-1]>() y = Pad(x, p)"},
      {13, "float[2,3,4] x", "", "p = Constant<value_ints = [0,2,1,0,1,3]>() y = Pad<mode = \"reflect\">(x, p)"},
      {13, "float[2,3,4] x", "", "p = Constant<value_ints = [1,2,1,0,1,3]>() y = Pad<mode = \"edge\">(x, p)"},
      {19, "float[2,3,4] x", "", "p = Constant<value_ints = [0,2,1,0,1,3]>() y = Pad<mode = \"wrap\">(x, p)"},
      {10, "float[2,3,4] x", "", "y = Pad<pads = [0,1,0,0,2,1], value = 0.5>(x)"},
  });
}

TEST(Operators, ResizeOfEveryMode) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& attributes, const char* scales) {
    rows.push_back({13, "float[1,2,5,6] x", "",
                    std::string("r = Constant<value_floats = [0.0]>() s = Constant<value_floats = ") + scales +
                        ">() y = Resize<" + attributes + ">(x, , s)"});
  };
  for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})
    for (const char* scales : {"[1.0,1.0,2.0,2.0]", "[1.0,1.0,1.6,0.5]"}) {
      for (const char* mode : {"linear", "cubic"})
        add(std::string("mode = \"") + mode + "\", coordinate_transformation_mode = \"" + coordinates + "\"", scales);
      for (const char* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
        add(std::string("mode = \"nearest\", coordinate_transformation_mode = \"") + coordinates +
                "\", nearest_mode = \"" + nearest + "\"",
            scales);
    }
  rows.push_back(
      {13, "float[1,2,5,6] x", "", "z = Constant<value_ints = [1,2,7,9]>() y = Resize<mode = \"linear\">(x, , , z)"});
  rows.push_back(
      {18, "float[1,2,5,6] x", "",
       "z = Constant<value_ints = [3,4]>() y = Resize<mode = \"linear\", axes = [2,3], antialias = 1>(x, , , z)"});
  rows.push_back({8, "float[1,2,5,6] x", "", "y = Upsample<mode = \"linear\", scales = [1.0,1.0,2.0,3.0]>(x)"});
  rows.push_back({9, "float[1,2,5,6] x", "", "s = Constant<value = float[4] {1.0,1.0,2.0,2.0}>() y = Upsample(x, s)",
                  "float[] y"});
  for (Row& r : rows)
    if (const std::size_t at = r.nodes.find("r = Constant<value_floats = [0.0]>() "); at != std::string::npos)
      r.nodes.erase(at, 37);
  expect_equal(rows);
}

TEST(Operators, TwoSpellingsAreOneThing) {
  const auto gemm = converted_operators({13, "float[3,4] a", "w=5,4 c=5", "y = Gemm<transB = 1>(a, w, c)"});
  const auto matmul = converted_operators({13, "float[3,4] a", "w=4,5 c=5", "p = MatMul(a, w) y = Add(p, c)"});
  EXPECT_EQ(gemm, matmul);
  const auto old_form = converted_operators({11, "float[2,3,4] x", "", "y = ReduceMean<axes = [1]>(x)"});
  const auto new_form =
      converted_operators({18, "float[2,3,4] x", "", "a = Constant<value_ints = [1]>() y = ReduceMean(x, a)"});
  EXPECT_EQ(old_form, new_form);
}

TEST(Shapes, AxesOfSizeOne) {
  std::vector<Row> rows;
  for (const char* axis : {"0", "1", "2"}) {
    const std::string at = std::string("<axis = ") + axis + ">";
    const std::string a = std::string("a = Constant<value_int = ") + axis + ">() ";
    for (const char* x : {"float[1,1,1] x", "float[1,3,1] x", "float[2,1,4] x"}) {
      rows.push_back({18, x, "", a + "y = CumSum(x, a)"});
      rows.push_back({18, x, "", "y = Concat" + at + "(x)"});
      rows.push_back({18, x, "", "y = Concat" + at + "(x, x)"});
      rows.push_back({18, x, "", "n = Constant<value_int = 0>() y = Gather" + at + "(x, n)"});
      rows.push_back({18, x, "", "y = ArgMax" + at + "(x)", "int64[] y"});
      rows.push_back({18, x, "", "y = Softmax" + at + "(x)"});
    }
    rows.push_back({18, "float[1,1,1] x", "", "n = Constant<value_ints = [1]>() y = Split" + at + "(x, n)"});
  }
  expect_equal(rows);
}

}  // namespace
}  // namespace gantry::test
