#include "hdf5_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include <sys/resource.h>
#include <sys/wait.h>

#include "hdf5_walk.hpp"

namespace gantry::keras {
namespace {

// AddressSanitizer's shadow is larger than any limit.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

[[noreturn]] void damaged() { throw std::runtime_error("the HDF5 file is damaged"); }

/// A child that walks the file. Ended when this goes.
class Child {
 public:
  explicit Child(std::span<const std::byte> bytes) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe: " + std::string(std::strerror(errno)));
    pid_ = ::fork();
    if (pid_ < 0) {
      ::close(ends[0]), ::close(ends[1]);
      throw std::runtime_error("no process: " + std::string(std::strerror(errno)));
    }
    if (pid_ == 0) run(bytes, ends[1]);
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~Child() {
    ::close(from_);
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// All that it writes. Throws where it takes longer than `seconds`.
  std::vector<std::byte> output(int seconds) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::vector<std::byte> all;
    std::size_t used = 0;
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd wait{from_, POLLIN, 0};
      const int ready = left.count() > 0 ? ::poll(&wait, 1, static_cast<int>(left.count())) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) throw std::runtime_error("the HDF5 file is damaged: reading it does not end");
      if (all.size() - used < (1U << 16)) all.resize(std::max<std::size_t>(2 * all.size(), 1U << 18));
      const ssize_t n = ::read(from_, all.data() + used, all.size() - used);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      used += static_cast<std::size_t>(n);
    }
    all.resize(used);
    return all;
  }

 private:
  [[noreturn]] static void run(std::span<const std::byte> bytes, int to) {
    for (const int s : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM}) ::signal(s, SIG_DFL);
    const rlimit no_core{0, 0}, cpu{60, 60};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_CPU, &cpu);
    if (!kSanitized) limit_memory(bytes.size());
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, 1), ::dup2(nowhere, 2);
    walk_hdf5(bytes, to);
    ::_exit(0);
  }

  // What a damaged file may make the library ask for: beyond what the process already has.
  static void limit_memory(std::size_t file) {
    rlimit data{};
    if (::getrlimit(RLIMIT_DATA, &data) != 0) return;
    const rlim_t most = (rlim_t{4} << 30) + 64 * static_cast<rlim_t>(file);
    if (data.rlim_cur == RLIM_INFINITY || data.rlim_cur > most) data.rlim_cur = most;
    ::setrlimit(RLIMIT_DATA, &data);
  }

  pid_t pid_ = -1;
  int from_ = -1;
};

/// Fields of records, which are as little to be trusted as the file.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> all) : all_(all) {}
  std::span<const std::byte> take(std::uint64_t n) {
    if (n > all_.size()) damaged();
    const auto part = all_.first(static_cast<std::size_t>(n));
    all_ = all_.subspan(static_cast<std::size_t>(n));
    return part;
  }
  Hdf5Record kind() { return static_cast<Hdf5Record>(take(1)[0]); }
  std::uint64_t number() {
    std::uint64_t n = 0;
    std::memcpy(&n, take(sizeof n).data(), sizeof n);
    return n;
  }
  std::string text() {
    const auto bytes = take(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Dims, and the bytes of so many float32.
  std::pair<std::vector<std::int64_t>, std::uint64_t> dims() {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
    std::vector<std::int64_t> out;
    std::uint64_t elements = 1;
    const std::uint64_t rank = number();
    if (rank > 32) damaged();
    for (std::uint64_t i = 0; i < rank; ++i) {
      const std::uint64_t d = number();
      if (d > kMost || (d != 0 && elements > kMost / d)) damaged();
      elements *= d;
      out.push_back(static_cast<std::int64_t>(d));
    }
    return {out, elements * sizeof(float)};
  }

 private:
  std::span<const std::byte> all_;
};

}  // namespace

Hdf5File::Hdf5File(std::span<const std::byte> bytes) : bytes_(bytes) {
  constexpr int kSeconds = 10, kBytesASecond = 20'000'000;
  const auto more = static_cast<int>(std::min<std::size_t>(bytes.size() / kBytesASecond, 600));
  records_ = Child(bytes).output(kSeconds + more);
  take(records_);
}

void Hdf5File::take(std::span<const std::byte> records) {
  Fields f(records);
  for (;;) {
    switch (f.kind()) {  // a child that crashed ends without an end: that throws
      case Hdf5Record::group:
        groups_[f.text()];
        break;
      case Hdf5Record::attribute: {
        Texts& texts = groups_[f.text()];
        std::vector<std::string>& list = texts[f.text()];
        for (std::uint64_t n = f.number(); n > 0; --n) list.push_back(f.text());
        break;
      }
      case Hdf5Record::placed: {
        Found& found = datasets_[f.text()];
        const auto [dims, size] = f.dims();
        const std::uint64_t at = f.number();
        found.data.dims = dims;
        if (at > bytes_.size() || size > bytes_.size() - at)
          found.why_not = "it lies beyond the end of the file";
        else
          found.data.bytes = bytes_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
        break;
      }
      case Hdf5Record::read: {
        Found& found = datasets_[f.text()];
        const auto [dims, size] = f.dims();
        found.data = {dims, f.take(size)};
        break;
      }
      case Hdf5Record::unusable: {
        Found& found = datasets_[f.text()];
        found.why_not = f.text();
        break;
      }
      case Hdf5Record::end:
        return;
      case Hdf5Record::failed:
        throw std::runtime_error(f.text());
      default:
        damaged();
    }
  }
}

std::optional<std::vector<std::string>> Hdf5File::texts(const std::string& path, const std::string& attribute) const {
  const auto group = groups_.find(path);
  if (group == groups_.end()) return std::nullopt;
  const auto whole = group->second.find(attribute);
  if (whole != group->second.end()) return whole->second;
  std::optional<std::vector<std::string>> joined;
  for (int i = 0;; ++i) {
    const auto part = group->second.find(attribute + std::to_string(i));
    if (part == group->second.end()) return joined;
    if (!joined) joined.emplace();
    joined->insert(joined->end(), part->second.begin(), part->second.end());
  }
}

std::optional<std::string> Hdf5File::text(const std::string& path, const std::string& attribute) const {
  auto all = texts(path, attribute);
  if (!all || all->size() != 1) return std::nullopt;
  return std::move(all->front());
}

Dataset Hdf5File::read(const std::string& path) const {
  const auto it = datasets_.find(path);
  if (it == datasets_.end()) throw std::runtime_error("the weight " + path + " is not in the file");
  if (!it->second.why_not.empty()) throw std::runtime_error("the weight " + path + ": " + it->second.why_not);
  return it->second.data;
}

}  // namespace gantry::keras
