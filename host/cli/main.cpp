// gantry: the command line. Every run ends with one line on stderr, "gantry: ok ..." or "gantry: failed E0213 ...",
// and with the exit status of the first error (docs/cli.md).
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <system_error>
#include <unistd.h>

#include "host/cli/invocation.hpp"
#include "host/cli/parse.hpp"
#include "host/formats/temporary_files.hpp"
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

/// Libraries may throw what nobody foresaw; the run still ends with its report and last line.
Status guarded(Invocation& invocation) try {
  return invocation.command.run(invocation);
} catch (const std::bad_alloc&) {
  return error(Code::internal, "out of memory").try_this("use a machine or a limit with more memory");
} catch (const std::exception& e) {
  return error(Code::internal, std::string("unexpected exception: ") + e.what());
}

/// Ctrl-C and the like: nothing half written stays, and the process ends by the signal, as a shell expects.
extern "C" void interrupted(int signal) {
  remove_temporary_files();
  constexpr std::string_view line = "gantry: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  std::raise(signal);  // its own action is back: SA_RESETHAND
}

void catch_signals() {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough is no error
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old{}, mine{};
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;  // as nohup wants it
    mine.sa_handler = interrupted;
    mine.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &mine, nullptr);
  }
}

/// A file opened later must not become "stderr" because that was closed: the log would go into it. Writing to such a
/// stand-in fails as to a closed descriptor.
void hold_standard_streams() {
  for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::open("/dev/null", O_RDONLY)) {
    if (fd <= STDERR_FILENO) continue;
    ::close(fd);
    return;
  }
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
  if (status.ok()) status = guarded(invocation);
  return invocation.finish(std::move(status));
}

}  // namespace
}  // namespace gantry::cli

int main(int argc, char** argv) {
  gantry::cli::hold_standard_streams();
  gantry::cli::catch_signals();
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
