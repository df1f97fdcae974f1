// The command line into a command and its arguments. CLI11 does the work and stays inside.
#pragma once

#include <string>
#include <vector>

#include "host/cli/command.hpp"

namespace gantry::cli {

struct ParsedLine {
  const Command* command = nullptr;  // null if `text` answers: --help, --version
  Arguments arguments;
  std::string text;  // for stdout
};

/// Errors: usage, with the nearest name of an unknown flag or command.
Result<ParsedLine> parse_line(const std::vector<Command>& commands, int argc, const char* const* argv);

}  // namespace gantry::cli
