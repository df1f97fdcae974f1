// Operators as tables: each row is a small model, converted in process; ONNX Runtime and LiteRT must agree on it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/passes/pass.hpp"

namespace gantry::test {

struct Row {
  int opset;
  std::string inputs;   // as ONNX's text form: "float[1,3,9,9] x"
  std::string weights;  // float initializers with seeded values: "w=4,3,3,3 b=4"
  std::string nodes;    // "y = Conv<pads = [1,1,1,1]>(x, w, b)"
  std::string outputs = "float[] y";
  double atol = 1e-4;
};

/// Writes a row's model to a file.
void write_model(const std::filesystem::path& path, const Row& row);
/// Converts a file by the first-party plugins alone, to what the extension of `out` says.
Status convert_model(const std::filesystem::path& model, const std::filesystem::path& out, const LayoutSettings& layout,
                     const std::set<std::string, std::less<>>& disabled, Report& report);
/// Both files give the same numbers on random inputs.
void expect_same_numbers(const std::filesystem::path& model, const std::filesystem::path& out, double atol,
                         const std::map<std::string, std::vector<std::int64_t>>& shapes = {});

/// Converts each row, with the layout engine and once more without it, and compares the numbers.
void expect_equal(const std::vector<Row>& rows);
/// The same for a row that ONNX Runtime does not run, against another that it runs and that means the same.
struct PairRow {
  Row row;
  std::string nodes;  // what means the same
};
void expect_equal_to(const std::vector<PairRow>& rows);
/// The same for models with open dimensions: converted once, run at each of the sizes. The nodes make y0, of rank
/// `rank`; what is compared is its shape and a sum in which every element has a weight of its own, since LiteRT's C
/// interface cannot give a result whose shape it learns only when it runs.
struct DynamicRow {
  Row row;  // its outputs are made here
  int rank;
  std::vector<std::map<std::string, std::vector<std::int64_t>>> sizes;  // of each input
};
void expect_equal_at_sizes(const std::vector<DynamicRow>& rows);
/// Each row is refused, with the text in what is said.
void expect_refused(const std::vector<Row>& rows, const std::string& text);

/// What a row becomes gives the same in every run: its state does not live on.
void expect_same_in_each_run(const std::vector<Row>& rows);

/// Operators in what a row becomes, and how often.
std::map<std::string, std::size_t> converted_operators(const Row& row);

}  // namespace gantry::test
