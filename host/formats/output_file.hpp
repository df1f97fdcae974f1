// A file that appears whole or not at all: written under another name in the folder of its target, then renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "host/formats/temporary_files.hpp"
#include "host/ir/result.hpp"

namespace gantry {

class OutputFile {
 public:
  /// A file of `bytes` zeros beside `target`. All errors of this class are output_not_written, with the system's
  /// reason.
  static Result<OutputFile> create(const std::filesystem::path& target, std::uint64_t bytes);
  OutputFile(OutputFile&& other) noexcept;  // before anything is written
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without commit() nothing stays

  /// Quickest where each call goes on where the one before ended.
  Status write(std::uint64_t offset, std::span<const std::byte> data);
  /// Lets `fill` write a range in place. Room for it is made sure of first, so that a full disk is an error here and
  /// not a signal there. Other errors: those of `fill`.
  Status fill(std::uint64_t offset, std::uint64_t size, const std::function<Status(std::span<std::byte>)>& fill);
  /// Gives the file its name, over one that may be there.
  Status commit();

 private:
  OutputFile(std::filesystem::path target, std::filesystem::path aside, TemporaryName name, int fd);
  Status fill_by_memory(std::uint64_t offset, std::uint64_t size,
                        const std::function<Status(std::span<std::byte>)>& fill);
  Status write_through(std::uint64_t offset, std::span<const std::byte> data);
  Status flush();
  Diagnostic failed(std::string_view what, int system_error) const;

  std::filesystem::path target_, aside_;
  TemporaryName name_;
  int fd_ = -1;
  std::vector<std::byte> gathered_;  // short writes that wait, for this place
  std::uint64_t gathered_at_ = 0;
  std::unique_ptr<std::byte[]> memory_;  // for fill(), kept from call to call
  std::uint64_t memory_size_ = 0;
};

}  // namespace gantry
