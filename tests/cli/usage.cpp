// Wrong command lines, help, version, completion, explain.
#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kCommands{"convert",      "check",       "inspect",     "verify",
                                         "opt",          "plugin list", "plugin show", "plugin manifest",
                                         "plugin check", "explain",     "completion"};

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream in(command);
  return {std::istream_iterator<std::string>(in), {}};
}

using Usage = Cli;

TEST_F(Usage, EveryCommandHasHelpAndRefusesUnknownOptions) {
  for (const std::string& command : kCommands) {
    std::vector<std::string> words = words_of(command);
    words.push_back("--help");
    const ProcessResult help = succeeds(words);
    EXPECT_THAT(help.out, HasSubstr("--help"));
    EXPECT_EQ(help.err, "");
    words.back() = "--no-such-thing";
    const ProcessResult unknown = fails(words, 2, "E0201");
    EXPECT_THAT(unknown.err, HasSubstr("--no-such-thing"));
  }
}

TEST_F(Usage, NearestNames) {
  EXPECT_THAT(fails({"convert", "a", "--verfy"}, 2, "E0201").err, HasSubstr("did you mean --verify?"));
  EXPECT_THAT(fails({"convert", "a", "--plugin-pth=x"}, 2, "E0201").err, HasSubstr("did you mean --plugin-path?"));
  EXPECT_THAT(fails({"covnert", "a"}, 2, "E0201").err, HasSubstr("did you mean convert?"));
  EXPECT_THAT(fails({"plugin", "lst"}, 2, "E0201").err, HasSubstr("did you mean list?"));
}

TEST_F(Usage, MissingAndSurplusArguments) {
  fails({}, 2, "E0201");
  fails({"plugin"}, 2, "E0201");
  EXPECT_THAT(fails({"convert"}, 2, "E0201").err, HasSubstr("IN"));
  EXPECT_THAT(fails({"convert", "a.onnx"}, 2, "E0201").err, HasSubstr("-o"));
  fails({"convert", "a.onnx", "-o"}, 2, "E0201");
  fails({"convert", "a.onnx", "b.onnx", "-o", "c.tflite"}, 2, "E0201");
  fails({"convert", "a.onnx", "-o", "b.tflite", "-o", "c.tflite"}, 2, "E0201");
  fails({"verify", "a.onnx"}, 2, "E0201");
  fails({"verify", "a.onnx", "b.tflite", "--atol", "much"}, 2, "E0201");
  fails({"verify", "a.onnx", "b.tflite", "--atol", "-1"}, 2, "E0204");
  fails({"verify", "a.onnx", "b.tflite", "--seed", "1.5"}, 2, "E0201");
  for (const char* shape : {"x=1,,2", "x=a", "=1,2", "x=1,2,", "x=-1", "x=99999999999999999999"})
    fails({"check", "a.onnx", "--shape", shape}, 2, "E0201");
  fails({"check", "a.onnx", "--shape", "x=1", "--shape", "x=2"}, 2, "E0201");
  fails({"completion", "powershell"}, 2, "E0201");
  fails({"explain", "E9999"}, 2, "E0201");
  fails({"opt"}, 2, "E0201");
  EXPECT_THAT(fails({"opt", "a", "--passes=normalise"}, 2, "E0201").err, HasSubstr("did you mean normalize?"));
}

TEST_F(Usage, OptionsOfLaterIssuesAreAbsent) {
  const std::string help = succeeds({"convert", "--help"}).out;
  for (const char* later : {"--fp16", "--int8", "--dynamic-range", "--calibration"})
    EXPECT_THAT(help, Not(HasSubstr(later)));
}

TEST_F(Usage, Version) {
  const ProcessResult r = succeeds({"--version"});
  EXPECT_THAT(r.out,
              testing::MatchesRegex("gantry [0-9]+\\.[0-9]+\\.[0-9]+ \\(plugin ABI [0-9]+\\.[0-9]+, .* build\\)\n"));
  EXPECT_EQ(r.err, "");
}

TEST_F(Usage, Explain) {
  EXPECT_THAT(succeeds({"explain", "E0401"}).out, StartsWith("E0401  "));
  EXPECT_EQ(succeeds({"explain", "401"}).out, succeeds({"explain", "e0401"}).out);
  const std::string all = succeeds({"explain"}).out;
  for (const char* code : {"E0101", "E0201", "E0301", "E0501", "E0601", "E0701", "W1001"})
    EXPECT_THAT(all, HasSubstr(std::string(code) + "  "));
}

TEST_F(Usage, CompletionScriptsAreValid) {
  const std::string bash = succeeds({"completion", "bash"}).out;
  const std::string script = file("completion.bash", bash + R"(
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gantry; printf '%s\n' "${COMPREPLY[@]}"; }
complete_words gantry pl
complete_words gantry plugin sh
complete_words gantry convert --plugin-
complete_words gantry convert --to ''
)");
  const ProcessResult r = run_process({"/bin/bash", script}, options_);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "plugin\nshow\n--plugin-path\ntflite\nonnx\nqonnx\nqcdq\n");
  EXPECT_THAT(succeeds({"completion", "zsh"}).out, StartsWith("#compdef gantry"));
  EXPECT_THAT(succeeds({"completion", "fish"}).out, HasSubstr("complete -c gantry"));
}

}  // namespace
}  // namespace gantry::test
