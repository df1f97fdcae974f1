// .npy and .npz files of any bytes: an error or a tensor of as many bytes as it says, never more than the file accounts
// for.
#include "host/verify/npy.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  const auto file = std::as_bytes(std::span(data, size));
  const auto check = [](const Tensor& t) {
    const auto elements = element_count(t.dims);
    if (!elements || packed_bytes(t.dtype, static_cast<std::uint64_t>(*elements)) != t.bytes.size()) std::abort();
    const auto again = to_npy(t);
    if (!again.ok()) std::abort();
    const auto back = parse_npy(*again, "");
    if (!back.ok() || !(*back == t)) std::abort();
  };
  if (const auto tensor = parse_npy(file, ""); tensor.ok()) check(*tensor);
  if (const auto tensors = parse_npz(file, ""); tensors.ok()) {
    for (const NamedTensor& t : *tensors) check(t.tensor);
  }
  return 0;
}
