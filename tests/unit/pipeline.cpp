// What the pipeline refuses before it converts anything: nothing is written then, and the input is as it was.
#include "host/pipeline.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantry::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Pipeline : public ::testing::Test {
 protected:
  void SetUp() override {
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("gantry_pipeline_" + std::string(test.name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    plugins_ = *PluginRegistry::discover({.defaults = false}, {}, report_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }
  static std::string contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  Code code_of(const fs::path& input, const fs::path& output) {
    const Status s = convert_file(input, output, options_, *plugins_, report_);
    return s.ok() ? Code::none : s.error().code;
  }

  fs::path folder_;
  Report report_;
  PipelineOptions options_;
  std::unique_ptr<PluginRegistry> plugins_;
};

TEST_F(Pipeline, NeverWritesOverTheInput) {
  const fs::path input = file("a.tflite", "not a model");
  EXPECT_EQ(code_of(input, input), Code::usage);
  fs::create_hard_link(input, folder_ / "hard.tflite");
  EXPECT_EQ(code_of(input, folder_ / "hard.tflite"), Code::usage);
  fs::create_symlink(input, folder_ / "soft.tflite");
  EXPECT_EQ(code_of(input, folder_ / "soft.tflite"), Code::usage);
  EXPECT_EQ(contents(input), "not a model");
}

TEST_F(Pipeline, OutputsThatCannotBe) {
  const fs::path input = file("a.onnx", "not a model");
  EXPECT_EQ(code_of(input, folder_ / "a.pb"), Code::output_format);
  EXPECT_EQ(code_of(input, folder_ / "none" / "a.tflite"), Code::output_not_written);
  options_.target = "keras";
  EXPECT_EQ(code_of(input, folder_ / "a.tflite"), Code::output_format);
}

TEST_F(Pipeline, InputsThatAreNoModel) {
  EXPECT_EQ(code_of(folder_ / "none.onnx", folder_ / "b.tflite"), Code::input_not_found);
  EXPECT_EQ(code_of(folder_, folder_ / "b.tflite"), Code::input_not_found);
  EXPECT_EQ(code_of(file("empty.onnx", ""), folder_ / "b.tflite"), Code::input_malformed);
  EXPECT_EQ(code_of(file("text.onnx", "Hello, world\n"), folder_ / "b.tflite"), Code::input_format);
  EXPECT_FALSE(fs::exists(folder_ / "b.tflite"));
}

TEST_F(Pipeline, TheReportTellsTheErrorOnce) {
  const fs::path input = file("empty.onnx", "");
  ASSERT_FALSE(check_file(input, options_, *plugins_, report_).ok());
  ASSERT_EQ(report_.diagnostics.size(), 1U);
  EXPECT_THAT(report_.diagnostics[0].message, HasSubstr("it is empty"));
  EXPECT_EQ(report_.input, input.string());
  EXPECT_GT(report_.seconds, 0);
}

}  // namespace
}  // namespace gantry::testing
