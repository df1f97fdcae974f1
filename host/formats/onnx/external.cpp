#include "host/formats/onnx/external.hpp"

#include <algorithm>

#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {

namespace {

namespace fs = std::filesystem;

Diagnostic refuse(std::string_view what, std::string_view location, std::string_view why) {
  return error(Code::input_external_data, cat(what, " keeps its data in ", quote(location), ", ", why));
}

// Whether `path` (canonical, like `folder`) is below the folder.
bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [at, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return at == folder.end() && rest != path.end();
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> ExternalData::open(const std::string& location, std::string_view what) {
  if (folder_.empty()) {
    return refuse(what, location, "but a model that is not read from a file has no folder for external data");
  }
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos) {
    return refuse(what, location, "which is not the name of a file");
  }
  if (relative.is_absolute()) {
    return refuse(what, location, "an absolute path; external data may lie only in the model's folder");
  }
  const fs::path normal = relative.lexically_normal();
  if (normal.begin() != normal.end() && *normal.begin() == "..") {
    return refuse(what, location, "which is outside of the model's folder");
  }

  std::error_code missing;
  const fs::path folder = fs::canonical(folder_, missing);
  const fs::path target = missing ? fs::path() : fs::canonical(folder / relative, missing);
  if (missing) {
    return refuse(what, location, cat("which cannot be read: ", missing.message()))
        .try_this("put the external data file into the model's folder " + folder_.string());
  }
  if (!is_inside(target, folder)) {
    return refuse(what, location, cat("which leads outside of the model's folder, to ", target.string()))
        .try_this("copy the file into the model's folder instead of linking to it");
  }
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(target);
  if (!file.ok()) return refuse(what, location, cat("which cannot be read: ", file.error().message));
  return file;
}

std::vector<fs::path> ExternalData::files() const {
  std::vector<fs::path> paths;
  for (const auto& [location, file] : files_) paths.push_back(file->path());
  return paths;
}

Result<ExternalBytes> ExternalData::find(const ExternalPlace& place, std::uint64_t size, std::string_view what) {
  if (place.length && *place.length != size) {
    return error(Code::input_malformed, cat(what, " says that it has ", *place.length,
                                            " bytes of external data, but its type and dimensions need ", size));
  }
  auto known = files_.find(place.location);
  if (known == files_.end()) {
    GANTRY_ASSIGN(auto file, open(place.location, what));
    known = files_.emplace(place.location, std::move(file)).first;
  }
  const std::span<const std::byte> all = known->second->bytes();
  if (place.offset > all.size() || size > all.size() - place.offset) {
    return refuse(what, place.location,
                  cat("which is too short: bytes ", place.offset, " to ", place.offset, " + ", size,
                      " are needed, and it has ", all.size()))
        .try_this("fetch the external data file again; it may be truncated");
  }
  return ExternalBytes{known->second, all.subspan(place.offset, size)};
}

}  // namespace gantry::onnx_format
