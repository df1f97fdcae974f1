// Patterns of the transformer plugin and of core_ops: the numbers are right, and what is not the pattern stays.
#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "host/pipeline.hpp"
#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

using Counts = std::map<std::string, std::size_t>;

struct Matched {
  std::string inputs, weights, nodes;
  Counts counts;  // of operators in what it becomes
  int opset = 17;
};

std::size_t count(const Counts& ops, const std::string& op) { return ops.contains(op) ? ops.at(op) : 0; }

void expect_counts(const std::vector<Matched>& cases) {
  for (const Matched& c : cases) {
    SCOPED_TRACE(c.inputs + " " + c.weights + ": " + c.nodes);
    const Row row{c.opset, c.inputs, c.weights, c.nodes};
    const Counts ops = converted_operators(row);
    for (const auto& [op, n] : c.counts) EXPECT_EQ(count(ops, op), n) << op;
    expect_equal({row});
  }
}

std::string number(const std::string& name, const std::string& value) {
  return name + " = Constant<value_float = " + value + ">() ";
}

const std::string kErfNumbers = number("r", "1.41421356") + number("i", "0.70710678") + number("one", "1.0") +
                                number("half", "0.5") + number("two", "2.0");
const std::string kTanhNumbers = number("k", "0.79788456") + number("c", "0.044715") + number("one", "1.0") +
                                 number("half", "0.5") + number("three", "3.0") + number("kc", "0.035677408");
const std::string kX = "float[2,3,8] x";

TEST(Patterns, GeluByErf) {
  std::vector<Matched> cases;
  for (const char* nodes : {
           "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(x, s) y = Mul(m, half)",
           "a = Mul(x, i) e = Erf(a) s = Add(one, e) h = Mul(half, x) y = Mul(h, s)",
           "a = Mul(i, x) e = Erf(a) s = Add(one, e) g = Mul(s, half) y = Mul(g, x)",
           "a = Mul(i, x) e = Erf(a) s = Add(one, e) m = Mul(s, x) y = Div(m, two)",
           "a = Mul(i, x) e = Erf(a) g = Mul(e, half) s = Add(g, half) y = Mul(x, s)",
           "a = Div(x, r) e = Erf(a) s = Add(e, one) h = Div(x, two) y = Mul(s, h)",
       })
    cases.push_back({kX, "", kErfNumbers + nodes, {{"GELU", 1}, {"MUL", 0}, {"ADD", 0}}});
  cases.push_back({"float[N,3] x",
                   "",
                   kErfNumbers + "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(x, s) y = Mul(m, half)",
                   {{"GELU", 1}}});
  expect_counts(cases);
}

TEST(Patterns, NotQuiteGeluByErf) {
  const std::string wrong = kErfNumbers + number("w", "1.5") + number("u", "0.4");
  std::vector<Matched> cases;
  for (const char* nodes : {
           "a = Div(x, w) e = Erf(a) s = Add(e, one) m = Mul(x, s) y = Mul(m, half)",
           "a = Div(x, r) e = Erf(a) s = Add(e, two) m = Mul(x, s) y = Mul(m, half)",
           "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(x, s) y = Mul(m, u)",
           "a = Div(x, r) e = Erf(a) s = Sub(e, one) m = Mul(x, s) y = Mul(m, half)",
           "z = Tanh(x) a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(z, s) y = Mul(m, half)",
           "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(x, s) h = Mul(m, half) y = Add(h, s)",
           "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(x, s) h = Mul(m, half) y = Add(h, e)",
           "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(s, s) y = Mul(m, half)",
           "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(x, s) n = Mul(m, x) y = Mul(n, half)",
       })
    cases.push_back({kX, "", wrong + nodes, {{"GELU", 0}}});
  cases.push_back({"float[3,8] x, float[2,3,8] z",
                   "",
                   kErfNumbers + "a = Div(x, r) e = Erf(a) s = Add(e, one) m = Mul(z, s) y = Mul(m, half)",
                   {{"GELU", 0}}});
  expect_counts(cases);
}

