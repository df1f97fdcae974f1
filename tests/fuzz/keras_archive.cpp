// A .keras file: the members of a zip archive.
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "plugins/keras/zip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const gantry::keras::Zip zip(std::span(reinterpret_cast<const std::byte*>(data), size));
    for (const char* name : {"config.json", "metadata.json", "model.weights.h5"}) {
      std::vector<std::byte> owned;
      if (!zip.contains(name)) continue;
      unsigned sum = 0;
      for (const std::byte b : zip.read(name, std::size_t{1} << 24, owned)) sum += std::to_integer<unsigned>(b);
      static volatile unsigned kept;
      kept = sum;
    }
  } catch (const std::runtime_error&) {  // what a reader may throw
  }
  return 0;
}
