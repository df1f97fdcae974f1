// A folder with copies of the test plugins and their manifests, and one conversion with what is found there.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"
#include "host/plugins/registry.hpp"

namespace gantry::test {

class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::path(GANTRY_TEST_BUILD_DIR) / "tests/abi/run" /
           (std::string(info->test_suite_name()) + "." + info->name());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }

  const std::filesystem::path& dir() const { return dir_; }
  static std::filesystem::path built(const std::string& name) {
    return std::filesystem::path(ABI_TEST_PLUGIN_DIR) / (name + ".so");
  }

  /// Copies the library into the folder and returns the manifest that fits it.
  Manifest copy(const std::string& name) {
    std::filesystem::copy_file(built(name), dir_ / (name + ".so"));
    Result<Manifest> m = describe_library(dir_ / (name + ".so"));
    if (!m.ok()) ADD_FAILURE() << m.error().message;
    return m.ok() ? *std::move(m) : Manifest{};
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(dir_ / name, std::ios::binary) << text; }
  void install(const std::string& name) { write(name + ".gantry.toml", write_manifest(copy(name))); }

  void discover(PluginSettings settings = {}) {
    Result<std::unique_ptr<PluginRegistry>> r = try_discover(std::move(settings));
    ASSERT_TRUE(r.ok()) << r.error().message;
    registry_ = *std::move(r);
    extensions_ = registry_->extensions(nullptr, report_);
  }
  Result<std::unique_ptr<PluginRegistry>> try_discover(PluginSettings settings = {}) {
    PluginSearch search;
    search.extra = {dir_};
    search.defaults = false;
    return PluginRegistry::discover(search, std::move(settings), report_);
  }

  /// A graph of float32[2] inputs %x and %y, with these lines, and the output %z.
  static Graph graph(const std::string& lines, const std::string& type = "f32[2]") {
    Result<Graph> g = parse("graph \"t\" {\n  input %x: " + type + "\n  input %y: " + type + "\n" + lines +
                            "\n  output \"z\" = %z\n}\n");
    if (!g.ok()) ADD_FAILURE() << g.error().message;
    return g.ok() ? *std::move(g) : Graph{};
  }
  static NodeId node(const Graph& g, std::string_view op) {
    for (const NodeId n : g.nodes(g.main())) {
      if (g.node(n).op.name == op) return n;
    }
    ADD_FAILURE() << "no node " << op;
    return {};
  }
  Extensions& plugins() { return *extensions_; }
  void open(const Graph& g, std::string_view target = "tflite") {
    const Result<std::size_t> n = extensions_->open_for(g, target);
    ASSERT_TRUE(n.ok()) << n.error().message;
  }
  /// Converts the node of that operator; the graph must be sound afterwards.
  Result<Outcome> convert(Graph& g, std::string_view op) {
    Result<Outcome> r = extensions_->convert(g, node(g, op), "tflite");
    expect_sound(g);
    return r;
  }
  static void expect_sound(const Graph& g) {
    const Status s = verify(g);
    EXPECT_TRUE(s.ok()) << s.error().message << "\n" << print(g);
  }
  /// The lines of the nodes, without blanks in front.
  static std::vector<std::string> lines(const Graph& g) {
    std::vector<std::string> found;
    std::istringstream in(print(g));
    for (std::string line; std::getline(in, line);) {
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin != std::string::npos && line.find("@", begin) != std::string::npos) found.push_back(line.substr(begin));
    }
    return found;
  }

  Report report_;
  std::unique_ptr<PluginRegistry> registry_;
  std::unique_ptr<Extensions> extensions_;

 private:
  std::filesystem::path dir_;
};

}  // namespace gantry::test