TEST(Patterns, GeluByTanh) {
  std::vector<Matched> cases;
  for (const char* inner : {
           "p = Pow(x, three) q = Mul(p, c) a = Add(x, q) t = Mul(a, k)",
           "p = Mul(x, x) p3 = Mul(x, p) q = Mul(c, p3) a = Add(q, x) t = Mul(k, a)",
           "p = Mul(x, x) q = Mul(c, p) a = Add(one, q) b = Mul(x, k) t = Mul(a, b)",
           "p = Pow(x, three) q = Mul(p, kc) b = Mul(x, k) t = Add(b, q)",
       })
    for (const char* outer : {"h = Tanh(t) s = Add(h, one) m = Mul(x, s) y = Mul(m, half)",
                              "h = Tanh(t) s = Add(one, h) g = Mul(half, x) y = Mul(g, s)"})
      cases.push_back({kX, "", kTanhNumbers + inner + " " + outer, {{"GELU", 1}, {"TANH", 0}, {"MUL", 0}}});
  const std::string wrong = kTanhNumbers + number("d", "0.04") + number("four", "4.0");
  for (const char* inner : {"p = Pow(x, three) q = Mul(p, d) a = Add(x, q) t = Mul(a, k)",
                            "p = Pow(x, four) q = Mul(p, c) a = Add(x, q) t = Mul(a, k)",
                            "p = Pow(x, three) q = Mul(p, c) a = Sub(x, q) t = Mul(a, k)",
                            "p = Pow(x, three) q = Mul(p, c) b = Add(x, q) a = Add(b, one) t = Mul(a, k)"})
    cases.push_back({kX,
                     "",
                     wrong + inner + " h = Tanh(t) s = Add(h, one) m = Mul(x, s) y = Mul(m, half)",
                     {{"GELU", 0}, {"TANH", 1}}});
  expect_counts(cases);
}

TEST(Patterns, SiluAndHardSwish) {
  const std::string numbers = number("one", "1.0") + number("three", "3.0") + number("zero", "0.0") +
                              number("six", "6.0") + number("sixth", "0.16666667") + number("five", "5.0");
  expect_counts({
      {kX, "", numbers + "n = Neg(x) e = Exp(n) s = Add(e, one) y = Div(x, s)", {{"LOGISTIC", 1}, {"EXP", 0}}},
      {kX, "", numbers + "e = Exp(x) s = Add(e, one) y = Div(x, s)", {{"LOGISTIC", 0}, {"EXP", 1}}},
      {kX, "", numbers + "n = Neg(x) e = Exp(n) s = Add(e, one) t = Div(x, s) y = Add(t, e)", {{"LOGISTIC", 0}}},
      {kX, "", numbers + "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)", {{"HARD_SWISH", 1}}},
      {kX,
       "",
       numbers + "a = Add(x, three) c = Clip(a, zero, six) d = Mul(c, sixth) y = Mul(d, x)",
       {{"HARD_SWISH", 1}}},
      {kX,
       "",
       numbers + "a = Add(x, three) c = Clip(a, zero, five) m = Mul(x, c) y = Div(m, six)",
       {{"HARD_SWISH", 0}}},
      {kX, "", numbers + "a = Add(x, one) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)", {{"HARD_SWISH", 0}}},
      {kX,
       "",
       numbers + "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, five)",
       {{"HARD_SWISH", 0}}},
  });
}

TEST(Patterns, LayerNormalizationBeforeMatMul) {
  const std::string w = "s=8 b=8 w=8,4 v=8,4 c=4";
  expect_counts({
      {kX,
       w,
       "n = LayerNormalization(x, s, b) y = MatMul(n, w)",
       {{"MEAN", 1}, {"SUB", 1}, {"MUL", 2}, {"FULLY_CONNECTED", 2}, {"RSQRT", 1}, {"ADD", 0}}},
      {kX, w, "n = LayerNormalization(x, s, b) p = MatMul(n, w) q = MatMul(n, v) y = Add(p, q)", {{"MUL", 2}}},
      {kX,
       w,
       "n = LayerNormalization(x, s, b) p = MatMul(n, w) q = ReduceMax<axes = [0, 1, 2]>(n) y = Add(p, q)",
       {{"MUL", 3}},
       17},
      {kX, "s=3,8 b=3,8", "y = LayerNormalization<axis = 1>(x, s, b)", {{"MEAN", 2}}},
      {kX,
       "s=8 b=8 w=8,8",
       "m = MatMul(x, w) n = LayerNormalization<epsilon = 0.1>(m, s, b) y = MatMul(n, w)",
       {{"MEAN", 0}}},
      {kX, "s=8", "y = RMSNormalization<epsilon = 0.01>(x, s)", {{"MEAN", 0}, {"FULLY_CONNECTED", 1}, {"MUL", 3}}, 23},
      {"float[A,B,8] x", "s=8 b=8 w=8,4", "n = LayerNormalization(x, s, b) y = MatMul(n, w)", {{"FULLY_CONNECTED", 2}}},
  });
}

