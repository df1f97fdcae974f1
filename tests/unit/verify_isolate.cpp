// Work in a child process: results, errors, crashes, hangs.
#include <cstdio>
#include <cstdlib>
#include <signal.h>
#include <stdexcept>
#include <unistd.h>

#include <gmock/gmock.h>

#include "host/verify/isolate.hpp"
#include "host/verify/wire.hpp"
#include "verify_models.hpp"

namespace gantry {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Bytes = std::vector<std::byte>;

const IsolateOptions kOptions{"The runtime", "m.onnx", 60};

TEST(VerifyIsolate, BringsBackTheResult) {
  const Bytes large(5'000'000, std::byte{42});
  const auto result = run_isolated([&]() -> Result<Bytes> { return large; }, kOptions);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result, large);
  EXPECT_TRUE(run_isolated([]() -> Result<Bytes> { return Bytes{}; }, kOptions)->empty());
}

TEST(VerifyIsolate, TheChildHasTheMemoryOfItsParentAndNothingComesBack) {
  int n = 1;
  const auto result = run_isolated([&]() -> Result<Bytes> { return Bytes(static_cast<std::size_t>(++n)); }, kOptions);
  EXPECT_EQ(result->size(), 2u);
  EXPECT_EQ(n, 1);
}

TEST(VerifyIsolate, BringsBackTheWholeError) {
  const auto result = run_isolated(
      []() -> Result<Bytes> {
        return error(Code::input_type, "it does not fit")
            .at("a.npy")
            .on_node("n")
            .on_op("Relu")
            .from_plugin("p")
            .try_this("h");
      },
      kOptions);
  ASSERT_FALSE(result.ok());
  const Diagnostic& d = result.error();
  EXPECT_EQ(d.code, Code::input_type);
  EXPECT_EQ(d.message, "it does not fit");
  EXPECT_EQ(d.place + d.node + d.op + d.plugin + d.hint, "a.npynReluph");
}

TEST(VerifyIsolate, AnErrorQuotesWhatTheChildWrote) {
  const auto result = run_isolated(
      []() -> Result<Bytes> {
        std::fputs("INFO: Created a delegate.\nERROR: [file.cc:12] Node 3 failed to prepare.\n", stderr);
        return error(Code::verify_runtime, "it cannot run");
      },
      kOptions);
  EXPECT_EQ(result.error().message, "it cannot run: Node 3 failed to prepare");
  EXPECT_EQ(result.error().place, "m.onnx");
}

TEST(VerifyIsolate, ACrashIsAnErrorWithTheSignal) {
  for (const int number : {SIGABRT, SIGSEGV, SIGILL, SIGKILL}) {
    const auto result = run_isolated(
        [&]() -> Result<Bytes> {
          std::fputs("terminate called\n", stderr);
          raise(number);
          return Bytes{};
        },
        kOptions);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Code::verify_runtime);
    EXPECT_THAT(result.error().message, StartsWith("The runtime crashed with signal " + std::to_string(number) + " ("));
    EXPECT_THAT(result.error().message, HasSubstr("): terminate called"));
    EXPECT_EQ(result.error().place, "m.onnx");
  }
}

TEST(VerifyIsolate, AnEarlyExitIsAnError) {
  const auto result = run_isolated([]() -> Result<Bytes> { _exit(0); }, kOptions);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "The runtime ended the process with status 0");
}

TEST(VerifyIsolate, AnExceptionIsAnError) {
  const auto result = run_isolated([]() -> Result<Bytes> { throw std::runtime_error("oh"); }, kOptions);
  EXPECT_EQ(result.error().message, "an exception came out of it: oh");
  EXPECT_EQ(run_isolated([]() -> Result<Bytes> { throw 1; }, kOptions).error().message, "an exception came out of it");
}

TEST(VerifyIsolate, AHangEndsAtTheTimeout) {
  const auto result = run_isolated(
      []() -> Result<Bytes> {
        for (;;) pause();
      },
      {"The runtime", "m.onnx", 0.2});
  EXPECT_EQ(result.error().code, Code::verify_runtime);
  EXPECT_THAT(result.error().message, StartsWith("The runtime did not end within 0.2 s"));
}

TEST(VerifyIsolate, NothingReachesStdout) {
  ::testing::internal::CaptureStdout();
  (void)run_isolated(
      []() -> Result<Bytes> {
        std::puts("noise");
        std::fflush(stdout);
        return Bytes{};
      },
      kOptions);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(VerifyIsolate, LogsAreCondensed) {
  EXPECT_EQ(condense_log("INFO: x\nERROR: [a.cc:1] one.\nWARNING: two\nplain\nERROR: [b.cc:2] one.\n\n"),
            "one; two; plain");
  EXPECT_EQ(condense_log(""), "");
  EXPECT_LE(condense_log(std::string(5000, 'x')).size(), 404u);
}

TEST(VerifyWire, ReadsWhatWasWritten) {
  WireWriter out;
  out.number(7);
  out.text("name");
  out.tensor(models::floats({2}, {1, 2}));
  const Bytes bytes = out.take();
  WireReader in(bytes);
  EXPECT_EQ(in.number(), 7u);
  EXPECT_EQ(in.text(), "name");
  EXPECT_EQ(in.tensor(), models::floats({2}, {1, 2}));
  EXPECT_TRUE(in.good());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    WireReader part{std::span(bytes).first(n)};
    part.number();
    part.text();
    part.tensor();
    EXPECT_FALSE(part.good()) << n;
  }
}

TEST(VerifyWire, RefusesCountsBeyondTheEnd) {
  WireWriter out;
  out.number(UINT64_MAX);
  const Bytes bytes = out.take();
  for (int way = 0; way < 3; ++way) {
    WireReader in(bytes);
    if (way == 0) {
      EXPECT_TRUE(in.bytes().empty());
    }
    if (way == 1) {
      EXPECT_TRUE(in.text().empty());
    }
    if (way == 2) {
      EXPECT_EQ(in.count(), 0u);
    }
    EXPECT_FALSE(in.good());
  }
}

}  // namespace
}  // namespace gantry
