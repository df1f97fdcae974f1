#include "host/verify/isolate.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "host/report/text.hpp"
#include "host/verify/wire.hpp"

namespace gantry {

namespace {

constexpr std::size_t kMaxLog = 400;  // bytes of a log in a message

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void set(int fd) { fd_ = fd; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

Diagnostic system_failed(const char* what) {
  return error(Code::internal, std::string(what) + " failed: " + std::strerror(errno));
}

void write_all(int fd, const std::vector<std::byte>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

/// The message that the child sends: whether it is an error, then the error or the bytes, then a mark that it is whole.
constexpr std::uint64_t kWhole = 0x67616e74727921ULL;

std::vector<std::byte> encode(const Result<std::vector<std::byte>>& result) {
  WireWriter out;
  out.number(result.ok());
  if (result.ok()) {
    out.bytes(*result);
  } else {
    const Diagnostic& d = result.error();
    out.number(static_cast<std::uint64_t>(d.code));
    for (const std::string* text : {&d.message, &d.place, &d.node, &d.op, &d.plugin, &d.hint}) out.text(*text);
  }
  out.number(kWhole);
  return out.take();
}

/// nullopt if the message is not whole.
std::optional<Result<std::vector<std::byte>>> decode(const std::vector<std::byte>& message) {
  WireReader in(message);
  std::vector<std::byte> bytes;
  Diagnostic d;
  const bool ok = in.number() != 0;
  if (ok) {
    bytes = in.bytes();
  } else {
    d.code = static_cast<Code>(in.number());
    for (std::string* text : {&d.message, &d.place, &d.node, &d.op, &d.plugin, &d.hint}) *text = in.text();
  }
  if (in.number() != kWhole || !in.good()) return std::nullopt;
  if (!ok) return Result<std::vector<std::byte>>(std::move(d));
  return Result<std::vector<std::byte>>(std::move(bytes));
}

[[noreturn]] void be_child(const std::function<Result<std::vector<std::byte>>()>& work, int pipe, int log,
                           pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before that took effect
  // A crash shall be seen as one: no handler of ours or of a sanitizer, and no core file.
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPIPE, SIGTERM, SIGINT}) signal(s, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  try {
    write_all(pipe, encode(work()));
  } catch (const std::exception& e) {
    write_all(pipe, encode(error(Code::verify_runtime, std::string("an exception came out of it: ") + e.what())));
  } catch (...) {
    write_all(pipe, encode(error(Code::verify_runtime, "an exception came out of it")));
  }
  _exit(0);  // exit handlers are the parent's
}

enum class End { closed, timeout, failed };

/// Reads until the child closes the pipe, or time is up (0 = never).
End read_all(int fd, double timeout_seconds, std::vector<std::byte>& message) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::min(timeout_seconds, 1e9)));
  std::vector<std::byte> block(1 << 16);
  for (;;) {
    int wait_ms = -1;
    if (timeout_seconds > 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return End::timeout;
      wait_ms = static_cast<int>(std::min<long long>(left + 1, 60'000));
    }
    pollfd event{fd, POLLIN, 0};
    const int ready = poll(&event, 1, wait_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = ready < 0 ? -1 : ::read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return End::failed;
    if (n == 0) return End::closed;
    message.insert(message.end(), block.begin(), block.begin() + n);
  }
}

std::string read_log(int fd) {
  std::string text(1 << 14, '\0');
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return condense_log(text);
}

/// What became of a child that sent no whole message.
std::string death(int status) {
  if (WIFSIGNALED(status)) {
    const int n = WTERMSIG(status);
    const char* name = strsignal(n);
    return "crashed with signal " + std::to_string(n) + " (" + (name ? name : "unknown") + ")";
  }
  return "ended the process with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::vector<std::byte>> run_isolated(const std::function<Result<std::vector<std::byte>>()>& work,
                                            const IsolateOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failed("pipe");
  Fd from(ends[0]), to(ends[1]), log(memfd_create("gantry-log", MFD_CLOEXEC));
  if (log.get() < 0) return system_failed("memfd_create");
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return system_failed("fork");
  if (child == 0) be_child(work, to.get(), log.get(), parent);
  to.close();

  std::vector<std::byte> message;
  const End end = read_all(from.get(), options.timeout_seconds, message);
  if (end != End::closed) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }

  const std::string said = read_log(log.get());
  const auto with_log = [&](Diagnostic d) {
    if (!said.empty()) d.message += ": " + said;
    if (d.place.empty()) d.place = options.place;
    return d;
  };
  if (end == End::timeout) {
    return with_log(error(Code::verify_runtime,
                          options.who + " did not end within " + number_text(options.timeout_seconds) + " s"));
  }
  if (auto result = decode(message)) {
    if (result->ok()) return std::move(*result);
    return with_log(result->take_error());
  }
  return with_log(error(Code::verify_runtime, options.who + " " + death(status)));
}

std::string condense_log(const std::string& log) {
  std::string text;
  std::string_view rest = log;
  while (!rest.empty() && text.size() < kMaxLog) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with("INFO:") || line.starts_with("VERBOSE:")) continue;
    for (const std::string_view mark : {"ERROR: ", "WARNING: "}) {
      if (!line.starts_with(mark)) continue;
      line.remove_prefix(mark.size());
      const std::size_t end = line.starts_with('[') ? line.find("] ") : std::string_view::npos;
      if (end != std::string_view::npos) line.remove_prefix(end + 2);
    }
    while (line.ends_with('.') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.empty() || text.find(line) != std::string::npos) continue;
    text += (text.empty() ? "" : "; ") + std::string(line);
  }
  if (text.size() > kMaxLog) text = text.substr(0, kMaxLog) + " ...";
  return text;
}

}  // namespace gantry
