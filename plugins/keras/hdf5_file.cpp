#include "hdf5_file.hpp"

#include <algorithm>
#include <bit>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdexcept>
#include <utility>

namespace gantry::keras {
namespace {

constexpr std::size_t kMostText = std::size_t{256} << 20;  // bytes of all strings of an attribute
constexpr std::int64_t kMostElements = std::int64_t{1} << 34;

/// An identifier that is closed.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  hid_t get(const std::string& what) const {
    if (id_ < 0) throw std::runtime_error("the HDF5 file is damaged: " + what);
    return id_;
  }

 private:
  hid_t id_;
  Close close_;
};

/// Nothing of the library is printed while it lives.
class Silence {
 public:
  Silence() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

std::vector<std::int64_t> dims_of(hid_t space, const std::string& what) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > 32) throw std::runtime_error("the HDF5 file is damaged: the shape of " + what);
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space, dims.data(), nullptr) < 0)
    throw std::runtime_error("the HDF5 file is damaged: the shape of " + what);
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
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || n > kMostText / size) throw std::runtime_error("the attribute " + what + " is too large");
  std::vector<char> all(n * size);
  if (n > 0 && H5Aread(attribute, type, all.data()) < 0)
    throw std::runtime_error("the attribute " + what + " is damaged");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view one(all.data() + i * size, size);
    out.emplace_back(one.substr(0, one.find('\0')));
  }
  return out;
}

std::vector<std::string> variable_strings(hid_t attribute, hid_t type, hid_t space, std::size_t n,
                                          const std::string& what) {
  if (n > kMostText / sizeof(char*)) throw std::runtime_error("the attribute " + what + " is too large");
  const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(memory.get(what), H5T_VARIABLE);
  H5Tset_cset(memory.get(what), H5Tget_cset(type));
  std::vector<char*> all(n, nullptr);
  if (n > 0 && H5Aread(attribute, memory.get(what), all.data()) < 0)
    throw std::runtime_error("the attribute " + what + " is damaged");
  std::vector<std::string> out;
  for (const char* s : all) out.emplace_back(s ? s : "");
  if (n > 0) H5Dvlen_reclaim(memory.get(what), space, H5P_DEFAULT, all.data());
  return out;
}

}  // namespace

Hdf5File::Hdf5File(std::span<const std::byte> bytes) : bytes_(bytes) {
  const Silence silence;
  // Opened for reading only, so the library does not write to it.
  void* image = const_cast<std::byte*>(bytes.data());  // NOLINT
  file_ = H5LTopen_file_image(image, bytes.size(), H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE);
  if (file_ < 0) throw std::runtime_error("the HDF5 file is damaged or cut short");
}

Hdf5File::~Hdf5File() {
  const Silence silence;
  if (file_ >= 0) H5Fclose(file_);
}

