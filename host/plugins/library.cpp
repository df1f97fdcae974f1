#include "host/plugins/library.hpp"

#include <dlfcn.h>
#include <exception>
#include <string>

#include <boost/dll/shared_library.hpp>

#include "host/plugins/elf.hpp"

namespace gantry::plugins {
namespace {

constexpr const char* kEntry = "gantry_plugin_entry";

// All symbols bound at once, none visible to others, and the library kept when the handle is closed: what a plugin gave
// out (its descriptor, its functions) is valid until the process ends.
const auto kMode = static_cast<boost::dll::load_mode::type>(RTLD_NODELETE) | boost::dll::load_mode::rtld_now |
                   boost::dll::load_mode::rtld_local;

// What the dynamic loader said last; Boost's error code only says that it failed.
std::string loader_text(const std::string& otherwise) {
  const char* text = dlerror();
  return text ? text : otherwise;
}

}  // namespace

Result<const gantry_plugin*> open_library(const std::filesystem::path& file) try {
  GANTRY_TRY(check_shared_library(file, kEntry));
  boost::dll::fs::error_code problem;
  boost::dll::shared_library library(std::filesystem::absolute(file).string(), problem, kMode);
  if (problem || !library.is_loaded()) {
    return error(Code::plugin_load, "the library cannot be opened: " + loader_text(problem.message()))
        .at(file.string());
  }
  if (!library.has(kEntry)) {
    return error(Code::plugin_load, "the library does not export gantry_plugin_entry, so it is no plugin of Gantry")
        .at(file.string());
  }
  return library.get<const gantry_plugin*()>(kEntry)();
} catch (const std::exception& e) {
  return error(Code::plugin_load, std::string("the library cannot be opened: ") + e.what()).at(file.string());
}

}  // namespace gantry::plugins
