// stdout for results, stderr for the log; progress on a terminal only.
#include "tests/cli/cli.hpp"

namespace gantry::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Streams = Cli;

TEST_F(Streams, FullStandardOutput) {
  options_.stdout_to = "/dev/full";
  const ProcessResult r = gantry({"explain"});
  EXPECT_EQ(r.status, 7);
  EXPECT_THAT(r.last_line(), StartsWith("gantry: failed E0701 "));
}

TEST_F(Streams, ClosedPipe) {
  const std::string command = "set -o pipefail; '" + std::string(GANTRY_TEST_BIN_DIR) + "/gantry' explain | true";
  const ProcessResult r = run_process({"/bin/bash", "-c", command}, options_);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.err, "");
}

TEST_F(Streams, OutputsMayBePipes) {
  const std::string in = onnx("relu.onnx", kReluModel);
  const std::string whole = succeeds({"opt", in}).out;
  EXPECT_EQ(succeeds({"opt", in, "-o", "/dev/stdout"}).out, whole);
  EXPECT_EQ(succeeds({"check", in, "-q", "--report", "/dev/null"}).status, 0);
}

#ifdef CLI_TEST_HANGING_RUNTIME
TEST_F(Streams, ProgressOnATerminalOnly) {
  const std::string in = onnx("relu.onnx", kReluModel);
  const std::vector<std::string> verify{
      "verify", in, in, "--set", "verify.onnxruntime=" CLI_TEST_HANGING_RUNTIME, "--set", "verify.timeout=2.5"};
  const ProcessResult piped = gantry(verify);
  EXPECT_EQ(piped.status, 5) << piped.err;
  EXPECT_THAT(piped.err, Not(HasSubstr("\r")));
  options_.terminal = true;
  EXPECT_THAT(gantry(verify).err, HasSubstr("verify, 1 s"));
  std::vector<std::string> quiet = verify;
  quiet.push_back("-q");
  EXPECT_THAT(gantry(quiet).err, Not(HasSubstr("verify, 1 s")));
}
#endif

}  // namespace
}  // namespace gantry::test
