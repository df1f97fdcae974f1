// gantry: the command line. Every run ends with one line on stderr, "gantry: ok ..." or "gantry: failed E0213 ...",
// and with the exit status of the first error (docs/cli.md).
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "host/cli/invocation.hpp"
#include "host/cli/parse.hpp"
#include "host/report/report.hpp"

namespace gantry::cli {
namespace {

std::filesystem::path own_path() {
  std::error_code ec;
  return std::filesystem::read_symlink("/proc/self/exe", ec);
}

/// Ends a run that has no Invocation yet.
int fail(const Diagnostic& d) {
  const std::string text = printable(format(d));
  const std::string line = printable("gantry: failed " + code_text(d) + " " + d.message);
  std::fprintf(stderr, "%s\n%s\n", text.c_str(), line.c_str());
  return exit_status(d.code);
}

int run(int argc, const char* const* argv) {
  auto line = parse_line(all_commands(), argc, argv);
  if (!line.ok()) return fail(line.error());
  if (!line->command) {
    std::fputs(line->text.c_str(), stdout);
    return 0;
  }
  Invocation invocation(*line->command, std::move(line->arguments), own_path());
  Status status = invocation.prepare();
  if (status.ok()) status = invocation.command.run(invocation);
  return invocation.finish(std::move(status));
}

}  // namespace
}  // namespace gantry::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough is no error
  try {
    return gantry::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("gantry: failed E0101 out of memory\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gantry: failed E0101 unexpected exception: %s\n", e.what());
  } catch (...) {
    std::fputs("gantry: failed E0101 unexpected exception\n", stderr);
  }
  return 1;
}
