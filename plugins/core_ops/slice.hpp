// Cutting pieces out of values.
#pragma once

#include "runtime.hpp"

namespace core_ops {

/// One axis of a cut, in range: `size` elements from `start`, `step` apart; size -1 is the rest.
struct Cut {
  std::int64_t start = 0, step = 1, size = 0;
};
/// A step-1 cut is SLICE; STRIDED_SLICE otherwise, where an end before the first element needs the mask.
Value cut(const Emit& emit, const Value& x, const std::vector<Cut>& cuts);

}  // namespace core_ops
