// If, Loop and Scan: what a body may use, give and change, over the opsets in which their forms differ.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

/// A condition, and a count of 0 to 6, that only the data tell.
const std::string kCondition =
    "zero = Constant<value_float = 0.0>() s = ReduceSum<keepdims = 0>(x) c = Greater(s, zero) ";
const std::string kCount =
    "zero = Constant<value_float = 0.0>() p = Greater(x, zero) k = Cast<to = 7>(p) n = ReduceSum<keepdims = 0>(k) ";

std::string if_of(const std::string& then_body, const std::string& else_body) {
  return "y = If<then_branch = t () => (float[] a) {" + then_body + "}, else_branch = e () => (float[] b) {" +
         else_body + "}>(c)";
}

TEST(ControlFlow, If) {
  std::vector<Row> rows;
  for (const int opset : {12, 13, 16, 19, 21}) {
    rows.push_back({opset, "float[2,3] x", "w=2,3", kCondition + if_of("a = Add(x, w)", "b = Sub(w, x)")});
    rows.push_back({opset, "float[2,3] x", "", kCondition + if_of("a = Identity(x)", "b = Neg(x)")});
  }
  rows.push_back({13, "float[2,3] x", "w=2,3", kCondition + if_of("a = Identity(w)", "b = Mul(x, x)")});
  // The same value twice, and an operand itself.
  rows.push_back({13, "float[2,3] x", "",
                  kCondition +
                      "y, z = If<then_branch = t () => (float[2,3] a, float[2,3] b) { a = Neg(x) b = Identity(a) },"
                      "else_branch = e () => (float[2,3] d, float[2,3] f) { d = Identity(x) f = Identity(x) }>(c)",
                  "float[2,3] y, float[2,3] z"});
  // One in another, each with what it uses of outside.
  rows.push_back({13, "float[2,3] x", "w=2,3",
                  kCondition + "d = Less(s, w1) " +
                      if_of("i = If<then_branch = tt () => (float[] q) { q = Add(x, s) },"
                            "else_branch = ee () => (float[] q2) { q2 = Mul(x, w) }>(d) a = Neg(i)",
                            "b = Exp(w)")});
  rows.back().nodes = "w1 = Constant<value_float = 1.0>() " + rows.back().nodes;
  // A constant condition is the branch that it takes.
  for (const char* c : {"0", "1"})
    rows.push_back({13, "float[2,3] x", "",
                    std::string("i = Constant<value_int = ") + c + ">() c = Cast<to = 9>(i) " +
                        if_of("a = Concat<axis = 1>(x, x)", "b = Neg(x)")});
  // Convolutions in a branch keep their own layout.
  rows.push_back({13, "float[1,3,8,8] x", "w=4,3,3,3 v=4,3,1,1",
                  kCondition + if_of("a = Conv<pads = [1,1,1,1]>(x, w)", "b = Conv(x, v)")});
  expect_equal(rows);
}

std::string loop_of(const std::string& body, const std::string& operands = "n, , x") {
  return "y, r = Loop<body = b (int64 i, bool g, float[2,3] v) => (bool h, float[2,3] u, float[] o) {" + body + "}>(" +
         operands + ")";
}
const std::string kOutputs = "float[] y, float[] r";
/// Rows of which only the data tell how many there are: their sum (gantry verify cannot read such an output).
const std::string kSum = " all = ReduceSum<keepdims = 0>(r)";
const std::string kSummed = "float[] y, float all";

