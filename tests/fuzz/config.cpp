// Configurations of any bytes, as a file and as --set: an error with code, message and place, or values that say where
// they came from; what is shown for the report is TOML that gives the same again.
#include "host/config/config.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include <sys/mman.h>

namespace {

using namespace gantry;

void require(bool condition) {
  if (!condition) std::abort();
}

bool ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void check(const Config& config, const Status& status) {
  if (!status.ok()) {
    require(static_cast<int>(status.error().code) / 100 == 2);
    require(!status.error().message.empty() && !status.error().place.empty());
  }
  Config again;
  for (const auto& [setting, origin] : config.changed()) {
    require(!origin.empty());
    (void)again.merge_setting(setting);  // an identifier of a plugin may hold what --set cannot say
  }
  for (const OptionSpec& spec : host_options()) {
    for (const auto& [setting, origin] : config.changed()) {
      if (!setting.starts_with(spec.key + "=") || !ascii(setting)) continue;  // a path need not be UTF-8, as TOML must
      bool same = false;
      for (const auto& [other, from] : again.changed()) same = same || other == setting;
      require(same);
    }
  }
}

std::string memory_file(const std::uint8_t* data, std::size_t size) {
  static const int fd = memfd_create("config", 0);
  require(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == static_cast<ssize_t>(size));
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Config from_file;
  const Status merged = from_file.merge_file(memory_file(data, size));
  check(from_file, merged);
  Config from_setting;
  const Status set = from_setting.merge_setting({reinterpret_cast<const char*>(data), size});
  check(from_setting, set);
  return 0;
}
