// Two spellings of one thing must give the same result: every case of spellings.same is two graphs of the onnx dialect,
// which the real plugins and all passes but layout turn into the same graph of the tflite dialect, names aside.
//
//   // SAME: what is the same
//   graph "one" { ... }
//   // ----
//   graph "other" { ... }
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/formats/onnx/reader.hpp"
#include "host/ir/text.hpp"
#include "host/passes/pass.hpp"
#include "host/plugins/registry.hpp"

namespace gantry::testing {
namespace {

struct Pair {
  int line = 0;
  std::string what, one, other;
};

std::vector<Pair> pairs() {
  constexpr std::string_view kSame = "// SAME: ";
  std::ifstream in(std::filesystem::path(GANTRY_TEST_SOURCE_DIR) / "tests/text/spellings.same");
  std::vector<Pair> found;
  bool second = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with(kSame)) {
      found.push_back({number, line.substr(kSame.size()), "", ""});
      second = false;
    } else if (line == "// ----") {
      second = true;
    } else if (!found.empty()) {
      (second ? found.back().other : found.back().one) += line + '\n';
    }
  }
  return found;
}

// Values by place: inputs and results in order, constants by first use.
void rename_values(Graph& g) {
  int inputs = 0;
  int results = 0;
  int constants = 0;
  for (const ValueId v : g.region(g.main()).inputs) g.set_name(v, "same.input" + std::to_string(++inputs));
  for (const NodeId n : g.nodes(g.main())) {
    for (const ValueId v : g.node(n).inputs) {
      if (!v || !g.value(v).is_constant() || g.value(v).name.starts_with("same.")) continue;
      g.set_name(v, "same.constant" + std::to_string(++constants));
    }
    for (const ValueId v : g.node(n).outputs) {
      if (v) g.set_name(v, "same.result" + std::to_string(++results));
    }
    if (g.node(n).attr_or<std::string>("fused_activation_function", "") == "NONE") {
      g.remove_attr(n, "fused_activation_function");  // which is its default
    }
  }
}

std::string canonical(Graph& g) {
  rename_values(g);
  std::istringstream in(print(g, {.node_names = false}));
  std::vector<std::string> lines;
  std::string line;
  std::getline(in, line);  // the graph's name and opset
  while (std::getline(in, line)) lines.push_back(line);
  const auto constant = [](const std::string& l) { return l.starts_with("  const "); };
  const auto end = std::stable_partition(lines.begin(), lines.end(), constant);
  std::sort(lines.begin(), end);
  std::string text;
  for (const std::string& l : lines) text += l + '\n';
  return text;
}

std::string converted(const std::string& text) {
  constexpr std::array<std::string_view, 12> kPasses = {
      "normalize", "patterns",        "dce", "cse", "convert", "dce", "cancel_transposes", "fuse_bias",
      "fuse_pad",  "fuse_activation", "cse", "dce"};
  Result<Graph> graph = parse(text);
  if (!graph.ok()) return "cannot parse: " + graph.error().message + " at " + graph.error().place;
  Report report;
  auto registry = PluginRegistry::discover({.extra = {GANTRY_TEST_PLUGIN_DIR}, .defaults = false}, {}, report);
  if (!registry.ok()) return "no plugins: " + registry.error().message;
  const std::unique_ptr<Semantics> semantics = onnx_format::make_semantics();
  const std::unique_ptr<Extensions> plugins = (*registry)->extensions(semantics.get(), report);
  const PassOptions options;
  PassContext c{.graph = *graph,
                .report = report,
                .plugins = *plugins,
                .source = semantics.get(),
                .target = "tflite",
                .allow_custom = false,
                .options = options};
  for (int round = 0; round < 2; ++round) {
    for (const std::string_view pass : kPasses) {
      if (const auto opened = plugins->open_for(*graph, "tflite"); !opened.ok()) return opened.error().message;
      if (const Status s = run_pass(*find_pass(pass), c); !s.ok()) return std::string(pass) + ": " + s.error().message;
    }
  }
  return canonical(*graph);
}

class Spellings : public ::testing::TestWithParam<Pair> {};

TEST_P(Spellings, AreTheSame) {
  const Pair& p = GetParam();
  const std::string one = converted(p.one);
  EXPECT_EQ(one, converted(p.other)) << p.what;
  EXPECT_NE(one.find("tflite."), std::string::npos) << one;
}

INSTANTIATE_TEST_SUITE_P(Cases, Spellings, ::testing::ValuesIn(pairs()),
                         [](const auto& test) { return "line_" + std::to_string(test.param.line); });

}  // namespace
}  // namespace gantry::testing
