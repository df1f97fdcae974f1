// Text in, text out: every *.txt here is a list of cases
//
//   // RUN: pass,pass
//   // what the case shows
//   graph "x" { ... }
//   // ----
//   graph "x" { ... }          what the passes make of it, or  // E0404 message  where they fail
//
// Passes run one after the other on plugins that know nothing but a few limits (Fake below): the clean-ups need none.
// GANTRY_UPDATE_TEXT=1 writes what came out into the files, to be read before it is committed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"
#include "tests/unit/passes_fake.hpp"

namespace gantry::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRun = "// RUN: ";
constexpr std::string_view kRule = "// ----\n";

struct Case {
  fs::path file;
  int line = 0;  // of RUN
  std::string passes, input, expected;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Case> cases_of(const fs::path& file) {
  std::vector<Case> cases;
  std::istringstream lines(read_file(file));
  bool after_rule = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line += '\n';
    if (line.starts_with(kRun)) {
      cases.push_back({file, number, line.substr(kRun.size(), line.size() - kRun.size() - 1), "", ""});
      after_rule = false;
    } else if (cases.empty()) {
      continue;  // what the file says of itself
    } else if (line == kRule) {
      after_rule = true;
    } else {
      (after_rule ? cases.back().expected : cases.back().input) += line;
    }
  }
  return cases;
}

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const fs::directory_entry& e : fs::directory_iterator(fs::path(GANTRY_TEST_SOURCE_DIR) / "tests/text")) {
    if (e.path().extension() == ".txt") found.push_back(e.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const fs::path& file : files()) {
    for (Case& c : cases_of(file)) all.push_back(std::move(c));
  }
  return all;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text + '\n';
}

// Lines that are only in one of the two, by the longest common subsequence; the texts are short.
std::string difference(const std::string& expected, const std::string& actual) {
  const auto split = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> a = split(expected);
  const std::vector<std::string> b = split(actual);
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      text += "  " + a[i++] + '\n';
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += "- " + a[i++] + '\n';
    } else {
      text += "+ " + b[j++] + '\n';
    }
  }
  return text;
}

std::string run_case(const Case& c) {
  Result<Graph> graph = parse(c.input, c.file.filename().string());
  if (!graph.ok()) return "// cannot parse: " + graph.error().message + " at " + graph.error().place + '\n';
  Bench bench(*std::move(graph));
  bench.plugins.limit_table["BATCH_MATMUL"] = {.min_rank = 2, .max_rank = 5};
  bench.plugins.limit_table["ABS"] = {
      .min_rank = 0, .max_rank = 0, .dtypes = 1U << static_cast<unsigned>(DType::float32)};
  std::istringstream names(c.passes);
  for (std::string name; std::getline(names, name, ',');) {
    if (!find_pass(name)) return "// no such pass: " + name + '\n';
    const Status status = bench.run(name);
    if (status.ok()) continue;
    std::string text;
    for (const Diagnostic& d : bench.report.diagnostics) text += "// " + code_text(d) + ' ' + d.message + '\n';
    return text.empty() ? "// " + code_text(status.error()) + ' ' + status.error().message + '\n' : text;
  }
  if (const Status ok = verify(bench.graph); !ok.ok()) return "// broken graph: " + ok.error().message + '\n';
  return print(bench.graph);
}

class Text : public ::testing::TestWithParam<Case> {};

TEST_P(Text, IsAsExpected) {
  const Case& c = GetParam();
  const std::string actual = trimmed(run_case(c));
  if (std::getenv("GANTRY_UPDATE_TEXT")) return;
  const std::string expected = trimmed(c.expected);
  if (actual == expected) return;
  ADD_FAILURE_AT(c.file.c_str(), c.line) << c.passes << " (- expected, + what came out)\n"
                                         << difference(expected, actual);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return info.param.file.stem().string() + "_" + std::to_string(info.param.line);
}

INSTANTIATE_TEST_SUITE_P(Cases, Text, ::testing::ValuesIn(all_cases()), case_name);

// Rewrites the files when asked to.
TEST(TextFiles, Update) {
  if (!std::getenv("GANTRY_UPDATE_TEXT")) GTEST_SKIP() << "GANTRY_UPDATE_TEXT is not set";
  for (const fs::path& file : files()) {
    const std::string old = read_file(file);
    std::string text = old.substr(0, old.starts_with(kRun) ? 0 : old.find("\n// RUN: ") + 1);
    for (const Case& c : cases_of(file)) {
      if (text.size() > 1 && !text.ends_with("\n\n")) text += '\n';
      text.append(kRun)
          .append(c.passes)
          .append("\n")
          .append(trimmed(c.input))
          .append(kRule)
          .append(trimmed(run_case(c)));
    }
    std::ofstream(file, std::ios::binary) << text;
  }
}

}  // namespace
}  // namespace gantry::testing
