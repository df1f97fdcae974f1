#include "host/report/report.hpp"

#include <algorithm>
#include <cstdio>

#include "host/report/text.hpp"

namespace gantry {

namespace {

constexpr unsigned kFirstWarning = 1000;

std::string_view severity_name(Severity s) {
  switch (s) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

}  // namespace

const Diagnostic* Report::first_error() const {
  const auto found = std::find_if(diagnostics.begin(), diagnostics.end(),
                                  [](const Diagnostic& d) { return d.severity == Severity::error; });
  return found == diagnostics.end() ? nullptr : &*found;
}

bool Report::has_errors() const { return first_error() != nullptr; }

std::string code_text(const Diagnostic& d) {
  const auto number = static_cast<unsigned>(d.code);
  if (number == 0) return {};
  char text[16];
  std::snprintf(text, sizeof text, "%c%04u", number < kFirstWarning ? 'E' : 'W', number);
  return text;
}

int exit_status(Code code) {
  const auto number = static_cast<unsigned>(code);
  return number < kFirstWarning ? static_cast<int>(number / 100) : 0;
}

std::string format(const Diagnostic& d) {
  std::string text;
  if (!d.place.empty()) text += one_line(d.place) + ": ";
  text += severity_name(d.severity);
  if (d.code != Code::none) text += " " + code_text(d);
  text += ": " + one_line(d.message, 2000);
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text.append("\n  ").append(label).append(": ").append(one_line(value, 1000));
  };
  line("node", d.node);
  line("operator", d.op);
  line("plugin", d.plugin);
  line("try", d.hint);
  return text;
}

}  // namespace gantry
