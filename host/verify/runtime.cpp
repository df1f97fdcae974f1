#include "host/verify/runtime.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

#include "host/verify/library.hpp"

namespace gantry {

namespace fs = std::filesystem;

namespace {

const char* library_name(RuntimeKind kind) {
  return kind == RuntimeKind::onnxruntime ? "libonnxruntime.so" : "libLiteRt.so";
}

/// The library in `folder`: by its plain name, or else with a version behind it, as the wheel of ONNX Runtime has it.
fs::path library_in(const fs::path& folder, RuntimeKind kind) {
  const std::string name = library_name(kind);
  std::error_code ec;
  if (fs::is_regular_file(folder / name, ec)) return folder / name;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().filename().string().starts_with(name + ".") && it->path().extension() != ".version") {
      found.push_back(it->path());
    }
  }
  return found.empty() ? fs::path() : *std::max_element(found.begin(), found.end());
}

std::string hint(RuntimeKind kind) {
  const bool ort = kind == RuntimeKind::onnxruntime;
  return std::string("set GANTRY_RUNTIMES to a folder that holds ") + library_name(kind) + ", or the option " +
         (ort ? "verify.onnxruntime" : "verify.litert") + " to its path; it comes with the Python package " +
         (ort ? "onnxruntime" : "ai-edge-litert");
}

}  // namespace

std::string_view runtime_title(RuntimeKind kind) {
  return kind == RuntimeKind::onnxruntime ? "ONNX Runtime" : "LiteRT";
}

Result<fs::path> find_runtime(RuntimeKind kind, const fs::path& override_path) {
  std::error_code ec;
  const auto not_found = [&](const std::string& where) {
    return error(Code::verify_no_runtime, std::string(runtime_title(kind)) + " was not found: " + where)
        .try_this(hint(kind));
  };
  if (!override_path.empty()) {
    if (fs::is_regular_file(override_path, ec)) return override_path;
    if (auto path = library_in(override_path, kind); !path.empty()) return path;
    return not_found("'" + override_path.string() + "' is not its library, nor a folder that holds it");
  }
  std::string looked;
  const auto look = [&](const fs::path& folder) {
    looked += (looked.empty() ? "no " + std::string(library_name(kind)) + " in " : " or ") + folder.string();
    return library_in(folder, kind);
  };
  if (const char* folder = std::getenv("GANTRY_RUNTIMES"); folder && *folder) {
    if (auto path = look(folder); !path.empty()) return path;
  }
  const fs::path executable = fs::read_symlink("/proc/self/exe", ec);
  const fs::path folder = executable.parent_path().parent_path() / "lib" / "gantry" / "runtimes";
  if (auto path = look(folder); !path.empty()) return path;
  return not_found(looked);
}

Result<std::unique_ptr<Runtime>> Runtime::open(RuntimeKind kind, const fs::path& library,
                                               const RuntimeOptions& options) {
  return kind == RuntimeKind::onnxruntime ? open_onnxruntime(library, options) : open_litert(library, options);
}

Result<Library> Library::open(const fs::path& path) {
  Library library;
  library.path_ = path;
  library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_) return library;
  const char* reason = dlerror();
  return error(Code::verify_runtime, std::string("the library cannot be opened: ") + (reason ? reason : "unknown"))
      .at(path.string());
}

void* Library::find(const char* symbol) const { return dlsym(handle_, symbol); }

Diagnostic Library::missing(const char* symbol) const {
  return error(Code::verify_runtime, std::string("the library has no function ") + symbol).at(path_.string());
}

Status check_feeds(const std::vector<Port>& inputs, const std::map<std::string, Tensor>& feeds) {
  for (const Port& port : inputs) {
    const auto found = feeds.find(port.name);
    if (found == feeds.end()) return error(Code::verify_runtime, "nothing is given for the input '" + port.name + "'");
    const Tensor& feed = found->second;
    bool fits = feed.dtype == port.type.dtype;
    if (port.type.ranked) {
      fits = fits && feed.dims.size() == port.type.rank();
      for (std::size_t i = 0; fits && i < feed.dims.size(); ++i) {
        fits = !port.type.dims[i].known() || port.type.dims[i].size == feed.dims[i];
      }
    }
    if (!fits) {
      return error(Code::verify_runtime, "the input '" + port.name + "' is " + port.type.str() + ", but " +
                                             feed.type_text() + " is given for it");
    }
    const auto elements = element_count(feed.dims);
    const auto bytes = elements ? packed_bytes(feed.dtype, static_cast<std::uint64_t>(*elements)) : std::nullopt;
    if (!bytes || *bytes != feed.bytes.size()) {
      return error(Code::verify_runtime, "what is given for the input '" + port.name + "' has " +
                                             std::to_string(feed.bytes.size()) + " bytes, not those of a " +
                                             feed.type_text());
    }
  }
  return {};
}

}  // namespace gantry