TEST(Patterns, NormsSpelledOut) {
  const std::string numbers = number("eps", "0.001") + number("two", "2.0") + number("half", "0.5") +
                              number("minus", "-0.5") + number("one", "1.0");
  const std::string mean = "m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) ";
  const Counts layer{{"MEAN", 1}, {"SQRT", 0}, {"POW", 0}, {"DIV", 0}, {"RSQRT", 1}, {"SUB", 1}, {"MUL", 2}};
  std::vector<Matched> cases;
  for (const char* nodes : {
           "q = Pow(d, two) v = ReduceMean<axes = [-1]>(q) a = Add(v, eps) r = Sqrt(a) y = Div(d, r)",
           "q = Mul(d, d) v = ReduceMean<axes = [2]>(q) a = Add(eps, v) r = Sqrt(a) i = Reciprocal(r) y = Mul(i, d)",
           "q = Mul(d, d) v = ReduceMean<axes = [2]>(q) a = Add(eps, v) r = Sqrt(a) i = Div(one, r) y = Mul(d, i)",
           "q = Mul(d, d) v = ReduceMean<axes = [2]>(q) a = Add(eps, v) i = Pow(a, minus) y = Mul(d, i)",
           "q = Mul(d, d) v = ReduceMean<axes = [2]>(q) a = Add(eps, v) r = Pow(a, half) y = Div(d, r)",
           "e = Sub(x, m) q = Mul(e, e) v = ReduceMean<axes = [2]>(q) a = Add(eps, v) r = Sqrt(a) y = Div(d, r)",
       })
    cases.push_back({kX, "", numbers + mean + nodes, layer});
  cases.push_back({kX,
                   "s=8 b=8 w=8,4",
                   numbers + mean +
                       "q = Pow(d, two) v = ReduceMean<axes = [-1]>(q) a = Add(v, eps) r = Sqrt(a) n = Div(d, r) "
                       "ns = Mul(n, s) nb = Add(ns, b) y = MatMul(nb, w)",
                   {{"MUL", 2}, {"ADD", 0}, {"FULLY_CONNECTED", 2}}});
  cases.push_back({kX,
                   "",
                   numbers + "q = Mul(x, x) v = ReduceMean<axes = [2]>(q) a = Add(eps, v) r = Sqrt(a) y = Div(x, r)",
                   {{"MEAN", 0}, {"RSQRT", 1}, {"MUL", 2}, {"FULLY_CONNECTED", 1}}});
  for (const char* nodes : {
           // Another axis, a difference to the mean over another axis, another value, another power, a second reader.
           "q = Mul(d, d) v = ReduceMean<axes = [1]>(q) a = Add(eps, v) r = Sqrt(a) y = Div(d, r)",
           "q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) a = Add(eps, v) r = Sqrt(a) y = Div(x, r)",
           "q = Mul(d, x) v = ReduceMean<axes = [-1]>(q) u = Abs(v) a = Add(eps, u) r = Sqrt(a) y = Div(d, r)",
           "q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) a = Add(eps, v) r = Sqrt(a) y = Div(r, d)",
           "q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) a = Add(eps, v) r = Sqrt(a) n = Div(d, r) y = Add(n, r)",
       })
    cases.push_back({kX, "", numbers + mean + nodes, {{"RSQRT", 0}}});
  expect_counts(cases);
}

