#include "host/formats/format.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

namespace gantry {

namespace {

Diagnostic not_found(const std::filesystem::path& path, const std::string& why) {
  return error(Code::input_not_found, "cannot read '" + path.string() + "': " + why).at(path.string());
}

std::string system_reason(int number) { return std::generic_category().message(number); }

std::string_view text_of(std::span<const std::byte> bytes, std::size_t most) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), most)};
}

bool has_at(std::string_view head, std::size_t offset, std::string_view magic) {
  return head.size() >= offset + magic.size() && head.substr(offset, magic.size()) == magic;
}

// Whether the beginning could be text that a person reads: no control bytes but white space.
bool looks_like_text(std::string_view head) {
  return std::ranges::none_of(head, [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f') || u == 0x7F;
  });
}

// A ModelProto begins with one of its own fields; writers put ir_version, the first field, first.
bool looks_like_model(std::string_view head) {
  return head.size() >= 2 && head[0] == 0x08 && static_cast<unsigned char>(head[1]) < 0x80;
}

constexpr std::string_view kHdf5Magic{"\x89HDF\r\n\x1a\n", 8};

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // Not blocking: a pipe without a writer would keep open() waiting.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return not_found(path, system_reason(errno));
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } const closer{descriptor};

  struct stat info{};
  if (::fstat(descriptor, &info) != 0) return not_found(path, system_reason(errno));
  if (S_ISDIR(info.st_mode)) return not_found(path, "it is a folder");
  if (!S_ISREG(info.st_mode)) return not_found(path, "it is not a regular file");

  std::shared_ptr<MappedFile> file(new MappedFile);
  file->path_ = path;
  if (info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (start == MAP_FAILED) return not_found(path, system_reason(errno));
    file->bytes_ = {static_cast<const std::byte*>(start), size};
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

FileFormat detect_format(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const std::string_view head = text_of(bytes, 512);
  if (head.empty()) return FileFormat::empty;
  if (has_at(head, 4, "TFL3")) return FileFormat::tflite;
  if (has_at(head, 0, kHdf5Magic)) return FileFormat::hdf5;
  if (has_at(head, 0, "PK\x03\x04") || has_at(head, 0, "PK\x05\x06")) return FileFormat::zip;
  if (looks_like_text(head)) return FileFormat::text;
  if (looks_like_model(head)) return FileFormat::onnx;
  const std::string extension = path.extension().string();
  if (extension == ".onnx") return FileFormat::onnx;
  return FileFormat::unknown;
}

std::string describe_bytes(std::span<const std::byte> bytes) {
  struct Known {
    std::size_t offset;
    std::string_view magic;
    std::string_view what;
  };
  static constexpr std::array kKnown = {
      Known{0, "version https://git-lfs", "a Git LFS pointer instead of the file itself (run `git lfs pull`)"},
      Known{0, "<!DOCTYPE", "an HTML page (a download that went wrong?)"},
      Known{0, "<!doctype", "an HTML page (a download that went wrong?)"},
      Known{0, "<html", "an HTML page (a download that went wrong?)"},
      Known{4, "TFL3", "a TFLite model"},
      Known{0, kHdf5Magic, "an HDF5 file (a Keras model?)"},
      Known{0, "PK\x03\x04", "a zip archive"},
      Known{0, "PK\x05\x06", "an empty zip archive"},
      Known{0, "\x1F\x8B", "gzip-compressed data (unpack it first)"},
      Known{0, "BZh", "bzip2-compressed data (unpack it first)"},
      Known{0,
            "\xFD"
            "7zXZ",
            "xz-compressed data (unpack it first)"},
      Known{0, "\x28\xB5\x2F\xFD", "zstd-compressed data (unpack it first)"},
      Known{4, "ORTM", "a model in ONNX Runtime's own ORT format"},
      Known{0,
            "\x7F"
            "ELF",
            "a program or library"},
      Known{0, "\x93NUMPY", "a NumPy array"},
      Known{0, "\x80\x02", "a Python pickle (a PyTorch checkpoint?)"},
      Known{0, "{", "a JSON text"},
  };
  const std::string_view head = text_of(bytes, 512);
  const std::string_view trimmed = head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  for (const Known& known : kKnown) {
    const bool text = known.offset == 0 && looks_like_text(known.magic);
    if (has_at(text ? trimmed : head, known.offset, known.magic)) return std::string(known.what);
  }
  return !head.empty() && looks_like_text(head) ? "a text file" : "";
}

}  // namespace gantry
