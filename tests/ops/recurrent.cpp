// RNN, GRU and LSTM: every attribute and optional operand, against ONNX Runtime.
#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

struct Op {
  std::string name, gates;
  int count, states;
};
const Op kOps[] = {{"RNN", "5", 1, 1}, {"GRU", "15", 3, 1}, {"LSTM", "20", 4, 2}};

/// A layer of 4 inputs and 5 hidden units.
Row layer(const Op& op, int directions, const std::string& attributes, const std::string& steps = "6",
          const std::string& batch = "3", int opset = 14, const std::string& more = "") {
  const std::string d = std::to_string(directions);
  Row row{opset, "float[" + steps + "," + batch + ",4] x",
          "w=" + d + "," + op.gates + ",4 r=" + d + "," + op.gates + ",5 b=" + d + "," + std::to_string(op.count * 10),
          "", "float[] y, float[] h"};
  const std::string direction = directions == 2 ? ", direction = \"bidirectional\"" : "";
  row.nodes = "y, h" + std::string(op.states == 2 ? ", c" : "") + " = " + op.name + "<hidden_size = 5" + direction +
              attributes + ">(x, w, r, b" + more + ")";
  if (op.states == 2) row.outputs += ", float[] c";
  row.atol = 1e-5;
  return row;
}

TEST(Recurrent, Directions) {
  std::vector<Row> rows;
  for (const Op& op : kOps) {
    for (const int opset : {7, 14, 22}) rows.push_back(layer(op, 1, "", "6", "3", opset));
    rows.push_back(layer(op, 1, ", direction = \"reverse\""));
    rows.push_back(layer(op, 2, ""));
    rows.push_back(layer(op, 2, "", "1", "3"));
    rows.push_back(layer(op, 1, "", "1", "1"));
    rows.push_back(layer(op, 2, "", "40", "1"));
  }
  expect_equal(rows);
}

TEST(Recurrent, Attributes) {
  std::vector<Row> rows;
  for (const Op& op : kOps) rows.push_back(layer(op, 1, ", clip = 0.3"));
  rows.push_back(layer(kOps[1], 1, ", linear_before_reset = 1"));
  rows.push_back(layer(kOps[1], 2, ", linear_before_reset = 1, clip = 0.5"));
  rows.push_back(layer(kOps[2], 1, ", input_forget = 1"));
  for (const char* f : {"Relu", "Tanh", "Sigmoid", "Softsign", "Softplus", "LeakyRelu", "Elu", "HardSigmoid"})
    rows.push_back(layer(kOps[0], 1, std::string(", activations = [\"") + f + "\"]"));
  rows.push_back(layer(kOps[0], 2,
                       ", activations = [\"LeakyRelu\", \"ScaledTanh\"], activation_alpha = [0.2, 0.7], "
                       "activation_beta = [0.6]"));
  rows.push_back(layer(kOps[1], 1, ", activations = [\"HardSigmoid\", \"Relu\"]"));
  rows.push_back(layer(kOps[2], 1,
                       ", activations = [\"HardSigmoid\", \"Tanh\", \"Softsign\"], activation_alpha = [0.3], "
                       "activation_beta = [0.4]"));
  expect_equal(rows);
}

TEST(Recurrent, OptionalOperands) {
  std::vector<Row> rows;
  for (const Op& op : kOps) {
    for (const int directions : {1, 2}) {
      const std::string d = std::to_string(directions), state = op.states == 2 ? ", i, j" : ", i";
      Row row = layer(op, directions, "", "6", "3", 14, ", " + state);
      row.inputs += ", float[" + d + ",3,5] i" + (op.states == 2 ? ", float[" + d + ",3,5] j" : "");
      rows.push_back(row);
      // Sequences of several lengths.
      Row lengths = layer(op, directions, "", "6", "3", 14, ", l" + state);
      lengths.inputs = row.inputs;
      lengths.nodes = "l0 = Constant<value_ints = [6, 2, 4]>() l = Cast<to = 6>(l0) " + lengths.nodes;
      rows.push_back(lengths);
    }
    // Weights that are operands, without and with a bias.
    Row runtime = layer(op, 1, "");
    runtime.inputs += ", float[1," + op.gates + ",4] w, float[1," + op.gates + ",5] r, float[1," +
                      std::to_string(op.count * 10) + "] b";
    runtime.weights = "";
    rows.push_back(runtime);
    Row bare = layer(op, 1, "");
    bare.nodes.replace(bare.nodes.find(", b)"), 4, ")");
    rows.push_back(bare);
  }
  Row peephole = layer(kOps[2], 1, "", "6", "3", 14, ", , , , p");
  peephole.weights += " p=1,15";
  rows.push_back(peephole);
  Row lbr = layer(kOps[1], 1, ", linear_before_reset = 1");
  lbr.inputs += ", float[1,15,4] w, float[1,15,5] r, float[1,30] b";
  lbr.weights = "";
  rows.push_back(lbr);
  expect_equal(rows);
}

