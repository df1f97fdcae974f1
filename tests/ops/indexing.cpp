#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

/// Indices k from -3 to 3, made from an integer input i of any size: for axes of 4 elements and more.
constexpr const char* kIndices =
    "t = Constant<value_int = 7>() s = Constant<value_int = 3>() j = Mod(i, t) k = Sub(j, s) ";

Row indexed(const std::string& nodes, const std::string& x, const std::string& shape, int opset = 18,
            const std::string& more = "") {
  return {opset, x + " x, int64" + shape + " i" + more, "", kIndices + nodes};
}

/// The results, of sizes that only the elements tell, as one vector of floats.
DynamicRow of_open_size(Row row, const std::vector<std::string>& results) {
  row.nodes += " whole = Constant<value_ints = [-1]>()";
  std::string list;
  for (const std::string& r : results) {
    row.nodes += " float_" + r + " = Cast<to = 1>(" + r + ") flat_" + r + " = Reshape(float_" + r + ", whole)";
    list += (list.empty() ? "flat_" : ", flat_") + r;
  }
  row.nodes += " y0 = Concat<axis = 0>(" + list + ")";
  return {std::move(row), 1, {{}}};
}

TEST(Indexing, PicksByIndex) {
  std::vector<Row> rows;
  for (const char* axis : {"0", "1", "2", "-1", "-2"}) {
    const std::string at = std::string("<axis = ") + axis + ">(x, k)";
    rows.push_back(indexed("y = Gather" + at, "float[4,5,6]", "[2,3]"));
    rows.push_back(indexed("y = GatherElements" + at, "float[4,5,6]", "[4,5,6]"));
    rows.push_back(indexed("y = GatherElements" + at, "float[4,5,6]", "[3,2,4]"));
    rows.push_back(indexed("y = GatherElements" + at, "float[4,5,6]", "[4,5,6]", 13));
    rows.push_back({18, "float[N,M,6] x", "", "k = Constant<value_ints = [-1,0]>() y = Gather" + at});
  }
  rows.push_back({18, "float[5] x", "", "k = Constant<value_int = -2>() y = Gather(x, k)"});
  rows.push_back(indexed("y = GatherElements(x, k)", "float[5]", "[9]"));
  rows.push_back(indexed("y = Gather<axis = 4>(x, k)", "float[1,2,1,2,4]", "[3]"));
  for (const char* shape : {"[6,1]", "[6,2]", "[2,3,3]"})
    rows.push_back(indexed("y = GatherND(x, k)", "float[4,5,6]", shape));
  rows.push_back(indexed("y = GatherND<batch_dims = 1>(x, k)", "float[4,5,6]", "[4,2]"));
  rows.push_back(indexed("y = GatherND<batch_dims = 1>(x, k)", "float[4,5,6]", "[4,3,1]"));
  rows.push_back(indexed("y = GatherND<batch_dims = 2>(x, k)", "float[2,3,6,2]", "[2,3,1]"));
  expect_equal(rows);
}

TEST(Indexing, PlacesByIndex) {
  std::vector<Row> rows;
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    const std::string how = std::string("reduction = \"") + reduction + "\"";
    for (const char* axis : {"0", "1", "-1"})
      rows.push_back(indexed("y = ScatterElements<axis = " + std::string(axis) + ", " + how + ">(x, k, u)",
                             "float[4,5,6]", "[4,5,6]", 18, ", float[4,5,6] u"));
    rows.push_back(indexed("y = ScatterND<" + how + ">(x, k, u)", "float[4,5,6]", "[7,1]", 18, ", float[7,5,6] u"));
    rows.push_back(indexed("y = ScatterND<" + how + ">(x, k, u)", "float[4,5,6]", "[3,4,2]", 18, ", float[3,4,6] u"));
    rows.push_back(indexed("y = ScatterND<" + how + ">(x, k, u)", "float[4,5]", "[9,2]", 18, ", float[9] u"));
  }
  rows.push_back(indexed("y = ScatterElements(x, k, u)", "float[4,5]", "[2,3]", 13, ", float[2,3] u"));
  rows.push_back({13, "float[4,5] x, float[2,2] u", "",
                  "k = Constant<value = int64[2,2] {1,3,0,1}>() y = ScatterElements<axis = 1>(x, k, u)"});
  rows.push_back(
      {13, "float[4,5] x, float[2,5] u", "", "k = Constant<value = int64[2,1] {-1,0}>() y = ScatterND(x, k, u)"});
  expect_equal(rows);
}

TEST(Indexing, EveryType) {
  for (const char* type :
       {"float16", "double", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}) {
    const std::string t = type, x = t + "[5,6]", y = t + "[] y";
    std::vector<Row> rows{
        {18, x + " x, int64[3] i", "", std::string(kIndices) + "y = Gather<axis = 1>(x, k)", y},
        {18, x + " x, int64[5,6] i", "", std::string(kIndices) + "y = GatherElements<axis = 1>(x, k)", y},
        {18, x + " x, int64[3,2] i", "", std::string(kIndices) + "y = GatherND(x, k)", y},
        {18, x + " x, int64[5,6] i, " + x + " u", "", std::string(kIndices) + "y = ScatterElements(x, k, u)", y},
        {13, x + " x", "", "l = Constant<value_ints = [1,5,2,3,4,1]>() y = ReverseSequence(x, l)", y},
    };
    expect_equal(rows);
    expect_equal_at_sizes({of_open_size({18, x + " x, bool[5] c", "", "p = Compress<axis = 0>(x, c)"}, {"p"})});
  }
}

