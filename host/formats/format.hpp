// What a reader hands over and what a writer takes. One folder a format beside this file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry {

/// A file mapped read-only; constants keep it alive. An empty file maps to an empty span.
class MappedFile {
 public:
  /// Errors: input_not_found with the reason of the system.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
  std::filesystem::path path_;
};

/// What a file is, judged by its first bytes, then its extension.
enum class FileFormat : std::uint8_t { unknown, onnx, tflite, hdf5, zip, text, empty };
FileFormat detect_format(std::span<const std::byte> bytes, const std::filesystem::path& path);
/// What a file holds, in words for a message ("an HTML page ...", "a zip archive"); "" if nothing is recognised.
std::string describe_bytes(std::span<const std::byte> bytes);

}  // namespace gantry