/// Masks of positions, of known sizes: nothing of them is left but a constant.
TEST(Patterns, MasksAreConstants) {
  const std::string numbers =
      number("zero", "0.0") + number("low", "-10000.0") +
      "i0 = Constant<value_int = 0>() i1 = Constant<value_int = 1>() n = Constant<value_int = 6>() "
      "w = Constant<value_int = 2>() row = Constant<value_ints = [0]>() column = "
      "Constant<value_ints = [1]>() shape = Constant<value_ints = [6, 6]>() ";
  const std::string places = "r = Range(i0, n, i1) k = Unsqueeze(r, row) q = Unsqueeze(r, column) ";
  const std::string inputs = "float[2,6,6] s";
  const Counts plain{{"ADD", 1},   {"SOFTMAX", 1}, {"SELECT_V2", 0}, {"LESS_EQUAL", 0},
                     {"RANGE", 0}, {"SUB", 0},     {"CAST", 0}};
  std::vector<Matched> cases;
  for (const char* mask : {
           "ones = ConstantOfShape<value = float[1] {1.0}>(shape) m = Trilu<upper = 0>(ones) z = Constant<value_float "
           "= 1.0>() "
           "h = Sub(z, m) b = Mul(h, low)",
           "ones = ConstantOfShape<value = float[1] {-10000.0}>(shape) b = Trilu<upper = 1>(ones, i1)",
           "c = LessOrEqual(k, q) b = Where(c, zero, low)",
           "c = Greater(k, q) f = Cast<to = 1>(c) b = Mul(f, low)",
           "c = LessOrEqual(k, q) d = Sub(q, k) e = Less(d, w) m = And(c, e) b = Where(m, zero, low)",
           "c = Greater(k, q) d = Sub(q, k) e = GreaterOrEqual(d, w) m = Or(c, e) o = Not(m) b = Where(o, zero, low)",
           "d = Sub(k, q) f = Cast<to = 1>(d) t = Constant<value_floats = [0.5, 0.25]>() "
           "ts = Constant<value_ints = [2, 1, 1]>() u = Reshape(t, ts) b = Mul(f, u)",
           "d = Sub(k, q) a = Abs(d) g = Neg(a) f = Cast<to = 1>(g) t = Constant<value_float = 0.5>() b = Mul(f, t)",
       })
    cases.push_back({inputs, "", numbers + places + mask + " x = Add(s, b) y = Softmax(x)", plain});
  expect_counts(cases);
}

TEST(Patterns, Rotary) {
  const std::string halves =
      "o = Constant<value_ints = [0]>() h = Constant<value_ints = [4]>() e = Constant<value_ints = "
      "[9223372036854775807]>() l = Constant<value_ints = [-1]>() a = Slice(x, o, h, l) b = "
      "Slice(x, h, e, l) ";
  const std::string rest = "xc = Mul(x, c) rs = Mul(r, s) y = Add(xc, rs)";
  const std::string x = "float[2,3,5,8] x";
  expect_counts({
      {x,
       "c=5,8 s=5,8",
       halves + "n = Neg(b) r = Concat<axis = -1>(n, a) " + rest,
       {{"GATHER", 1}, {"MUL", 2}, {"ADD", 1}, {"NEG", 0}, {"CONCATENATION", 0}, {"SLICE", 0}}},
      {x,
       "c=5,8 s=5,8",
       "a, b = Split<axis = 3, num_outputs = 2>(x) n = Neg(b) r = Concat<axis = 3>(n, a) " + rest,
       {{"GATHER", 1}, {"MUL", 2}, {"NEG", 0}, {"SPLIT", 0}},
       18},
      {x + ", float[5,8] s",
       "c=5,8",
       halves + "n = Neg(b) r = Concat<axis = -1>(n, a) " + rest,
       {{"GATHER", 1}, {"MUL", 3}, {"NEG", 0}}},
      // The halves the other way round, the other half negated, halves of another axis.
      {x, "c=5,8 s=5,8", halves + "n = Neg(b) r = Concat<axis = -1>(a, n) " + rest, {{"GATHER", 0}, {"NEG", 1}}},
      {x, "c=5,8 s=5,8", halves + "n = Neg(a) r = Concat<axis = -1>(n, b) " + rest, {{"GATHER", 0}, {"NEG", 1}}},
      {x,
       "c=5,8 s=5,8",
       halves + "n = Neg(b) m = Neg(n) r = Concat<axis = -1>(n, a) q = Mul(r, s) y = Concat<axis = -1>(q, m)",
       {{"NEG", 2}}},
      {"float[2,4,3,8] x",
       "c=2,3,4 s=2,3,4",
       "y = RotaryEmbedding(x, c, s)",
       {{"GATHER", 1}, {"MUL", 2}, {"ADD", 1}},
       23},
      {"float[2,4,3,8] x",
       "c=2,3,4 s=2,3,4",
       "y = RotaryEmbedding<interleaved = 1>(x, c, s)",
       {{"GATHER", 1}, {"MUL", 2}},
       23},
      {"float[2,4,3,8] x",
       "c=2,3,2 s=2,3,2",
       "y = RotaryEmbedding<rotary_embedding_dim = 4>(x, c, s)",
       {{"GATHER", 1}},
       23},
      {"float[2,4,3,8] x",
       "c=2,3,2 s=2,3,2",
       "y = RotaryEmbedding<rotary_embedding_dim = 4, interleaved = 1>(x, c, s)",
       {{"GATHER", 1}},
       23},
      {"float[2,3,32] x", "c=2,3,4 s=2,3,4", "y = RotaryEmbedding<num_heads = 4>(x, c, s)", {{"GATHER", 1}}, 23},
      {"float[B,3,32] x, int64[B,3] p",
       "c=12,4 s=12,4",
       "y = RotaryEmbedding<num_heads = 4>(x, c, s, p)",
       {{"GATHER", 3}},
       23},
      {"float[B,S,32] x, int64[B,S] p",
       "c=12,4 s=12,4",
       "y = RotaryEmbedding<num_heads = 4>(x, c, s, p)",
       {{"MUL", 4}},
       23},
      {"float[2,4,3,8] x, int64[2,3] p", "c=12,4 s=12,4", "y = RotaryEmbedding(x, c, s, p)", {{"GATHER", 3}}, 23},
  });
}

