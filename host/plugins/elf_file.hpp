// Reading parts of an ELF file. Private to host/plugins.
#pragma once

#include <cstdint>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <optional>
#include <vector>

namespace gantry::plugins::elf {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);
using Dynamic = ElfW(Dyn);
using Symbol = ElfW(Sym);
using Relocation = ElfW(Rela);

// More symbols or segments than any plugin has; keeps what a broken file can ask for small.
constexpr std::uint64_t kMostBytes = 256u << 20;

class File {
 public:
  explicit File(const std::filesystem::path& path) : in_(path, std::ios::binary | std::ios::ate) {
    size_ = in_ ? static_cast<std::uint64_t>(in_.tellg()) : 0;
  }
  bool good() const { return static_cast<bool>(in_); }
  std::uint64_t size() const { return size_; }
  bool holds(std::uint64_t offset, std::uint64_t bytes) const { return offset <= size_ && bytes <= size_ - offset; }

  /// `count` structs at an offset, or nothing if they are not all in the file.
  template <class T>
  std::optional<std::vector<T>> read(std::uint64_t offset, std::uint64_t count) {
    if (count > kMostBytes / sizeof(T) || !holds(offset, count * sizeof(T))) return std::nullopt;
    std::vector<T> out(static_cast<std::size_t>(count));
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in_) return std::nullopt;
    return out;
  }

 private:
  std::ifstream in_;
  std::uint64_t size_ = 0;
};

/// Whether an address is in memory once the segments are loaded.
bool in_memory(const std::vector<Segment>& segments, std::uint64_t address);

/// The tables that the dynamic loader walks without looking: symbols, their hash table, relocations. What is wrong, or
/// null.
const char* check_tables(File& file, const std::vector<Section>& sections, const std::vector<Segment>& segments);

}  // namespace gantry::plugins::elf
