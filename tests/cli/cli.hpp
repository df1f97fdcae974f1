// The real binary as a subprocess, away from the user's own files.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/onnx_text.hpp"
#include "tests/support/process.hpp"

namespace gantry::test {

inline constexpr const char* kReluModel = R"(<ir_version: 8, opset_import: ["" : 17]>
  relu (float[1,4] x) => (float[1,4] y) { y = Relu(x) })";

class Cli : public testing::Test {
 protected:
  Cli() {
    options_.environment = {
        {"HOME", dir().string()}, {"XDG_CONFIG_HOME", ""}, {"XDG_DATA_HOME", ""}, {"GANTRY_PLUGIN_PATH", ""}};
  }

  const std::filesystem::path& dir() const { return folder_.path(); }
  std::string path(std::string_view name) const { return (dir() / name).string(); }
  std::string onnx(std::string_view name, const std::string& text) const {
    return write_onnx(dir() / name, text).string();
  }
  std::string file(std::string_view name, std::string_view bytes) const {
    return write_file(dir() / name, bytes).string();
  }

  ProcessResult gantry(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), std::string(GANTRY_TEST_BIN_DIR) + "/gantry");
    return run_process(arguments, options_);
  }
  /// Runs it and expects that status and code, on the last line, and nothing on stdout.
  ProcessResult fails(const std::vector<std::string>& arguments, int status, const std::string& code) const {
    const ProcessResult r = gantry(arguments);
    EXPECT_EQ(r.status, status) << r.err;
    EXPECT_THAT(r.last_line(), testing::StartsWith("gantry: failed " + code + " ")) << r.err;
    EXPECT_EQ(r.out, "");
    return r;
  }
  ProcessResult succeeds(const std::vector<std::string>& arguments) const {
    const ProcessResult r = gantry(arguments);
    EXPECT_EQ(r.status, 0) << r.err;
    return r;
  }
  /// Names of what is in the test's folder, to see that nothing is left behind.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir())) names.push_back(entry.path().filename());
    return names;
  }

  TemporaryFolder folder_;
  ProcessOptions options_;
};

}  // namespace gantry::test
