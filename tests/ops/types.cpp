// Element types that a kernel lacks: computed in another type and brought back.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

const std::vector<std::string> kIntegers = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"};

TEST(ElementTypes, ElementsOfEveryTypeAreMoved) {
  std::vector<Row> rows;
  std::vector<std::string> types = kIntegers;
  for (const char* t : {"float16", "double", "bool"}) types.emplace_back(t);
  for (const std::string& t : types) {
    const std::string out = t + "[] y";
    rows.push_back({18, t + "[2,3] a, " + t + "[2,3] b", "", "y = Concat<axis = 1>(a, b)", out});
    rows.push_back({18, t + "[2,3] a", "", "i = Constant<value_ints = [2,0]>() y = Gather<axis = 1>(a, i)", out});
    rows.push_back(
        {18, t + "[2,4] a", "", "b, c = Split<axis = 1, num_outputs = 2>(a) y = Concat<axis = 0>(c, b)", out});
    rows.push_back({18, t + "[2,4] a", "", "y = Transpose(a)", out});
  }
  expect_equal(rows);
}

TEST(ElementTypes, FloatsOfOtherWidths) {
  std::vector<Row> rows;
  for (const std::string t : {"float16", "double"}) {
    const std::string out = t + "[] y";
    for (const char* op : {"Exp", "Tanh", "Sigmoid", "Relu", "Abs", "Neg", "Softplus", "Floor"})
      rows.push_back({18, t + "[2,3] a", "", std::string("y = ") + op + "(a)", out, 2e-3});
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
      rows.push_back(
          {18, t + "[2,3] a, " + t + "[3] c", "", std::string("b = Exp(c) y = ") + op + "(a, b)", out, 2e-3});
    rows.push_back({18, t + "[2,3] a, " + t + "[3,4] b", "", "y = MatMul(a, b)", out, 2e-3});
    rows.push_back({18, t + "[2,3] a", "", "b = Exp(a) c = Tanh(b) d = Log(b) y = Add(d, c)", out, 1e-2});
  }
  expect_equal(rows);
}

TEST(ElementTypes, Float64StaysInFloat32BetweenOperators) {
  const auto ops = converted_operators({18, "double[2,3] a", "", "b = Exp(a) c = Tanh(b) y = Neg(c)", "double[] y"});
  EXPECT_EQ(ops.at("CAST"), 2u);
}

}  // namespace
}  // namespace gantry::test
