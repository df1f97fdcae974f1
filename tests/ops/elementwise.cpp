#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

TEST(Operators, Unary) {
  std::vector<Row> rows;
  for (const char* op : {"Abs",      "Neg",      "Exp",  "Sin",       "Cos",         "Floor",     "Ceil",
                         "Round",    "Sign",     "Tanh", "Sigmoid",   "Relu",        "HardSwish", "Erf",
                         "Softplus", "Softsign", "Elu",  "LeakyRelu", "HardSigmoid", "Identity",  "Reciprocal"})
    rows.push_back({17, "float[2,3,4] x", "", std::string("y = ") + op + "(x)", "float[] y",
                    op == std::string("Erf") ? 1e-6 : 1e-4});
  for (const char* op : {"Sqrt", "Log"})
    rows.push_back({17, "float[2,3,4] x", "", std::string("a = Exp(x) y = ") + op + "(a)"});
  rows.push_back({17, "float[2,3,4] x", "", "y = Elu<alpha = 0.5>(x)"});
  rows.push_back({17, "float[2,3,4] x", "", "y = LeakyRelu<alpha = 0.3>(x)"});
  rows.push_back({17, "float[2,3,4] x", "", "y = HardSigmoid<alpha = 0.1666666716337204, beta = 0.5>(x)"});
  rows.push_back({20, "float[2,3,4] x", "", "y = Gelu(x)"});
  rows.push_back({20, "float[2,3,4] x", "", "y = Gelu<approximate = \"tanh\">(x)"});
  expect_equal(rows);
}

TEST(Operators, OldOpsets) {
  std::vector<Row> rows;
  for (const char* op : {"Abs", "Neg", "Exp", "Floor", "Ceil", "Tanh", "Sigmoid", "Relu", "Elu", "LeakyRelu"})
    rows.push_back({7, "float[2,3,4] x", "", std::string("y = ") + op + "(x)"});
  for (const char* op : {"Add", "Sub", "Mul", "Max", "Min", "Sum", "Mean"})
    rows.push_back({7, "float[2,3] a, float[2,3] b", "", std::string("y = ") + op + "(a, b)"});
  expect_equal(rows);
}

TEST(Operators, BroadcastBinary) {
  const std::pair<const char*, const char*> shapes[] = {
      {"[2,3,4]", "[2,3,4]"}, {"[2,3,4]", "[4]"},       {"[4]", "[2,3,4]"}, {"[2,1,4]", "[3,1]"},
      {"[1]", "[2,3]"},       {"[2,3,4,5]", "[3,1,1]"}, {"[]", "[2,3]"},    {"[2,3,4,5,6]", "[4,1,1]"}};
  std::vector<Row> rows;
  for (const char* op : {"Add", "Sub", "Mul", "Max", "Min"})
    for (const auto& [a, b] : shapes)
      rows.push_back({17, std::string("float") + (a == std::string("[]") ? "" : a) + " a, float" + b + " b", "",
                      std::string("y = ") + op + "(a, b)"});
  rows.push_back({17, "float[2,3] a, float[2,3] b", "", "c = Exp(b) y = Div(a, c)"});
  rows.push_back({17, "float[2,3] a, float[3] b", "", "c = Exp(a) y = Pow(c, b)"});
  rows.push_back({17, "float[2,3] a", "", "c = Constant<value_float = 2.0>() y = Pow(a, c)"});
  rows.push_back({17, "float[2,3] a", "", "e = Exp(a) c = Constant<value_float = 0.5>() y = Pow(e, c)"});
  rows.push_back({17, "float[2,3] a, float[2,3] b, float[3] c", "", "y = Sum(a, b, c)"});
  rows.push_back({17, "float[2,3] a, float[2,3] b, float[3] c", "", "y = Mean(a, b, c)"});
  rows.push_back({17, "float[2,3] a, float[2,3] b, float[3] c", "", "y = Max(a, b, c)"});
  expect_equal(rows);
}

TEST(Operators, ComparisonsAndSelection) {
  std::vector<Row> rows;
  for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    rows.push_back({17, "float[2,3,4] a, float[4] b", "", std::string("c = ") + op + "(a, b) y = Where(c, a, b)"});
  rows.push_back({17, "bool[2,3] a, bool[3] b", "", "y = And(a, b)", "bool[] y"});
  rows.push_back({17, "bool[2,3] a, bool[3] b", "", "y = Or(a, b)", "bool[] y"});
  rows.push_back({17, "bool[2,3] a, bool[3] b", "", "y = Xor(a, b)", "bool[] y"});
  rows.push_back({17, "bool[2,3] a", "", "y = Not(a)", "bool[] y"});
  rows.push_back({17, "int64[2,3] a, int64[3] b", "", "y = Add(a, b)", "int64[] y"});
  rows.push_back({17, "int32[2,3] a, int32[3] b", "", "y = Mul(a, b)", "int32[] y"});
  rows.push_back({17, "float[2,3] a", "", "y = Cast<to = 7>(a)", "int64[] y"});
  rows.push_back({17, "int64[2,3] a", "", "y = Cast<to = 1>(a)"});
  rows.push_back({17, "float[2,3] a", "", "y = Cast<to = 9>(a)", "bool[] y"});
  expect_equal(rows);
}

