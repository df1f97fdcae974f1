// Manifests of any bytes: an error with its place, or a manifest that is written and read again as the same. What the
// scanner takes must be TOML for toml++ too.
#include "host/plugins/manifest.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "host/plugins/toml_tape.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  const std::string text(reinterpret_cast<const char*>(data), size);
  plugins::TomlTape tape;
  if (plugins::scan_toml(text, tape) && !plugins::parse_toml(text).ok()) std::abort();
  const auto manifest = plugins::manifest_from_text(text, "m");
  if (!manifest.ok()) {
    if (manifest.error().place.empty() || manifest.error().message.empty()) std::abort();
    return 0;
  }
  const std::string written = write_manifest(*manifest);
  const auto back = plugins::manifest_from_text(written, "m");
  if (!back.ok() || write_manifest(*back) != written) std::abort();
  return 0;
}
