#include "hdf5_walk.hpp"

#include <bit>
#include <cstdint>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace gantry::keras {
namespace {

constexpr std::size_t kMostText = std::size_t{64} << 20;  // bytes of all strings of an attribute
constexpr std::size_t kMostRead = std::size_t{64} << 20;  // bytes of datasets, besides kMostPacked times the file's
constexpr std::size_t kMostPacked = 64;                   // a weight of random numbers is hardly packed at all
constexpr std::int64_t kMostElements = std::int64_t{1} << 34;
constexpr int kDeepest = 64;
constexpr std::size_t kMostObjects = 1'000'000;

[[noreturn]] void damaged(const std::string& what) { throw std::runtime_error("the HDF5 file is damaged: " + what); }

/// An identifier that is closed.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
    if (id_ < 0) damaged(what);
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: as the library takes it

 private:
  hid_t id_;
  Close close_;
};

/// Records into a descriptor.
class Records {
 public:
  explicit Records(int out) : out_(out) {}
  void kind(Hdf5Record k) { put(&k, 1); }
  void number(std::uint64_t n) { put(&n, sizeof n); }
  void text(std::string_view t) {
    number(t.size());
    put(t.data(), t.size());
  }
  void put(const void* data, std::size_t size) {
    buffer_.append(static_cast<const char*>(data), size);
    if (buffer_.size() > (1U << 16)) flush();
  }
  void flush() {
    for (std::size_t at = 0; at < buffer_.size();) {
      const ssize_t n = ::write(out_, buffer_.data() + at, buffer_.size() - at);
      if (n <= 0) throw std::runtime_error("nobody reads");
      at += static_cast<std::size_t>(n);
    }
    buffer_.clear();
  }

 private:
  int out_;
  std::string buffer_;
};

std::vector<std::int64_t> dims_of(hid_t space, const std::string& what) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > 32) damaged("the shape of " + what);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space, dims.data(), nullptr) < 0) damaged("the shape of " + what);
  std::int64_t elements = 1;
  std::vector<std::int64_t> out;
  for (const hsize_t d : dims) {
    if (d > static_cast<hsize_t>(kMostElements) || (d != 0 && elements > kMostElements / static_cast<std::int64_t>(d)))
      throw std::runtime_error(what + " of the HDF5 file has more elements than any model");
    elements *= static_cast<std::int64_t>(d);
    out.push_back(static_cast<std::int64_t>(d));
  }
  return out;
}

std::size_t elements_of(const std::vector<std::int64_t>& dims) {
  std::size_t n = 1;
  for (const std::int64_t d : dims) n *= static_cast<std::size_t>(d);
  return n;
}

std::vector<std::string> fixed_strings(hid_t attribute, hid_t type, std::size_t n, const std::string& what) {
  const std::size_t size = H5Tget_size(type);  // of each
  if (size == 0 || n > kMostText / size) damaged("the attribute " + what + " is too large");
  std::vector<char> all(n * size);
  if (n > 0 && H5Aread(attribute, type, all.data()) < 0) damaged("the attribute " + what);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view one(all.data() + i * size, size);
    out.emplace_back(one.substr(0, one.find('\0')));
  }
  return out;
}

std::vector<std::string> variable_strings(hid_t attribute, hid_t type, std::size_t n, const std::string& what) {
  if (n > kMostText / sizeof(char*)) damaged("the attribute " + what + " is too large");
  const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose, what);
  H5Tset_size(memory, H5T_VARIABLE);
  H5Tset_cset(memory, H5Tget_cset(type));
  std::vector<char*> all(n, nullptr);  // the process ends before anyone would give them back
  if (n > 0 && H5Aread(attribute, memory, all.data()) < 0) damaged("the attribute " + what);
  std::vector<std::string> out;
  for (const char* s : all) out.emplace_back(s ? s : "");
  return out;
}

class Walk {
 public:
  Walk(std::span<const std::byte> bytes, Records& out) : bytes_(bytes), out_(out) {}

