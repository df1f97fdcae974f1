// A file that appears whole or not at all: written under another name in the folder of its target, then renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "host/ir/result.hpp"

namespace gantry::tflite_format {

class OutputFile {
 public:
  /// A file of `bytes` zeros beside `target`. All errors of this class are output_not_written, with the system's
  /// reason.
  static Result<OutputFile> create(const std::filesystem::path& target, std::uint64_t bytes);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without commit() nothing stays

  Status write(std::uint64_t offset, std::span<const std::byte> data);
  /// Lets `fill` write a range in place. Room for it is made sure of first, so that a full disk is an error here and
  /// not a signal there. Other errors: those of `fill`.
  Status fill(std::uint64_t offset, std::uint64_t size, const std::function<Status(std::span<std::byte>)>& fill);
  /// Gives the file its name, over one that may be there.
  Status commit();

 private:
  OutputFile(std::filesystem::path target, std::filesystem::path aside, int fd);
  Diagnostic failed(std::string_view what, int system_error) const;

  std::filesystem::path target_, aside_;
  int fd_ = -1;
};

}  // namespace gantry::tflite_format