TEST(Operators, ClipAndPRelu) {
  expect_equal({
      {6, "float[2,3] x", "", "y = Clip<min = 0.0, max = 6.0>(x)"},
      {6, "float[2,3] x", "", "y = Clip<max = 0.5>(x)"},
      {13, "float[2,3] x", "",
       "a = Constant<value_float = -0.5>() b = Constant<value_float = 0.25>() y = Clip(x, a, b)"},
      {13, "float[2,3] x", "", "a = Constant<value_float = 0.0>() y = Clip(x, a)"},
      {13, "float[2,3] x", "", "b = Constant<value_float = 0.25>() y = Clip(x, , b)"},
      {13, "float[2,3] x, float lo", "", "y = Clip(x, lo)"},
      {13, "float[2,3] x", "", "y = Clip(x)"},
      {16, "float[2,3,4,5] x", "s=3,1,1", "y = PRelu(x, s)"},
      {16, "float[2,3,4,5,6] x", "s=1", "y = PRelu(x, s)"},
  });
  EXPECT_EQ(
      converted_operators({13, "float[2,3] x", "",
                           "a = Constant<value_float = 0.0>() b = Constant<value_float = 6.0>() y = Clip(x, a, b)"})
          .count("RELU6"),
      1u);
}

TEST(Operators, NarrowIntegersAreComputedWide) {
  std::vector<Row> rows;
  for (const std::string t : {"int8", "uint8", "int16", "uint16", "uint32", "int32", "int64"}) {
    const std::string inputs = t + "[2,3,4] a, " + t + "[4] b";
    const bool runtime_has_max = t.find("16") == std::string::npos;  // ONNX Runtime has none of 16 bits
    for (const std::string op : {"Add", "Sub", "Mul", "Max", "Min"})
      if (op[0] != 'M' || op == "Mul" || runtime_has_max)
        rows.push_back({18, inputs, "", "y = " + op + "(a, b)", t + "[] y"});
    for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
      if (t[0] != 'u' || op == std::string("Equal"))
        rows.push_back({18, inputs, "", std::string("y = ") + op + "(a, b)", "bool[] y"});
  }
  rows.push_back({18, "int8[2,3] a, int8[3] b", "", "c = Equal(a, b) y = Where(c, a, b)", "int8[] y"});
  rows.push_back(
      {18, "uint8[2,3] a", "", "c = Cast<to = 6>(a) d = Sub(c, c) e = Cast<to = 2>(d) y = Add(a, e)", "uint8[] y"});
  expect_equal(rows);
}

TEST(Operators, Casts) {
  std::vector<Row> rows;
  const std::pair<const char*, int> types[] = {{"float", 1}, {"uint8", 2}, {"int8", 3}, {"uint16", 4},  {"int16", 5},
                                               {"int32", 6}, {"int64", 7}, {"bool", 9}, {"double", 11}, {"uint32", 12}};
  for (const auto& [from, x] : types)
    for (const auto& [to, y] : types) {
      if (from == std::string("double") && to == std::string("bool")) continue;
      rows.push_back({18, std::string(from) + "[2,3] a", "", "y = Cast<to = " + std::to_string(y) + ">(a)",
                      std::string(to) + "[] y"});
    }
  expect_equal(rows);
}

TEST(Operators, SoftmaxOfEveryAxisAndOpset) {
  std::vector<Row> rows;
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (int axis : {-1, 0, 1, 2})
      for (int opset : {11, 13}) {
        if (opset == 11 && axis < 0) continue;
        rows.push_back(
            {opset, "float[2,3,4] x", "", std::string("y = ") + op + "<axis = " + std::to_string(axis) + ">(x)"});
      }
  rows.push_back({11, "float[2,3,4,5] x", "", "y = Softmax(x)"});
  rows.push_back({17, "float[2,3,4,5] x", "", "y = Softmax<axis = 1>(x)"});
  expect_equal(rows);
}

TEST(Operators, Normalizations) {
  expect_equal({
      {17, "float[2,5,8] x", "s=8 b=8", "y = LayerNormalization(x, s, b)"},
      {17, "float[2,5,8] x", "s=8", "y = LayerNormalization<epsilon = 0.01>(x, s)"},
      {17, "float[2,3,4,5] x", "s=4,5 b=4,5", "y = LayerNormalization<axis = 2>(x, s, b)"},
      {17, "float[2,3,4,5] x", "s=3 b=3", "y = InstanceNormalization(x, s, b)"},
      {14, "float[2,3] x", "", "y = Dropout(x)"},
      {11, "float[2,3] x", "", "y = Dropout<ratio = 0.3>(x)"},
  });
}

TEST(Operators, WhatTheKernelsLackIsRefusedByName) {
  expect_refused({{20, "uint8[9] x", "", "y = ImageDecoder(x)", "uint8[H,W,C] y"}}, "decodes no images");
  expect_refused({{17, "float[2,3] x", "", "y = RandomUniformLike(x)"}}, "--allow-random");
}

}  // namespace
}  // namespace gantry::test
