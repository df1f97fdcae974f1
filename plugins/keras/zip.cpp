#include "zip.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <zlib.h>

namespace gantry::keras {
namespace {

[[noreturn]] void damaged(const std::string& what) { throw std::runtime_error("the zip archive is damaged: " + what); }

/// `width` bytes from `at`, little-endian.
std::uint64_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  if (at > bytes.size() || width > bytes.size() - at) damaged("it is cut short");
  std::uint64_t n = 0;
  for (std::size_t i = width; i-- > 0;) n = n << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  return n;
}

struct Directory {
  std::uint64_t at = 0, entries = 0;
};

// The end of the central directory, which is at most 64 KiB of comment before the end of the file.
Directory find_directory(std::span<const std::byte> bytes) {
  constexpr std::size_t kEnd = 22, kComment = 65535;
  for (std::size_t back = kEnd; back <= std::min(bytes.size(), kEnd + kComment); ++back) {
    const std::size_t at = bytes.size() - back;
    if (number(bytes, at, 4) != 0x06054b50) continue;
    Directory d{number(bytes, at + 16, 4), number(bytes, at + 10, 2)};
    if (d.at != 0xFFFFFFFF && d.entries != 0xFFFF) return d;
    if (at < 20 || number(bytes, at - 20, 4) != 0x07064b50) damaged("its 64-bit directory is not there");
    const auto big = static_cast<std::size_t>(std::min<std::uint64_t>(number(bytes, at - 12, 8), bytes.size()));
    if (number(bytes, big, 4) != 0x06064b50) damaged("its 64-bit directory is not there");
    return {number(bytes, big + 48, 8), number(bytes, big + 32, 8)};
  }
  damaged("it has no directory");
}

// Sizes of 4 GiB and more stand in an extra field.
void read_zip64(std::span<const std::byte> extra, std::uint64_t& size, std::uint64_t& packed, std::uint64_t& header) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const auto id = number(extra, at, 2);
    const auto length = static_cast<std::size_t>(number(extra, at + 2, 2));
    std::size_t field = at + 4;
    if (id == 1) {
      for (std::uint64_t* n : {&size, &packed, &header}) {
        if (*n != 0xFFFFFFFF) continue;
        *n = number(extra, field, 8);
        field += 8;
      }
      return;
    }
    at += 4 + length;
  }
}

}  // namespace

Zip::Zip(std::span<const std::byte> bytes) : bytes_(bytes) {
  constexpr std::uint64_t kMostEntries = 100'000;
  const Directory d = find_directory(bytes);
  if (d.entries > kMostEntries || d.at > bytes.size()) damaged("its directory");
  auto at = static_cast<std::size_t>(d.at);
  for (std::uint64_t i = 0; i < d.entries; ++i) {
    if (number(bytes, at, 4) != 0x02014b50) damaged("an entry of its directory");
    const auto name_size = static_cast<std::size_t>(number(bytes, at + 28, 2));
    const auto extra_size = static_cast<std::size_t>(number(bytes, at + 30, 2));
    const auto comment_size = static_cast<std::size_t>(number(bytes, at + 32, 2));
    std::uint64_t packed = number(bytes, at + 20, 4), size = number(bytes, at + 24, 4),
                  header = number(bytes, at + 42, 4);
    if (name_size + extra_size > bytes.size() - std::min(bytes.size(), at + 46)) damaged("it is cut short");
    read_zip64(bytes.subspan(at + 46 + name_size, extra_size), size, packed, header);
    if (header > bytes.size() || packed > bytes.size()) damaged("an entry lies beyond its end");
    const std::string name(reinterpret_cast<const char*>(bytes.data()) + at + 46, name_size);
    entries_[name] = {static_cast<std::size_t>(header),
                      static_cast<std::size_t>(packed),
                      static_cast<std::size_t>(size),
                      static_cast<unsigned>(number(bytes, at + 10, 2)),
                      static_cast<unsigned>(number(bytes, at + 8, 2)),
                      static_cast<unsigned long>(number(bytes, at + 16, 4))};
    at += 46 + name_size + extra_size + comment_size;
  }
}

std::span<const std::byte> Zip::read(const std::string& name, std::size_t most, std::vector<std::byte>& owned) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) throw std::runtime_error("the archive has no " + name);
  const Entry& e = it->second;
  if (number(bytes_, e.header, 4) != 0x04034b50) damaged(name);
  const std::size_t from = e.header + 30 + static_cast<std::size_t>(number(bytes_, e.header + 26, 2)) +
                           static_cast<std::size_t>(number(bytes_, e.header + 28, 2));
  if (from > bytes_.size() || e.packed > bytes_.size() - from) damaged(name + " lies beyond its end");
  if (e.size > most) throw std::runtime_error(name + " is larger than " + std::to_string(most) + " bytes");
  if (e.flags & 1U) throw std::runtime_error(name + " is encrypted");
  const auto packed = bytes_.subspan(from, e.packed);
  if (e.method == 0) {
    if (e.size != e.packed) damaged(name);
    return packed;
  }
  if (e.method != 8) throw std::runtime_error(name + " is compressed by an unknown method");
  // Deflate can do a thousandfold, weights and JSON never do.
  constexpr std::size_t kFree = std::size_t{64} << 20, kMostPacked = 64;
  if (e.size > kFree && (e.size - kFree) / kMostPacked > e.packed) damaged(name + " is packed more than any model is");
  if (e.size / 1032 > e.packed) damaged(name + " says it is larger than it can be");
  if (e.packed > std::numeric_limits<uInt>::max() || e.size > std::numeric_limits<uInt>::max())
    throw std::runtime_error(name + " is compressed and larger than 4 GiB");
  owned.resize(e.size);
  z_stream z{};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));  // NOLINT: zlib's C interface
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = reinterpret_cast<Bytef*>(owned.data());
  z.avail_out = static_cast<uInt>(owned.size());
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) damaged(name);
  const int status = inflate(&z, Z_FINISH);
  const bool whole = status == Z_STREAM_END && z.total_out == e.size;
  inflateEnd(&z);
  if (!whole || crc32(0, reinterpret_cast<const Bytef*>(owned.data()), static_cast<uInt>(owned.size())) != e.crc)
    damaged(name);
  return owned;
}

}  // namespace gantry::keras
