// ONNX's own operator tests: each is converted in process, run in LiteRT and compared with ONNX's reference outputs.
// refused.txt lists the tests that are refused, each with the reason that was given when it was entered. A test fails
// for other numbers, for a file that LiteRT cannot run, for a refusal that is not listed, and for an entry that is out
// of date.
//
//   GANTRY_WRITE_REFUSED=1 build/release/tests/gantry_nodes_tests     writes the list anew
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <unistd.h>

#include <gtest/gtest.h>

#include "host/verify/compare.hpp"
#include "host/verify/npy.hpp"
#include "host/verify/run_model.hpp"
#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = GANTRY_NODE_TESTS_DIR;
const fs::path kList = fs::path(GANTRY_TEST_SOURCE_DIR) / "tests/nodes/refused.txt";

std::map<std::string, std::string> read_list() {
  std::map<std::string, std::string> reasons;
  std::ifstream in(kList);
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos) reasons[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return reasons;
}

void write_list(const std::map<std::string, std::string>& reasons) {
  std::ofstream out(kList);
  for (const auto& [test, reason] : reasons) out << test << '\t' << reason << '\n';
}

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kTests))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Runs a file in LiteRT on the test's inputs.
Result<std::vector<NamedTensor>> run_natively(const fs::path& folder, const fs::path& model, const fs::path& litert) {
  GANTRY_ASSIGN(const auto inputs, read_numpy(folder / "inputs.npz"));
  const auto feeds = [&](const std::vector<Port>& ports) -> Result<std::map<std::string, Tensor>> {
    std::map<std::string, Tensor> map;
    for (const Port& p : ports)
      for (const NamedTensor& t : inputs)
        if (t.name == p.name) map[p.name] = t.tensor;
    return map;
  };
  GANTRY_ASSIGN(ModelRun run, run_model(RuntimeKind::litert, litert, model, feeds, 60));
  return std::move(run.outputs);
}

/// What differs from the reference, in a line; empty if nothing does. Half precision is compared more loosely.
std::string difference(const fs::path& folder, const std::vector<NamedTensor>& results) {
  const auto outputs = read_numpy(folder / "outputs.npz");
  if (!outputs.ok()) return format(outputs.error());
  bool half = false;
  for (const NamedTensor& t : results) half = half || t.tensor.dtype == DType::float16;
  for (const NamedTensor& want : *outputs) {
    const auto got =
        std::find_if(results.begin(), results.end(), [&](const NamedTensor& t) { return t.name == want.name; });
    if (got == results.end()) return want.name + " is missing";
    const OutputComparison c = compare(want.name, want.tensor, got->tensor, half ? 1e-2 : 1e-4, half ? 1e-2 : 1e-3);
    if (!c.ok) return want.name + ": " + c.note;
  }
  return {};
}

/// Results whose shape is found out while the model runs come through LiteRT's Python interface only: one process runs
/// NAME.tflite of the folder for every NAME and writes NAME.npz.
void run_by_python(const fs::path& folder) {
  const std::string command = std::string(GANTRY_TEST_PYTHON) + " " + GANTRY_TEST_SOURCE_DIR +
                              "/tests/nodes/run_litert.py " + kTests.string() + " " + folder.string() +
                              " >/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT: the command is the test's own
}

class Nodes : public ::testing::Test {
 protected:
  Nodes() { fs::create_directories(folder_); }
  ~Nodes() override {
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }
  void check(const std::string& name, const std::vector<NamedTensor>& results) {
    const std::string why = difference(kTests / name, results);
    EXPECT_TRUE(why.empty()) << name << ": " << why;
    right_ += why.empty();
  }

  const fs::path folder_ = fs::temp_directory_path() / ("gantry_nodes_" + std::to_string(getpid()));
  const bool write_ = std::getenv("GANTRY_WRITE_REFUSED") != nullptr;
  int right_ = 0;
};

TEST_F(Nodes, AllOfOnnxsOperatorTests) {
  ASSERT_TRUE(fs::exists(kTests)) << kTests << " is missing: run scripts/setup.sh";
  const auto litert = find_runtime(RuntimeKind::litert, GANTRY_TEST_RUNTIME_DIR);
  ASSERT_TRUE(litert.ok()) << format(litert.error());
  const auto listed = read_list();
  const std::vector<std::string> names = test_names();
  std::map<std::string, std::string> refused;
  std::vector<std::string> by_python;
  for (const std::string& name : names) {
    Report report;
    const fs::path out = folder_ / (name + ".tflite");
    const Status s = convert_model(kTests / name / "model.onnx", out, {}, {}, report);
    if (!s.ok()) {
      EXPECT_EQ(exit_status(s.error().code), 4) << name << ": " << format(s.error());
      refused[name] = s.error().message;
      EXPECT_TRUE(write_ || listed.contains(name)) << name << " is refused: " << s.error().message;
      continue;
    }
    EXPECT_FALSE(!write_ && listed.contains(name)) << name << " is in refused.txt, but converted";
    const auto results = run_natively(kTests / name, out, *litert);
    if (!results.ok()) {
      by_python.push_back(name);
      continue;
    }
    check(name, *results);
    fs::remove(out);
  }
  if (!by_python.empty()) run_by_python(folder_);
  for (const std::string& name : by_python) {
    const auto results = read_numpy(folder_ / (name + ".npz"));
    EXPECT_TRUE(results.ok()) << name << " was converted, but LiteRT does not run it";
    if (results.ok()) check(name, *results);
  }
  for (const auto& [name, reason] : listed)
    EXPECT_TRUE(write_ || std::binary_search(names.begin(), names.end(), name)) << name << " is no test of ONNX's";
  if (write_) write_list(refused);
  std::cout << right_ << " right, " << by_python.size() << " of them by Python, " << refused.size() << " refused\n";
}

}  // namespace
}  // namespace gantry::test
