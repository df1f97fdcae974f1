// An HDF5 file. The library works in a process of its own, so a run takes milliseconds, and what it crashes on is an
// error like others.
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "plugins/keras/hdf5_file.hpp"
#include "plugins/keras/weights.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const gantry::keras::Hdf5File file(std::span(reinterpret_cast<const std::byte*>(data), size));
    (void)file.text("/", "model_config");
    const gantry::keras::Weights weights(file);
    for (const char* layer : {"a", "b", "dense"})
      if (const auto path = weights.find(weights.layer(weights.root(), layer, layer), {{"kernel"}})) {
        unsigned sum = 0;
        for (const std::byte b : file.read(*path).bytes) sum += std::to_integer<unsigned>(b);
        static volatile unsigned kept;
        kept = sum;
      }
  } catch (const std::runtime_error&) {  // what a reader may throw
  }
  return 0;
}
