// Zip as NumPy writes it: the directory at the end of the file is what counts (PKWARE APPNOTE, 4.3), with the 64-bit
// sizes of version 4.5.

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <zlib.h>

#include "host/verify/npy.hpp"

namespace gantry {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxRatio = 1032;  // deflate cannot do better

/// An unsigned little-endian number of N bytes; the caller has checked that they are there.
template <std::size_t N>
std::uint64_t get(Bytes bytes, std::size_t at) {
  std::uint64_t n = 0;
  for (std::size_t i = N; i-- > 0;) n = n << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  return n;
}

void put(std::vector<std::byte>& out, std::uint64_t n, unsigned bytes) {
  for (; bytes > 0; --bytes, n >>= 8) out.push_back(static_cast<std::byte>(n & 0xff));
}

bool inside(Bytes file, std::uint64_t at, std::uint64_t size) { return at <= file.size() && size <= file.size() - at; }

struct Member {
  std::string name;
  unsigned method = 0;
  bool encrypted = false;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0, at = 0;
};

class Zip {
 public:
  Zip(Bytes file, std::string_view place) : file_(file), place_(place) {}

  Result<std::vector<Member>> directory() const {
    const auto end = find_end();
    if (!end) return malformed("its directory is missing (is it cut off?)");
    std::uint64_t count = get<2>(file_, *end + 10), at = get<4>(file_, *end + 16);
    if (*end >= kLocatorSize && get<4>(file_, *end - kLocatorSize) == kLocator64) {
      const std::uint64_t end64 = get<8>(file_, *end - kLocatorSize + 8);
      if (!inside(file_, end64, kEnd64Size) || get<4>(file_, end64) != kEnd64)
        return malformed("its directory is broken");
      count = get<8>(file_, end64 + 32);
      at = get<8>(file_, end64 + 48);
    }
    std::vector<Member> members;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!inside(file_, at, kCentralSize) || get<4>(file_, at) != kCentral)
        return malformed("its directory is broken");
      const std::uint64_t name = get<2>(file_, at + 28), extra = get<2>(file_, at + 30),
                          comment = get<2>(file_, at + 32);
      if (!inside(file_, at + kCentralSize, name + extra + comment)) return malformed("its directory is broken");
      members.push_back(member(at, name, file_.subspan(at + kCentralSize + name, extra)));
      at += kCentralSize + name + extra + comment;
    }
    return members;
  }

  Result<std::vector<std::byte>> extract(const Member& m) const {
    if (m.encrypted || (m.method != 0 && m.method != Z_DEFLATED)) {
      return malformed("'" + m.name + "' is packed in a way that is not known");
    }
    if (!inside(file_, m.at, kLocalSize) || get<4>(file_, m.at) != kLocal)
      return malformed("'" + m.name + "' is broken");
    const std::uint64_t start = m.at + kLocalSize + get<2>(file_, m.at + 26) + get<2>(file_, m.at + 28);
    if (!inside(file_, start, m.packed)) return malformed("'" + m.name + "' is cut off");
    const Bytes packed = file_.subspan(start, m.packed);
    std::vector<std::byte> data;
    if (m.method == 0) {
      if (m.size != m.packed) return malformed("'" + m.name + "' has two sizes");
      data.assign(packed.begin(), packed.end());
    } else if (m.size / kMaxRatio > m.packed || !inflate(packed, m.size, data)) {
      return malformed("'" + m.name + "' does not unpack to its size");
    }
    const uLong crc = crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(data.data()), data.size());
    if (crc != m.crc) return malformed("the checksum of '" + m.name + "' is wrong");
    return data;
  }

 private:
  Diagnostic malformed(const std::string& reason) const {
    return error(Code::input_malformed, "not a whole .npz file: " + reason).at(place_);
  }

  /// The end record: the last one, with a comment of at most 64 KiB behind it.
  std::optional<std::size_t> find_end() const {
    if (file_.size() < kEndSize) return std::nullopt;
    const std::size_t last = file_.size() - kEndSize, first = last > 0xffff ? last - 0xffff : 0;
    for (std::size_t at = last + 1; at-- > first;) {
      if (get<4>(file_, at) == kEnd) return at;
    }
    return std::nullopt;
  }

  Member member(std::uint64_t at, std::uint64_t name, Bytes extra) const {
    Member m;
    m.name.assign(reinterpret_cast<const char*>(file_.data()) + at + kCentralSize, name);
    m.encrypted = (get<2>(file_, at + 8) & 1) != 0;
    m.method = static_cast<unsigned>(get<2>(file_, at + 10));
    m.crc = static_cast<std::uint32_t>(get<4>(file_, at + 16));
    m.packed = get<4>(file_, at + 20);
    m.size = get<4>(file_, at + 24);
    m.at = get<4>(file_, at + 42);
    while (extra.size() >= 4) {
      const std::size_t id = get<2>(extra, 0), size = std::min<std::size_t>(get<2>(extra, 2), extra.size() - 4);
      if (id == 1) {  // 64-bit sizes, of those that are at their limit, in this order
        Bytes numbers = extra.subspan(4, size);
        for (std::uint64_t* field : {&m.size, &m.packed, &m.at}) {
          if (*field != kMax32 || numbers.size() < 8) continue;
          *field = get<8>(numbers, 0);
          numbers = numbers.subspan(8);
        }
      }
      extra = extra.subspan(4 + size);
    }
    return m;
  }

  /// Grows with what really comes out, so that a false size costs no memory.
  static bool inflate(Bytes packed, std::uint64_t size, std::vector<std::byte>& out) {
    constexpr std::size_t kStep = 1 << 20;
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    int status = Z_OK;
    while (status == Z_OK) {
      if (stream.avail_in == 0 && !packed.empty()) {
        const std::size_t n = std::min<std::size_t>(packed.size(), kStep);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
        stream.avail_in = static_cast<uInt>(n);
        packed = packed.subspan(n);
      }
      const std::size_t before = out.size();
      const std::size_t room = std::min<std::uint64_t>(kStep, size + 1 - before);  // one more shows that it is too long
      out.resize(before + room);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream.avail_out = static_cast<uInt>(room);
      status = ::inflate(&stream, Z_NO_FLUSH);
      out.resize(before + (room - stream.avail_out));
      if (out.size() > size) break;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && out.size() == size;
  }

  Bytes file_;
  std::string_view place_;
};

