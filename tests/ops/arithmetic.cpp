// Arithmetic, bits and trigonometry: operator x type x shapes that broadcast.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

struct Shapes {
  std::string a, b;
};
const Shapes kShapes[] = {{"[2,3,4]", "[2,3,4]"}, {"[2,3,4]", "[4]"}, {"[3,1]", "[2,1,4]"}, {"[1]", "[2,3]"}};

/// y = op(a, b) for each pair of shapes; `nonzero` keeps b from 0 and below.
void add_binary(std::vector<Row>& rows, int opset, const std::string& op, const std::string& type, bool nonzero,
                const std::string& result) {
  for (const Shapes& s : kShapes) {
    const std::string inputs = type + s.a + " a, " + type + s.b + " b";
    const std::string safe = "one = Constant<value_int = 1>() low = CastLike(one, b) m = Abs(b) d = Max(m, low) ";
    const std::string call = "y = " + op + (nonzero ? "(a, d)" : "(a, b)");
    rows.push_back({opset, inputs, "", (nonzero ? safe : "") + call, result + "[] y"});
  }
}

TEST(Arithmetic, OfEveryType) {
  std::vector<Row> rows;
  for (const std::string type : {"float", "double", "int32", "int64"}) {
    for (const char* op : {"Add", "Sub", "Mul", "Max", "Min"}) add_binary(rows, 17, op, type, false, type);
    add_binary(rows, 17, "Div", type, true, type);
  }
  for (const std::string type : {"int8", "uint8", "uint32", "uint64"})
    for (const char* op : {"Max", "Min"}) add_binary(rows, 17, op, type, false, type);
  expect_equal(rows);
}

TEST(Arithmetic, RemaindersTakeTheSignThatTheAttributeSays) {
  std::vector<Row> rows;
  for (const std::string type : {"int8", "int32", "int64", "uint8", "uint32", "uint64"})
    add_binary(rows, 17, "Mod", type, true, type);
  for (const std::string type : {"float", "int8", "int32", "int64"})
    add_binary(rows, 17, "Mod<fmod = 1>", type, true, type);
  expect_equal(rows);
}

TEST(Arithmetic, Comparisons) {
  std::vector<Row> rows;
  for (const std::string type : {"float", "double", "int32", "int64"})
    for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
      add_binary(rows, 17, op, type, false, "bool");
  add_binary(rows, 17, "Equal", "bool", false, "bool");
  expect_equal(rows);
}

TEST(Arithmetic, Bits) {
  std::vector<Row> rows;
  for (const std::string type : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}) {
    for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) add_binary(rows, 18, op, type, false, type);
    rows.push_back({18, type + "[2,3] a", "", "y = BitwiseNot(a)", type + "[] y"});
  }
  for (const std::string type : {"uint8", "uint32", "uint64"})
    for (const char* way : {"LEFT", "RIGHT"})
      rows.push_back({13, type + "[2,3] a", "",
                      "three = Constant<value_int = 3>() s = Cast<to = " +
                          std::string(type == "uint8"    ? "2"
                                      : type == "uint32" ? "12"
                                                         : "13") +
                          ">(three) y = BitShift<direction = \"" + way + "\">(a, s)",
                      type + "[] y"});
  expect_equal(rows);
}

TEST(Arithmetic, Trigonometry) {
  std::vector<Row> rows;
  for (const std::string shape : {"[6]", "[2,3,4]", "[1,1]"}) {
    for (const char* op : {"Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Tanh"})
      rows.push_back({22, "float" + shape + " x", "", std::string("y = ") + op + "(x)"});
    for (const char* op : {"Asin", "Acos", "Atanh"})
      rows.push_back(
          {22, "float" + shape + " x", "",
           std::string("half = Constant<value_float = 0.9>() t = Tanh(x) u = Mul(t, half) y = ") + op + "(u)"});
    rows.push_back({22, "float" + shape + " x", "",
                    "one = Constant<value_float = 1.0>() m = Abs(x) u = Add(m, one) y = Acosh(u)"});
  }
  for (const char* op : {"Sin", "Cos", "Tan", "Asin", "Acos", "Atan"})
    rows.push_back({7, "float[2,3] x", "", std::string("t = Tanh(x) y = ") + op + "(t)"});
  expect_equal(rows);
}

TEST(Arithmetic, PowersOfMixedTypes) {
  std::vector<Row> rows;
  for (const std::string base : {"float", "int32", "int64"})
    for (const std::string exponent : {"float", "int32", "int64"})
      rows.push_back(
          {15, base + "[2,3] a, " + exponent + "[3] b", "",
           "one = Constant<value_int = 1>() l = CastLike(one, a) p = Abs(a) u = Max(p, l) two = Constant<value_int "
           "= 2>() w = CastLike(two, b) q = Abs(b) e = Min(q, w) y = Pow(u, e)",
           base + "[] y"});
  expect_equal(rows);
}

}  // namespace
}  // namespace gantry::test