bool Hdf5File::exists(const std::string& path) const {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (H5Lexists(file_, path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  return path == "/" || H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0;
}

std::int64_t Hdf5File::open_object(const std::string& path, bool dataset) const {
  if (!exists(path)) return -1;
  H5L_info_t link{};  // links to other files are not followed
  if (path != "/" && (H5Lget_info(file_, path.c_str(), &link, H5P_DEFAULT) < 0 || link.type == H5L_TYPE_EXTERNAL))
    return -1;
  const hid_t id = H5Oopen(file_, path.c_str(), H5P_DEFAULT);
  if (id >= 0 && H5Iget_type(id) != (dataset ? H5I_DATASET : H5I_GROUP)) {
    H5Oclose(id);
    return -1;
  }
  return id;
}

bool Hdf5File::has_group(const std::string& path) const {
  const Silence silence;
  const hid_t id = open_object(path, false);
  if (id >= 0) H5Oclose(id);
  return id >= 0;
}

bool Hdf5File::has_dataset(const std::string& path) const {
  const Silence silence;
  const hid_t id = open_object(path, true);
  if (id >= 0) H5Oclose(id);
  return id >= 0;
}

std::vector<std::string> Hdf5File::members(const std::string& path) const {
  const Silence silence;
  const Handle group(open_object(path, false), H5Oclose);
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    auto& all = *static_cast<std::vector<std::string>*>(data);
    if (all.size() > 1'000'000) return -1;
    all.emplace_back(name);
    return 0;
  };
  if (H5Literate(group.get(path), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0)
    throw std::runtime_error("the HDF5 file is damaged: " + path);
  std::ranges::sort(names);
  return names;
}

std::optional<std::vector<std::string>> Hdf5File::strings(const std::string& path, const std::string& name) const {
  const Handle object(open_object(path, false), H5Oclose);
  const std::string what = path + "@" + name;
  if (H5Aexists(object.get(path), name.c_str()) <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(object.get(path), name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.get(what)), H5Tclose);
  const Handle space(H5Aget_space(attribute.get(what)), H5Sclose);
  const std::size_t n = elements_of(dims_of(space.get(what), what));
  if (n == 0) return std::vector<std::string>{};  // numpy's empty list is one of floats
  if (H5Tget_class(type.get(what)) != H5T_STRING) throw std::runtime_error("the attribute " + what + " is no text");
  if (H5Tis_variable_str(type.get(what)) > 0)
    return variable_strings(attribute.get(what), type.get(what), space.get(what), n, what);
  return fixed_strings(attribute.get(what), type.get(what), n, what);
}

std::optional<std::string> Hdf5File::text(const std::string& path, const std::string& attribute) const {
  const Silence silence;
  auto all = strings(path, attribute);
  if (!all || all->size() != 1) return std::nullopt;
  return std::move(all->front());
}

std::optional<std::vector<std::string>> Hdf5File::texts(const std::string& path, const std::string& attribute) const {
  const Silence silence;
  if (auto all = strings(path, attribute)) return all;
  std::optional<std::vector<std::string>> joined;
  for (int i = 0; i < 100'000; ++i) {
    const auto part = strings(path, attribute + std::to_string(i));
    if (!part) break;
    if (!joined) joined.emplace();
    joined->insert(joined->end(), part->begin(), part->end());
  }
  return joined;
}

Dataset Hdf5File::read(const std::string& path) const {
  static_assert(std::endian::native == std::endian::little);
  const Silence silence;
  const Handle dataset(open_object(path, true), H5Oclose);
  const Handle type(H5Dget_type(dataset.get(path)), H5Tclose);
  const Handle space(H5Dget_space(dataset.get(path)), H5Sclose);
  const Handle create(H5Dget_create_plist(dataset.get(path)), H5Pclose);
  const H5T_class_t kind = H5Tget_class(type.get(path));
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) throw std::runtime_error("the weight " + path + " has no numbers");
  Dataset out;
  out.dims = dims_of(space.get(path), path);
  const std::size_t size = elements_of(out.dims) * sizeof(float);
  const bool plain = H5Pget_layout(create.get(path)) == H5D_CONTIGUOUS && H5Pget_external_count(create.get(path)) == 0;
  if (H5Pget_external_count(create.get(path)) > 0)
    throw std::runtime_error("the weight " + path + " lies in another file");
  if (plain && size > 0 && H5Tequal(type.get(path), H5T_IEEE_F32LE) > 0) {
    const haddr_t at = H5Dget_offset(dataset.get(path));
    if (at != HADDR_UNDEF) {
      if (at > bytes_.size() || size > bytes_.size() - at)
        throw std::runtime_error("the weight " + path + " lies beyond the end of the file");
      out.bytes = bytes_.subspan(static_cast<std::size_t>(at), size);
      return out;
    }
  }
  // Never written: zeros of any size would come out of a few bytes. Compressed: at most what deflate can do.
  if (size > kMostText && size / 1032 > bytes_.size())
    throw std::runtime_error("the weight " + path + " says it is larger than the file can hold");
  out.owned.resize(size);
  if (size > 0 && H5Dread(dataset.get(path), H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.owned.data()) < 0)
    throw std::runtime_error("the weight " + path + " is damaged");
  out.bytes = out.owned;
  return out;
}

}  // namespace gantry::keras