/// A local header or, with `at`, an entry of the directory.
void put_header(std::vector<std::byte>& out, const std::string& name, Bytes data, std::optional<std::uint64_t> at) {
  put(out, at ? kCentral : kLocal, 4);
  if (at) put(out, 20, 2);  // made by version 2.0
  put(out, 20, 2);          // needs it
  put(out, 0x0800, 2);      // names are UTF-8
  put(out, 0, 2);           // stored
  put(out, 0, 2);           // time: the same bytes every time
  put(out, 0x21, 2);        // 1980-01-01, the first date there is
  put(out, crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(data.data()), data.size()), 4);
  put(out, data.size(), 4);
  put(out, data.size(), 4);
  put(out, name.size(), 2);
  put(out, 0, 2);  // nothing extra
  if (at) {
    put(out, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
    put(out, *at, 4);
  }
  const auto* text = reinterpret_cast<const std::byte*>(name.data());
  out.insert(out.end(), text, text + name.size());
}

}  // namespace

Result<std::vector<NamedTensor>> parse_npz(std::span<const std::byte> file, std::string_view place) {
  const Zip zip(file, place);
  GANTRY_ASSIGN(const std::vector<Member> members, zip.directory());
  std::vector<NamedTensor> tensors;
  std::uint64_t left = file.size();  // members that share bytes would let a small file fill the memory
  for (const Member& m : members) {
    if (m.packed > left) return error(Code::input_malformed, "the members of the .npz file overlap").at(place);
    left -= m.packed;
    constexpr std::string_view kSuffix = ".npy";
    if (!m.name.ends_with(kSuffix)) {
      return error(Code::input_malformed, "the .npz file holds '" + m.name + "', which is no .npy file").at(place);
    }
    GANTRY_ASSIGN(const std::vector<std::byte> data, zip.extract(m));
    GANTRY_ASSIGN(Tensor tensor, parse_npy(data, std::string(place) + ":" + m.name));
    tensors.push_back({m.name.substr(0, m.name.size() - kSuffix.size()), std::move(tensor)});
  }
  return tensors;
}

Result<std::vector<std::byte>> to_npz(std::span<const NamedTensor> tensors) {
  std::vector<std::byte> out, directory;
  for (const NamedTensor& t : tensors) {
    const std::string name = t.name + ".npy";
    GANTRY_ASSIGN(const std::vector<std::byte> data, to_npy(t.tensor));
    if (name.size() > 0xffff || out.size() + data.size() + directory.size() > kMax32 - 0x10000 ||
        tensors.size() > 0xfffe) {
      return error(Code::output_too_large, "the tensors are too many or too large for a .npz file");
    }
    put_header(directory, name, data, out.size());
    put_header(out, name, data, std::nullopt);
    out.insert(out.end(), data.begin(), data.end());
  }
  const std::uint64_t at = out.size();
  out.insert(out.end(), directory.begin(), directory.end());
  put(out, kEnd, 4);
  put(out, 0, 4);  // disks
  put(out, tensors.size(), 2);
  put(out, tensors.size(), 2);
  put(out, directory.size(), 4);
  put(out, at, 4);
  put(out, 0, 2);  // no comment
  return out;
}

}  // namespace gantry
