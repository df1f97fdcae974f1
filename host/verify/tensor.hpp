// A tensor at run time: what goes into a runtime and comes out of it, and what .npy files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/ir/type.hpp"

namespace gantry {

/// Packed elements in row-major order, little-endian; bytes.size() is packed_bytes(dtype, product of dims).
struct Tensor {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  std::vector<std::byte> bytes;

  /// Its type as text, e.g. f32[1,3,224,224].
  std::string type_text() const { return Type::of(dtype, dims).str(); }
  bool operator==(const Tensor&) const = default;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;

  bool operator==(const NamedTensor&) const = default;
};

}  // namespace gantry