TEST(ControlFlow, Loop) {
  std::vector<Row> rows;
  const std::string step = "h = Identity(g) f = Cast<to = 1>(i) t = Add(v, f) u = Mul(t, w) o = Identity(u)";
  for (const int opset : {12, 13, 16, 19, 21}) {
    rows.push_back({opset, "float[2,3] x", "w=2,3", "n = Constant<value_int = 12>() " + loop_of(step), kOutputs});
    rows.push_back({opset, "float[2,3] x", "w=2,3", "n = Constant<value_int = 3>() " + loop_of(step), kOutputs});
  }
  // How often is told by the data.
  rows.push_back({13, "float[2,3] x", "w=2,3", kCount + loop_of(step, "m, , x") + kSum, kSummed});
  rows.back().nodes.insert(kCount.size(), "one = Constant<value_int = 1>() m = Add(n, one) ");
  // Two values that change places, one that stays, and none collected.
  rows.push_back(
      {13, "float[2,3] x", "w=2,3",
       "n = Constant<value_int = 11>() d = Neg(x) y, z, a = Loop<body = b (int64 i, bool g, float[2,3] p, "
       "float[2,3] q, float[2,3] k) => (bool h, float[2,3] p1, float[2,3] q1, float[2,3] k1) { h = Identity(g) "
       "p1 = Identity(q) q1 = Identity(p) k1 = Identity(k) }>(n, , x, d, w)",
       "float[2,3] y, float[2,3] z, float[2,3] a"});
  // A loop in a loop, and an If in it.
  rows.push_back(
      {13, "float[2,3] x", "w=2,3",
       "n = Constant<value_int = 9>() m = Constant<value_int = 10>() " +
           loop_of("h = Identity(g) u = Loop<body = c (int64 j, bool gg, float[2,3] vv) => (bool hh, float[2,3] uu)"
                   "{ hh = Identity(gg) f = Cast<to = 1>(j) k = Constant<value_float = 0.01>() f1 = Mul(f, k) "
                   "t = Mul(w, f1) uu = Add(vv, t) }>(m, , v) "
                   "z = Constant<value_float = 0.0>() s = ReduceSum<keepdims = 0>(u) p = Greater(s, z) "
                   "o = If<then_branch = tb () => (float[2,3] a) { a = Neg(u) }, else_branch = eb () => "
                   "(float[2,3] bb) { bb = Add(u, x) }>(p)"),
       kOutputs});
  // Scalars and integers collected.
  rows.push_back(
      {13, "float[2,3] x", "",
       "n = Constant<value_int = 12>() o = Constant<value_int = 5>() y, r, a = Loop<body = b (int64 i, bool g, "
       "int64 v) => (bool h, int64 u, int64 w, bool z) { h = Identity(g) u = Add(v, i) w = Mul(u, o) z = "
       "Less(w, u) }>(n, , o)",
       "int64 y, int64[] r, bool[] a"});
  expect_equal(rows);
}

TEST(ControlFlow, Scan) {
  std::vector<Row> rows;
  const std::string body =
      "body = b (float[2] s, float[2] v) => (float[2] t, float[2] o) { t = Add(s, v) o = Mul(t, w) }";
  for (const int opset : {9, 11, 16, 19, 21}) {
    rows.push_back(
        {opset, "float[2] x, float[7,2] v", "w=2", "y, r = Scan<num_scan_inputs = 1, " + body + ">(x, v)", kOutputs});
    rows.push_back({opset, "float[2] x, float[2,7] v", "w=2",
                    "y, r = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], "
                    "scan_output_axes = [1], scan_output_directions = [1], " +
                        body + ">(x, v)",
                    kOutputs});
  }
  rows.push_back(
      {11, "float[2] x, float[2,7] v", "w=2",
       "y, r = Scan<num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1], " + body + ">(x, v)",
       kOutputs});
  for (const char* batch : {"1", "3"})
    rows.push_back({8, std::string("float[") + batch + ",2] x, float[" + batch + ",7,2] v", "w=2",
                    "y, r = Scan<num_scan_inputs = 1, " + body + ">( , x, v)", kOutputs});
  rows.push_back(
      {11, "float[2] x, float[1,2] v", "w=2", "y, r = Scan<num_scan_inputs = 1, " + body + ">(x, v)", kOutputs});
  // No state; several sequences; several results.
  rows.push_back(
      {11, "float[5,2] a, float[3,5] c", "",
       "y, r = Scan<num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1], body = b "
       "(float[2] u, float[3] v) => (float[2] o, float q) { m = ReduceSum<keepdims = 0>(v) o = Mul(u, m) q = "
       "ReduceSum<keepdims = 0>(o) }>(a, c)",
       kOutputs});
  expect_equal(rows);
}

TEST(ControlFlow, Refused) {
  expect_refused({{13, "float[2,3] x", "",
                   "y = Loop<body = b (int64 i, bool g, float[2,3] v) => (bool h, float[2,3] u) { h = Identity(g) u = "
                   "Neg(v) }>( , , x)"}},
                 "a loop without an end");
}

TEST(ControlFlow, FileDoesNotGrowWithTheLoop) {
  const auto operators = [](const std::string& n) {
    std::size_t sum = 0;
    for (const auto& [op, count] : converted_operators(
             {13, "float[2,3] x", "w=2,3",
              "n = Constant<value_int = " + n + ">() " +
                  loop_of("h = Identity(g) f = Cast<to = 1>(i) t = Add(v, f) u = Mul(t, w) o = Identity(u)"),
              kOutputs}))
      sum += count;
    return sum;
  };
  EXPECT_EQ(operators("20"), operators("2000"));
}

}  // namespace
}  // namespace gantry::test
