// Any bytes: a graph or an error. A graph must be sound and printable.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "host/formats/tflite/reader_bytes.hpp"
#include "host/ir/text.hpp"
#include "host/ir/verifier.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  auto owner = std::make_shared<std::vector<std::byte>>(bytes, bytes + size);
  const auto g = gantry::tflite_format::read_bytes(*owner, owner);
  if (!g.ok()) return 0;
  if (!gantry::verify(*g).ok()) std::abort();
  gantry::print(*g);
  return 0;
}
