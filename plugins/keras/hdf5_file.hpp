// HDF5 of untrusted files, over the C library. Everything throws std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::keras {

/// Elements of a dataset as little-endian float32: a view of the file's bytes where they lie there as they are.
struct Dataset {
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;
  std::vector<std::byte> owned;  // what `bytes` shows, if they had to be read
};

/// An open file, which is a view of `bytes`: they must outlive it, and are not copied.
class Hdf5File {
 public:
  explicit Hdf5File(std::span<const std::byte> bytes);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  bool has_group(const std::string& path) const;
  bool has_dataset(const std::string& path) const;
  /// Names of what is in a group, sorted.
  std::vector<std::string> members(const std::string& path) const;
  /// A string attribute; nullopt where it is absent.
  std::optional<std::string> text(const std::string& path, const std::string& attribute) const;
  /// An attribute that is a list of strings; Keras cuts long ones into NAME0, NAME1, ...
  std::optional<std::vector<std::string>> texts(const std::string& path, const std::string& attribute) const;
  /// A dataset of floating-point numbers or integers.
  Dataset read(const std::string& path) const;

 private:
  bool exists(const std::string& path) const;
  std::int64_t open_object(const std::string& path, bool dataset) const;
  std::optional<std::vector<std::string>> strings(const std::string& path, const std::string& attribute) const;

  std::span<const std::byte> bytes_;
  std::int64_t file_ = -1;
};

}  // namespace gantry::keras