TEST(Patterns, Parts) {
  const std::string ints =
      "i0 = Constant<value_int = 0>() i1 = Constant<value_int = 1>() i2 = Constant<value_int = 2>() "
      "m1 = Constant<value_int = -1>() ";
  const auto cut = [](const std::string& name, const std::string& of, const std::string& from, const std::string& to,
                      const std::string& axis) {
    const auto list = [&](const std::string& suffix, const std::string& v) {
      return name + suffix + " = Constant<value_ints = [" + v + "]>() ";
    };
    return list("s", from) + list("e", to) + list("a", axis) + name + " = Slice(" + of + ", " + name + "s, " + name +
           "e, " + name + "a) ";
  };
  expect_counts({
      {"float[3,2,4] x",
       "",
       ints + "a = Gather<axis = 0>(x, i0) b = Gather<axis = 0>(x, i1) c = Gather<axis = 0>(x, m1) d = Sub(a, b) y = "
              "Mul(d, c)",
       {{"SPLIT", 1}, {"GATHER", 0}}},
      {"float[3,2,4] x",
       "",
       ints + "a = Gather<axis = 0>(x, i0) b = Gather<axis = 0>(x, i1) c = Gather<axis = 1>(x, i1) d = Sub(a, b) y = "
              "Mul(d, a)",
       {{"SPLIT", 0}}},
      // One of them in a subgraph that stands before: it could not read the parts.
      {"float[2,3] x, bool c",
       "",
       ints + "r = If (c) <then_branch = t () => (float[3] p) { p = Gather<axis = 0>(x, i0) }, else_branch = e () => "
              "(float[3] q) { q = Gather<axis = 0>(x, i1) }> z = Gather<axis = 0>(x, i1) y = Add(r, z)",
       {{"SPLIT", 0}}},
      {"float[2,5,4] x",
       "",
       cut("a", "x", "3", "9", "1") + cut("b", "x", "0", "3", "1") + "y = Concat<axis = 1>(a, b)",
       {{"GATHER", 1}, {"CONCATENATION", 0}}},
      {"float[2,5,4] x",
       "",
       cut("a", "x", "3", "9", "1") + cut("b", "x", "0", "2", "1") + "y = Concat<axis = 1>(a, b)",
       {{"GATHER", 0}}},
      {"float[2,4,4] x",
       "",
       cut("a", "x", "3", "9", "1") + cut("b", "x", "0", "3", "1") + "y = Concat<axis = 0>(b, b)",
       {{"GATHER", 0}}},
      {"float[2,6,6] x",
       "",
       cut("a", "x", "1", "5", "1") + cut("b", "a", "-3", "9", "2") + "y = Neg(b)",
       {{"SLICE", 1}}},
      {"float[2,6,6] x",
       "",
       cut("a", "x", "1", "5", "1") + cut("b", "a", "1", "9", "1") + "y = Neg(b)",
       {{"SLICE", 2}}},
  });
}