TEST(Recurrent, OptionalResults) {
  std::vector<Row> rows;
  for (const Op& op : kOps) {
    Row only_all = layer(op, 2, "");
    only_all.nodes.replace(0, only_all.nodes.find(" ="), "y");
    only_all.outputs = "float[] y";
    rows.push_back(only_all);
    Row only_last = layer(op, 2, "");
    only_last.nodes.replace(0, only_last.nodes.find(" ="), " , h");
    only_last.outputs = "float[] h";
    rows.push_back(only_last);
  }
  Row only_cell = layer(kOps[2], 1, "");
  only_cell.nodes.replace(0, only_cell.nodes.find(" ="), " , , c");
  only_cell.outputs = "float[] c";
  rows.push_back(only_cell);
  expect_equal(rows);
}

/// Layers that TFLite's fused operator computes, with states of all kinds.
std::vector<Row> fused_layers() {
  std::vector<Row> rows;
  for (const std::string d : {"1", "2"}) {
    const int directions = d == "1" ? 1 : 2;
    rows.push_back(layer(kOps[2], directions, ""));
    Row given = layer(kOps[2], directions, "", "6", "3", 14, ", , i, j");
    Row constant = given;
    constant.weights += " i=" + d + ",3,5 j=" + d + ",3,5";
    rows.push_back(constant);
    given.inputs += ", float[" + d + ",3,5] i, float[" + d + ",3,5] j";
    rows.push_back(given);
    Row peephole = layer(kOps[2], directions, "", "6", "3", 14, ", , , , p");
    peephole.weights += " p=" + d + ",15";
    rows.push_back(peephole);
    Row open_steps = layer(kOps[2], directions, "", "t");
    rows.push_back(open_steps);
    std::string names = "\"Sigmoid\", \"Relu\", \"Relu\"";
    if (directions == 2) names += ", " + names;
    rows.push_back(layer(kOps[2], directions, ", activations = [" + names + "]"));
  }
  rows.push_back(layer(kOps[2], 1, ", direction = \"reverse\""));
  for (Row& row : std::vector<Row>(rows)) {  // the result alone
    row.nodes.replace(0, row.nodes.find(" ="), "y");
    row.outputs = "float[] y";
    rows.push_back(row);
  }
  return rows;
}

TEST(Recurrent, FusedLstm) {
  expect_equal(fused_layers());
  for (const Row& row : fused_layers()) {
    const auto operators = converted_operators(row);
    EXPECT_EQ(operators.count("UNIDIRECTIONAL_SEQUENCE_LSTM") + operators.count("BIDIRECTIONAL_SEQUENCE_LSTM"), 1U)
        << row.nodes;
    EXPECT_EQ(operators.count("WHILE"), 0U) << row.nodes;
  }
}

TEST(Recurrent, StatesEndWithTheRun) { expect_same_in_each_run(fused_layers()); }

TEST(Recurrent, FileDoesNotGrowWithTheSequence) {
  for (const Op& op : kOps) {
    const auto few = converted_operators(layer(op, 2, "", "10", "2")),
               many = converted_operators(layer(op, 2, "", "500", "2"));
    EXPECT_EQ(few, many) << op.name;
    std::size_t sum = 0;
    for (const auto& [name, count] : many) sum += count;
    EXPECT_LT(sum, 75U) << op.name;
  }
}

}  // namespace
}  // namespace gantry::test