  void file() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    // Opened for reading only, so the library does not write to it.
    void* image = const_cast<std::byte*>(bytes_.data());  // NOLINT
    const Handle file(
        H5LTopen_file_image(image, bytes_.size(), H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE), H5Fclose,
        "it is no HDF5 file, or cut short");
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "its root");
    group(root, "", 0);
    out_.kind(Hdf5Record::end);
  }

 private:
  void group(hid_t g, const std::string& path, int depth) {
    if (depth > kDeepest) damaged("its groups are nested too deep");
    H5O_info_t info{};
    if (H5Oget_info2(g, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0) damaged(path);
    if (!visited_.insert(info.addr).second) return;  // by another path
    out_.kind(Hdf5Record::group);
    out_.text(path.empty() ? "/" : path);
    attributes(g, path.empty() ? "/" : path, info.num_attrs);
    for (const std::string& name : names(g, path)) {
      if (depth == 0 && name == "optimizer_weights") continue;
      object(g, name, path + "/" + name, depth);
    }
  }

  std::vector<std::string> names(hid_t g, const std::string& path) {
    std::vector<std::string> all;
    const auto collect = [](hid_t, const char* name, const H5L_info_t* link, void* data) -> herr_t {
      auto& list = *static_cast<std::vector<std::string>*>(data);
      if (list.size() > kMostObjects) return -1;
      if (link->type == H5L_TYPE_HARD) list.emplace_back(name);  // others lead out of the file, or in circles
      return 0;
    };
    if (H5Literate(g, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &all) < 0) damaged(path);
    return all;
  }

  void object(hid_t g, const std::string& name, const std::string& path, int depth) {
    if (++objects_ > kMostObjects) damaged("it has too many objects");
    const Handle o(H5Oopen(g, name.c_str(), H5P_DEFAULT), H5Oclose, path);
    switch (H5Iget_type(o)) {
      case H5I_GROUP:
        return group(o, path, depth + 1);
      case H5I_DATASET:
        return dataset(o, path);
      default:
        return;
    }
  }

  void attributes(hid_t g, const std::string& path, hsize_t count) {
    for (hsize_t i = 0; i < count; ++i) {
      const Handle a(H5Aopen_by_idx(g, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path);
      char name[256] = {};
      if (H5Aget_name(a, sizeof name, name) < 0) damaged(path);
      const std::string what = path + "@" + name;
      const Handle type(H5Aget_type(a), H5Tclose, what), space(H5Aget_space(a), H5Sclose, what);
      const std::size_t n = elements_of(dims_of(space, what));
      const bool text = H5Tget_class(type) == H5T_STRING;
      if (!text && n != 0) continue;  // numpy's empty list is one of floats
      const std::vector<std::string> all = n == 0                         ? std::vector<std::string>{}
                                           : H5Tis_variable_str(type) > 0 ? variable_strings(a, type, n, what)
                                                                          : fixed_strings(a, type, n, what);
      out_.kind(Hdf5Record::attribute);
      out_.text(path);
      out_.text(name);
      out_.number(all.size());
      for (const std::string& s : all) {
        texts_ += s.size() + sizeof(std::uint64_t);
        if (texts_ > 4 * kMostText) damaged("its attributes are too large");
        out_.text(s);
      }
    }
  }

  void unusable(const std::string& path, const std::string& why) {
    out_.kind(Hdf5Record::unusable);
    out_.text(path);
    out_.text(why);
  }

  void head(Hdf5Record kind, const std::string& path, const std::vector<std::int64_t>& dims) {
    out_.kind(kind);
    out_.text(path);
    out_.number(dims.size());
    for (const std::int64_t d : dims) out_.number(static_cast<std::uint64_t>(d));
  }

  void dataset(hid_t d, const std::string& path) {
    static_assert(std::endian::native == std::endian::little);
    const Handle type(H5Dget_type(d), H5Tclose, path), space(H5Dget_space(d), H5Sclose, path);
    const Handle create(H5Dget_create_plist(d), H5Pclose, path);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) return unusable(path, "it holds no numbers");
    if (H5Pget_external_count(create) != 0) return unusable(path, "it lies in another file");
    const std::vector<std::int64_t> dims = dims_of(space, path);
    const std::size_t size = elements_of(dims) * sizeof(float);
    if (H5Pget_layout(create) == H5D_CONTIGUOUS && size > 0 && H5Tequal(type, H5T_IEEE_F32LE) > 0) {
      const haddr_t at = H5Dget_offset(d);
      if (at != HADDR_UNDEF) {
        head(Hdf5Record::placed, path, dims);
        out_.number(at);
        return;
      }
    }
    // Never written, or packed: zeros of any size would come out of a few bytes.
    if (size > kMostRead + kMostPacked * bytes_.size() - read_) return unusable(path, "the file says too much of it");
    read_ += size;
    std::vector<std::byte> elements(size);
    if (size > 0 && H5Dread(d, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()) < 0)
      return unusable(path, "it is damaged");
    head(Hdf5Record::read, path, dims);
    out_.put(elements.data(), elements.size());
  }

  std::span<const std::byte> bytes_;
  Records& out_;
  std::set<haddr_t> visited_;
  std::size_t objects_ = 0, read_ = 0, texts_ = 0;
};

}  // namespace

void walk_hdf5(std::span<const std::byte> bytes, int out) noexcept {
  try {
    Records records(out);
    try {
      Walk(bytes, records).file();
    } catch (const std::exception& e) {
      records.kind(Hdf5Record::failed);
      records.text(e.what());
    }
    records.flush();
  } catch (...) {  // nobody reads: there is no one to tell
  }
}

}  // namespace gantry::keras