TEST(Patterns, ExpandBeforeArithmetic) {
  const std::string to = "h = Constant<value_ints = [2, 3, 4]>() ";
  expect_counts({
      {"float[2,3,4] x, float[2,1,4] b", "", to + "e = Expand(b, h) y = Mul(x, e)", {{"BROADCAST_TO", 0}, {"MUL", 1}}},
      {"float[2,3,4] x, float[4] b", "", to + "e = Expand(b, h) y = Sub(e, x)", {{"BROADCAST_TO", 0}, {"SUB", 1}}},
      // The other operand is smaller than the result: the Expand makes the shape.
      {"float[2,1,4] x, float[2,1,4] b", "", to + "e = Expand(b, h) y = Mul(x, e)", {{"BROADCAST_TO", 1}}},
      {"float[2,3,4] x, float[2,1,4] b", "", to + "e = Expand(b, h) y = Concat<axis = 0>(x, e)", {{"BROADCAST_TO", 1}}},
  });
}

TEST(Patterns, TapsThatReadPaddingOnly) {
  std::vector<Row> rows;
  for (const char* attributes :
       {"dilations = [6,6], pads = [6,6,6,6]", "dilations = [4,2], pads = [4,2,4,2]",
        "dilations = [5,5], pads = [5,5,5,5]", "dilations = [6,1], pads = [6,1,6,1], strides = [2,2]",
        "dilations = [3,3], pads = [6,0,6,0], strides = [3,1]", "dilations = [5,1], pads = [10,1,0,1]",
        "pads = [2,2,2,2]"})
    rows.push_back({17, "float[1,2,5,7] x", "w=4,2,3,3 b=4", std::string("y = Conv<") + attributes + ">(x, w, b)"});
  rows.push_back(
      {17, "float[1,4,5,5] x", "w=4,2,3,3", "y = Conv<dilations = [6,6], pads = [6,6,6,6], group = 2>(x, w)"});
  rows.push_back(
      {17, "float[1,4,5,5] x", "w=4,1,3,3", "y = Conv<dilations = [6,6], pads = [6,6,6,6], group = 4>(x, w)"});
  rows.push_back({17, "float[1,4,5] x", "w=4,4,3", "y = Conv<dilations = [5], pads = [5,5]>(x, w)"});
  expect_equal(rows);
}

/// One transformer block, batch first or sequence first, with all that the patterns know.
std::string block(bool sequence_first) {
  const std::string heads = sequence_first ? "[5, 8, 4]" : "[2, 5, 4, 4]",
                    perm = sequence_first ? "[1, 0, 2]" : "[0, 2, 1, 3]",
                    joined = sequence_first ? "[5, 2, 16]" : "[2, 5, 16]",
                    flip = sequence_first ? "[0, 2, 1]" : "[0, 1, 3, 2]";
  std::string nodes = kErfNumbers + number("scale", "2.0") + "h = Constant<value_ints = " + heads +
                      ">() j = Constant<value_ints = " + joined + ">() ";
  nodes += "n = LayerNormalization(x, g, b) ";
  for (const std::string p : {"q", "k", "v"})
    nodes += p + "0 = MatMul(n, w" + p + ") " + p + "1 = Add(" + p + "0, b) " + p + "2 = Reshape(" + p + "1, h) " + p +
             " = Transpose<perm = " + perm + ">(" + p + "2) ";
  nodes +=
      "kt = Transpose<perm = " + flip + ">(k) sc = MatMul(q, kt) sd = Div(sc, scale) p = Softmax(sd) o = MatMul(p, v) ";
  nodes += "ot = Transpose<perm = " + perm + ">(o) oj = Reshape(ot, j) op = MatMul(oj, wo) z = Add(x, op) ";
  nodes += "m = LayerNormalization(z, g, b) u = MatMul(m, wu) a = Div(u, r) e = Erf(a) s = Add(e, one) us = Mul(u, s) ";
  return nodes + "ug = Mul(us, half) d = MatMul(ug, wd) y = Add(z, d)";
}
const std::string kBlockWeights = "g=16 b=16 wq=16,16 wk=16,16 wv=16,16 wo=16,16 wu=16,32 wd=32,16";

