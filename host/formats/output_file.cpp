#include "host/formats/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace gantry {
namespace {

// Ranges up to this size go through memory, which is faster than a mapping of the file: a fault for each of its pages
// costs more than a copy.
constexpr std::uint64_t kMemory = 16 << 20;

// Shorter writes are gathered into longer ones.
constexpr std::uint64_t kGather = 1 << 18;

Diagnostic not_written(const std::filesystem::path& target, std::string_view what, int system_error) {
  Diagnostic d = error(Code::output_not_written,
                       std::string(what) + ": " + std::error_code(system_error, std::generic_category()).message())
                     .at(target.string());
  if (system_error == ENOENT) d.hint = "make the folder first";
  if (system_error == ENOSPC || system_error == EDQUOT) d.hint = "free some room, or write to another disk";
  return d;
}

// Devices and pipes must not be renamed over, and a folder cannot be.
Status check_target(const std::filesystem::path& target) {
  struct stat s{};
  if (target.filename().empty()) return not_written(target, "not a file name", EISDIR);
  if (::stat(target.c_str(), &s) != 0) return {};
  if (S_ISDIR(s.st_mode)) return not_written(target, "cannot be written", EISDIR);
  if (!S_ISREG(s.st_mode)) return error(Code::output_not_written, "is not a regular file").at(target.string());
  return {};
}

// Writing past this limit of the process would end it with a signal.
Status check_limit(const std::filesystem::path& target, std::uint64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    return not_written(target, "the file would be larger than this process may write", EFBIG);
  }
  return {};
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path target, std::filesystem::path aside, TemporaryName name, int fd)
    : target_(std::move(target)), aside_(std::move(aside)), name_(std::move(name)), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      aside_(std::move(other.aside_)),
      name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(aside_.c_str());
}

Diagnostic OutputFile::failed(std::string_view what, int system_error) const {
  return not_written(target_, what, system_error);
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& target, std::uint64_t bytes) {
  GANTRY_TRY(check_target(target));
  GANTRY_TRY(check_limit(target, bytes));
  for (int n = 0;; ++n) {
    const std::string name = ".gantry-" + std::to_string(::getpid()) + "-" + std::to_string(n) + ".tmp";
    std::filesystem::path aside = target.parent_path() / name;
    TemporaryName registered(aside);  // before it exists: a signal may come between
    const int fd = ::open(aside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST && n < 1000) continue;
    if (fd < 0) return not_written(target, "cannot be created", errno);
    OutputFile file(target, std::move(aside), std::move(registered), fd);
    if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return file.failed("cannot be made that large", errno);
    return file;
  }
}

Status OutputFile::write(std::uint64_t offset, std::span<const std::byte> data) {
  if (offset != gathered_at_ + gathered_.size() || gathered_.size() + data.size() > kGather) {
    GANTRY_TRY(flush());
    gathered_at_ = offset;
  }
  if (data.size() >= kGather) return write_through(offset, data);
  gathered_.insert(gathered_.end(), data.begin(), data.end());
  return {};
}

Status OutputFile::flush() {
  GANTRY_TRY(write_through(gathered_at_, gathered_));
  gathered_.clear();
  return {};
}

Status OutputFile::write_through(std::uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t n = ::pwrite(fd_, data.data(), data.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot be written", errno);
    if (n == 0) return failed("cannot be written", ENOSPC);
    offset += static_cast<std::uint64_t>(n);
    data = data.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status OutputFile::fill(std::uint64_t offset, std::uint64_t size,
                        const std::function<Status(std::span<std::byte>)>& fill) {
  if (size <= kMemory) return fill_by_memory(offset, size, fill);
  int reserved = 0;
  do {
    reserved = ::fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0 ? 0 : errno;
  } while (reserved == EINTR);
  if (reserved == EOPNOTSUPP || reserved == ENOSYS) return fill_by_memory(offset, size, fill);
  if (reserved != 0) return failed("cannot be written", reserved);

  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = offset / page * page, length = offset + size - begin;
  void* window = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(begin));
  if (window == MAP_FAILED) return failed("cannot be mapped", errno);
  Status status = fill(std::span(static_cast<std::byte*>(window) + (offset - begin), size));
  ::munmap(window, length);
  return status;
}

Status OutputFile::fill_by_memory(std::uint64_t offset, std::uint64_t size,
                                  const std::function<Status(std::span<std::byte>)>& fill) {
  if (size > memory_size_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
    memory_size_ = size;
  }
  const std::span<std::byte> memory(memory_.get(), size);
  GANTRY_TRY(fill(memory));
  return write(offset, memory);
}

Status OutputFile::commit() {
  GANTRY_TRY(flush());
  if (::close(std::exchange(fd_, -1)) != 0) {  // a network file system may only now say that the disk is full
    const int reason = errno;
    ::unlink(aside_.c_str());
    return failed("cannot be written", reason);
  }
  if (::rename(aside_.c_str(), target_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(aside_.c_str());
    return failed("cannot be renamed to its name", reason);
  }
  return {};
}

}  // namespace gantry
