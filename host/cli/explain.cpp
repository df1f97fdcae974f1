// gantry explain CODE
#include <cctype>
#include <charconv>

#include "host/cli/invocation.hpp"
#include "host/report/report.hpp"

namespace gantry::cli {
namespace {

constexpr unsigned kLargestCode = 9999;

/// "E0401", "W1001", "401" -> the code, or none.
Code code_from_text(std::string_view text) {
  if (!text.empty() && (std::toupper(static_cast<unsigned char>(text.front())) == 'E' ||
                        std::toupper(static_cast<unsigned char>(text.front())) == 'W'))
    text.remove_prefix(1);
  unsigned number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size() || number > kLargestCode) return Code::none;
  return static_cast<Code>(number);
}

std::string name_of(Code code) {
  Diagnostic d;
  d.code = code;
  d.severity = static_cast<unsigned>(code) < 1000 ? Severity::error : Severity::warning;
  return code_text(d);
}

Status run(Invocation& run) {
  const std::string& wanted = run.args.get("CODE");
  if (wanted.empty()) {
    for (unsigned n = 1; n <= kLargestCode; ++n) {
      const Code code = static_cast<Code>(n);
      if (!explain(code).empty()) run.out(name_of(code) + "  " + std::string(explain(code)) + "\n");
    }
    return {};
  }
  const Code code = code_from_text(wanted);
  const std::string_view text = code == Code::none ? std::string_view{} : explain(code);
  if (text.empty()) return error(Code::usage, "there is no code " + wanted).try_this("gantry explain lists them all");
  run.out(name_of(code) + "  " + std::string(text) + "\n");
  if (exit_status(code) != 0) run.out("Exit status " + std::to_string(exit_status(code)) + ".\n");
  return {};
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .help = "Explain a diagnostic code, or list them all",
      .positionals = {{.name = "CODE", .help = "E0401, for instance", .required = false, .complete = Complete::none}},
      .flags = {},
      .run = run,
      .uses_config = false,
      .ends_with_line = false,
  };
}

}  // namespace gantry::cli