TEST(Indexing, OrdersElements) {
  std::vector<Row> rows;
  for (const char* axis : {"0", "1", "-1"})
    for (const char* largest : {"0", "1"})
      for (const char* type : {"float", "float16", "double", "int32", "int64"})  // ONNX Runtime has none of uint64
        rows.push_back({21, std::string(type) + "[5,6,7] x", "",
                        std::string("n = Constant<value_ints = [3]>() y, z = TopK<axis = ") + axis +
                            ", largest = " + largest + ">(x, n)",
                        std::string(type) + "[] y, int64[] z"});
  rows.push_back({9, "float[5,6] x", "", "y, z = TopK<axis = 0, k = 2>(x)", "float[] y, int64[] z"});
  rows.push_back(
      {10, "float[5,6] x", "", "n = Constant<value = int64[1] {2}>() y, z = TopK(x, n)", "float[] y, int64[] z"});
  expect_equal(rows);
}

TEST(Indexing, FindsDistinctElements) {
  std::vector<DynamicRow> rows;
  for (const char* sorted : {"0", "1"})
    for (const char* how : {"", ", axis = 0", ", axis = 1"})
      rows.push_back(of_open_size({13, "int64[6,3] i", "",
                                   std::string("t = Constant<value_int = 2>() x = Mod(i, t) p, a, b, c = "
                                               "Unique<sorted = ") +
                                       sorted + how + ">(x)"},
                                  {"p", "a", "b", "c"}));
  rows.push_back(of_open_size({13, "float[40] x", "", "f = Floor(x) p, a, b, c = Unique(f)"}, {"p", "a", "b", "c"}));
  expect_equal_at_sizes(rows);
}

TEST(Indexing, FindsAndMarks) {
  expect_equal_at_sizes({
      of_open_size({13, "float[3,4] x", "", "f = Floor(x) p = NonZero(f)"}, {"p"}),
      of_open_size({13, "int64[3,4] i", "", "t = Constant<value_int = 2>() x = Mod(i, t) p = NonZero(x)"}, {"p"}),
      of_open_size({13, "float[3,4] x, bool[7] c", "", "p = Compress(x, c)"}, {"p"}),
  });
  std::vector<Row> rows{
      {13, "float[4,3,2] x", "",
       "l = Constant<value_ints = [1,4,2]>() y = ReverseSequence<time_axis = 0, batch_axis = 1>(x, l)"},
      {13, "float[3,4,2] x", "",
       "l = Constant<value_ints = [1,4,2]>() y = ReverseSequence<time_axis = 1, batch_axis = 0>(x, l)"},
  };
  for (const char* axis : {"0", "1", "-1", "-2"}) {
    rows.push_back({13, "int64[2,3] i, float[2] v", "",
                    std::string(kIndices) + "d = Constant<value_int = 3>() y = OneHot<axis = " + axis + ">(k, d, v)"});
    rows.push_back({13, "int64[2,3] i, float[2] v", "",
                    "d = Constant<value_float = 6.0>() y = OneHot<axis = " + std::string(axis) + ">(i, d, v)"});
  }
  expect_equal(rows);
}

TEST(Indexing, SuppressesBoxes) {
  const auto row = [](const char* shapes, const char* attributes, int opset) {
    return of_open_size(
        {opset, shapes, "",
         std::string("b = Sigmoid(q) h = Sigmoid(r) m = Constant<value = int64[1] {4}>() o = Constant<value = float[1] "
                     "{0.3}>() t = Constant<value = float[1] {0.4}>() p = NonMaxSuppression") +
             attributes + "(b, h, m, o, t)"},
        {"p"});
  };
  expect_equal_at_sizes({
      row("float[1,20,4] q, float[1,1,20] r", "", 12),
      row("float[1,20,4] q, float[1,5,20] r", "", 12),
      row("float[2,20,4] q, float[2,3,20] r", "", 13),
      row("float[2,20,4] q, float[2,3,20] r", "<center_point_box = 1>", 12),
  });
}

TEST(Indexing, RefusesWhatNoKernelComputes) {
  expect_refused(
      {{18, "int64[4,5] x, int64[4,5] u", "",
        "k = Constant<value = int64[4,1] {0,1,2,3}>() y = ScatterND<reduction = \"mul\">(x, k, u)", "int64[4,5] y"}},
      "knows no int64");
  expect_refused({{13, "float[1,5,4] b, float[1,1,5] s", "", "y = NonMaxSuppression(b, s)", "int64[N,3] y"}},
                 "nothing is selected");
}

}  // namespace
}  // namespace gantry::test
