// Rotary position embedding.
#pragma once

#include "sizes.hpp"

namespace transformer {

struct Rotary {
  Value cos, sin;   // [positions, half of the turned numbers of a head]
  Value positions;  // int64 [batch or 1, sequence], or [batch or 1, 1] to which the place in the sequence is added
  bool interleaved = false;
  bool fixed = false;  // the positions follow from constants
};
/// x [batch, sequence, heads * size] or [batch, heads, sequence, size] in float32, of which the first numbers of every
/// head are turned.
Value rotated(const Emit& emit, const Value& x, std::int64_t heads, const Rotary& r);

}  // namespace transformer
