// Members of a zip archive in memory, as Keras writes them: stored or deflated, no encryption.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gantry::keras {

class Zip {
 public:
  /// `bytes` must outlive it. Throws std::runtime_error where it is damaged.
  explicit Zip(std::span<const std::byte> bytes);

  bool contains(const std::string& name) const { return entries_.contains(name); }
  /// A member: a view of the archive where it is stored, otherwise inflated into `owned`. Throws std::runtime_error
  /// where it is absent, damaged, or larger than `most` bytes.
  std::span<const std::byte> read(const std::string& name, std::size_t most, std::vector<std::byte>& owned) const;

 private:
  struct Entry {
    std::size_t header = 0, packed = 0, size = 0;
    unsigned method = 0, flags = 0;
    unsigned long crc = 0;
  };
  std::span<const std::byte> bytes_;
  std::map<std::string, Entry> entries_;
};

}  // namespace gantry::keras
