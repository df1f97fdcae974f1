// Codes, exit statuses, and diagnostics as text.
#include <gmock/gmock.h>

#include "host/report/report.hpp"
#include "host/report/text.hpp"

namespace gantry {
namespace {

constexpr unsigned kCodes[] = {101, 102, 201, 202, 203, 204, 205, 301,  302,  303,  304, 305, 306,
                               307, 308, 401, 402, 403, 404, 405, 501,  502,  503,  601, 602, 603,
                               604, 605, 606, 607, 701, 702, 703, 1001, 1002, 1003, 1004};

TEST(ReportDiagnostics, CodesHaveTexts) {
  EXPECT_EQ(code_text(error(Code::unsupported_op, "")), "E0401");
  EXPECT_EQ(code_text(error(Code::internal, "")), "E0101");
  EXPECT_EQ(code_text(warning(Code::warn_precision, "")), "W1001");
  EXPECT_EQ(code_text(note("")), "");
}

TEST(ReportDiagnostics, ExitStatusIsTheFirstTwoDigits) {
  EXPECT_EQ(exit_status(Code::internal), 1);
  EXPECT_EQ(exit_status(Code::usage), 2);
  EXPECT_EQ(exit_status(Code::input_graph), 3);
  EXPECT_EQ(exit_status(Code::target_limit), 4);
  EXPECT_EQ(exit_status(Code::verify_no_runtime), 5);
  EXPECT_EQ(exit_status(Code::plugin_missing), 6);
  EXPECT_EQ(exit_status(Code::output_too_large), 7);
  EXPECT_EQ(exit_status(Code::none), 0);
  EXPECT_EQ(exit_status(Code::warn_custom), 0);
}

TEST(ReportDiagnostics, EveryCodeIsExplainedInOneLine) {
  for (unsigned n = 0; n <= 9999; ++n) {
    const std::string_view text = explain(static_cast<Code>(n));
    const bool known = std::find(std::begin(kCodes), std::end(kCodes), n) != std::end(kCodes);
    EXPECT_EQ(!text.empty(), known) << n;
    EXPECT_EQ(text.find('\n'), std::string_view::npos);
    EXPECT_TRUE(!known || text.ends_with('.')) << n;
  }
}

TEST(ReportDiagnostics, TheFirstErrorDecides) {
  Report r;
  EXPECT_FALSE(r.has_errors());
  EXPECT_EQ(r.first_error(), nullptr);
  r.add(warning(Code::warn_custom, "w"));
  r.add(note("n"));
  EXPECT_FALSE(r.has_errors());
  r.add(error(Code::declined, "first"));
  r.add(error(Code::internal, "second"));
  ASSERT_TRUE(r.has_errors());
  EXPECT_EQ(r.first_error()->message, "first");
}

TEST(ReportDiagnostics, AreFormattedWithAllThatIsKnown) {
  EXPECT_EQ(format(error(Code::internal, "it broke")), "error E0101: it broke");
  EXPECT_EQ(format(note("by the way")), "note: by the way");
  EXPECT_EQ(format(error(Code::declined, "dilations with strides")
                       .at("m.onnx")
                       .on_node("conv1, conv2 and 3 more")
                       .on_op("Conv")
                       .from_plugin("org.gantry.core-ops")
                       .try_this("another model")),
            "m.onnx: error E0402: dilations with strides\n"
            "  node: conv1, conv2 and 3 more\n"
            "  operator: Conv\n"
            "  plugin: org.gantry.core-ops\n"
            "  try: another model");
  EXPECT_EQ(format(warning(Code::warn_plugin, "left out").at("a.toml:3:7")), "a.toml:3:7: warning W1004: left out");
}

TEST(ReportDiagnostics, CannotSteerATerminal) {
  EXPECT_EQ(format(error(Code::internal, "a\x1b[31m\nb").on_node("n\r\x7f")),
            "error E0101: a\\x1b[31m; b\n  node: n\\x0d\\x7f");
}

TEST(ReportText, Sizes) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(size_text(46'800'000), "44.6 MiB");
  EXPECT_EQ(size_text(UINT64_MAX), "16.0 EiB");
}

TEST(ReportText, Durations) {
  EXPECT_EQ(duration_text(0), "0 us");
  EXPECT_EQ(duration_text(0.00085), "850 us");
  EXPECT_EQ(duration_text(0.0009996), "1 ms");
  EXPECT_EQ(duration_text(0.0123), "12 ms");
  EXPECT_EQ(duration_text(0.0999), "0.10 s");
  EXPECT_EQ(duration_text(1.234), "1.23 s");
  EXPECT_EQ(duration_text(73.4), "73 s");
}

TEST(ReportText, Counts) {
  EXPECT_EQ(count_text(0, "node"), "0 nodes");
  EXPECT_EQ(count_text(1, "node"), "1 node");
  EXPECT_EQ(count_text(2, "entry", "entries"), "2 entries");
}

TEST(ReportText, LongTextLosesItsMiddle) {
  EXPECT_EQ(one_line("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(one_line("abcdefghijk", 4), "ab...jk");
  EXPECT_EQ(one_line("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 6), "\xc3\xa4...\xc3\xa4") << "never half a character";
}

}  // namespace
}  // namespace gantry
