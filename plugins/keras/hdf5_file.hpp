// HDF5 of untrusted files. Everything throws std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
};

/// A file as it was when it was opened: `bytes` must outlive it, and are not copied. The HDF5 library works on it in a
/// process of its own, which may crash or hang and is then ended.
class Hdf5File {
 public:
  explicit Hdf5File(std::span<const std::byte> bytes);

  /// Paths are absolute: "/", "/model_weights/dense".
  bool has_group(const std::string& path) const { return groups_.contains(path); }
  bool has_dataset(const std::string& path) const { return datasets_.contains(path); }
  /// A string attribute of a group; nullopt where it is absent.
  std::optional<std::string> text(const std::string& path, const std::string& attribute) const;
  /// An attribute that is a list of strings; Keras cuts long ones into NAME0, NAME1, ...
  std::optional<std::vector<std::string>> texts(const std::string& path, const std::string& attribute) const;
  /// A dataset of floating-point numbers or integers; a view that lives as long as the file.
  Dataset read(const std::string& path) const;

 private:
  using Texts = std::map<std::string, std::vector<std::string>>;
  struct Found {
    Dataset data;
    std::string why_not;  // it cannot be used
  };

  void take(std::span<const std::byte> records);

  std::span<const std::byte> bytes_;
  std::vector<std::byte> records_;  // hold what is no view of the file
  std::map<std::string, Texts> groups_;
  std::map<std::string, Found> datasets_;
};

}  // namespace gantry::keras
