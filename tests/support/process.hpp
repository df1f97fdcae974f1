// Runs a program and keeps what it wrote.
#pragma once

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <signal.h>
#include <spawn.h>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <sys/wait.h>

extern char** environ;

namespace gantry::test {

struct ProcessResult {
  int status = -1;  // exit status; -N if signal N ended it; -1000 if it took too long
  std::string out, err;

  /// The last line of stderr, without line feed.
  std::string last_line() const {
    const std::size_t end = err.find_last_not_of('\n');
    if (end == std::string::npos) return {};
    const std::size_t begin = err.rfind('\n', end);
    return err.substr(begin == std::string::npos ? 0 : begin + 1,
                      end - (begin == std::string::npos ? 0 : begin + 1) + 1);
  }
};

struct ProcessOptions {
  std::map<std::string, std::string> environment;  // set besides what this process has; "" = unset
  std::filesystem::path folder;                    // to run in
  std::filesystem::path stdout_to;                 // instead of a temporary file, e.g. /dev/full
  bool terminal = false;                           // stderr is a terminal
  std::chrono::seconds timeout{120};
};

/// A folder of its own for a test, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gantry-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::filesystem::path write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e;
    if (!changes.contains(entry.substr(0, entry.find('=')))) all.push_back(entry);
  }
  for (const auto& [name, value] : changes)
    if (!value.empty()) all.push_back(name + "=" + value);
  return all;
}

/// A pseudo terminal whose other side can be opened by its path.
class Terminal {
 public:
  Terminal() : fd_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (fd_ < 0 || grantpt(fd_) != 0 || unlockpt(fd_) != 0) std::abort();
    path_ = ptsname(fd_);
    other_ = open(path_.c_str(), O_RDWR | O_NOCTTY);  // else what was written is lost when the program ends
  }
  ~Terminal() {
    close(other_);
    close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  const std::string& path() const { return path_; }
  const std::string& text() {
    char buffer[4096];
    for (ssize_t n = read(fd_, buffer, sizeof buffer); n > 0; n = read(fd_, buffer, sizeof buffer))
      text_.append(buffer, static_cast<std::size_t>(n));
    return text_;
  }

 private:
  int fd_, other_ = -1;
  std::string path_, text_;
};

inline int wait_for(pid_t pid, std::chrono::seconds timeout, Terminal* terminal) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (terminal) terminal->text();
    if (std::chrono::steady_clock::now() > end) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return -1000;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options = {}) {
  const TemporaryFolder folder;
  const std::string out = (options.stdout_to.empty() ? folder.path() / "out" : options.stdout_to).string();
  std::optional<Terminal> terminal;
  if (options.terminal) terminal.emplace();
  const std::string err = terminal ? terminal->path() : (folder.path() / "err").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());

  std::vector<char*> argv, envp;
  std::vector<std::string> words = arguments, environment = merged_environment(options.environment);
  for (std::string& w : words) argv.push_back(w.data());
  for (std::string& e : environment) envp.push_back(e.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_t pid = 0;
  ProcessResult result;
  if (posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data()) == 0)
    result.status = wait_for(pid, options.timeout, terminal ? &*terminal : nullptr);
  posix_spawn_file_actions_destroy(&actions);
  if (options.stdout_to.empty()) result.out = read_file(out);
  result.err = terminal ? terminal->text() : read_file(err);
  return result;
}

}  // namespace gantry::test