TEST(Patterns, BothOrdersOfTokens) {
  const Counts wanted{{"GELU", 1}, {"MUL", 4}, {"BATCH_MATMUL", 2}, {"SOFTMAX", 1}, {"DIV", 0}, {"FULLY_CONNECTED", 6}};
  expect_counts({{"float[2,5,16] x", kBlockWeights, block(false), wanted},
                 {"float[5,2,16] x", kBlockWeights, block(true), wanted}});
}

namespace fs = std::filesystem;

/// Converts with options of the transformer plugin and without some passes, and compares the numbers.
Counts converted_with(const Row& row, const std::map<std::string, bool>& on,
                      const std::set<std::string, std::less<>>& disabled = {}) {
  const fs::path folder = fs::temp_directory_path() / ("gantry_patterns_" + std::to_string(getpid()));
  fs::create_directories(folder);
  write_model(folder / "m.onnx", row);
  PluginSettings settings;
  for (const auto& [option, value] : on)
    settings["org.gantry.transformer"][option] = {.value = value, .origin = "test"};
  Report report;
  const auto plugins =
      PluginRegistry::discover({.extra = {GANTRY_TEST_PLUGIN_DIR}, .defaults = false}, settings, report);
  EXPECT_TRUE(plugins.ok());
  PipelineOptions options;
  options.disabled_passes = disabled;
  options.verify_each_pass = true;
  const Status s = convert_file(folder / "m.onnx", folder / "m.tflite", options, **plugins, report);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : format(s.error()));
  expect_same_numbers(folder / "m.onnx", folder / "m.tflite", 1e-4);
  fs::remove_all(folder);
  return report.target_ops;
}

TEST(Patterns, AllOffIsRightToo) {
  const Counts ops = converted_with(
      {17, "float[2,5,16] x", kBlockWeights, block(false)},
      {{"gelu", false}, {"silu", false}, {"norm", false}, {"norm_spelled_out", false}, {"rotary", false}},
      {"fuse_input", "fuse_scale", "fuse_center", "merge_projections"});
  EXPECT_EQ(count(ops, "GELU"), 0u);
  EXPECT_EQ(count(ops, "MEAN"), 4u);
}

TEST(Patterns, CompositesRunByTheirDecomposition) {
  const std::string qkv = "float[2,4,5,8] q, float[2,4,5,8] k, float[2,4,5,6] v";
  for (const Row& row : std::vector<Row>{
           {23, kX, "s=8", "n = RMSNormalization<epsilon = 0.01>(x, s) y = Neg(n)"},
           {23, "float[N,8] x", "s=8", "y = RMSNormalization(x, s)"},
           {23, qkv, "", "y = Attention(q, k, v)"},
           {23, qkv, "m=5,5", "y = Attention<scale = 0.3>(q, k, v, m)"},
           {23, qkv, "", "y = Attention<is_causal = 1>(q, k, v)"},
           {23, "float[2,5,32] q, float[2,6,32] k, float[2,6,32] v", "",
            "y = Attention<q_num_heads = 4, kv_num_heads = 4>(q, k, v)"},
       }) {
    SCOPED_TRACE(row.nodes);
    EXPECT_EQ(count(converted_with(row, {{"composite", true}}), "STABLEHLO_COMPOSITE"), 1u);
    EXPECT_EQ(count(converted_with(row, {}), "STABLEHLO_COMPOSITE"), 0u);
  }
  // What the composite cannot say stays as it was.
  const Row capped{23, qkv, "", "y = Attention<softcap = 2.0>(q, k, v)"};
  EXPECT_EQ(count(converted_with(capped, {{"composite", true}}), "STABLEHLO_COMPOSITE"), 0u);
}

}  // namespace
}  // namespace gantry::test
