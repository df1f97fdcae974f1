// A quantizer, as JSON or as an expression.
#include "plugins/quant/quantizer.hpp"

#include <cstdint>
#include <string_view>

#include <gantry/sdk.hpp>

using namespace gantry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto q = quant::parse_quantizer({reinterpret_cast<const char*>(data), size});
    if (!q) return 0;
    (void)quant::is_qkeras(*q);
    (void)q->alpha().one();
    for (const char* key : {"bits", "integer", "symmetric"}) (void)q->number(key, 0);
  } catch (const sdk::Declined&) {  // what it may throw
  }
  return 0;
}
