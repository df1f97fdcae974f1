// Ties are broken by a throw that is the same every time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gantry::layout {

/// 0 to 15 for a form of a value, the same for the same seed; 0 for seed 0.
inline int dice(std::uint64_t seed, std::size_t value, std::size_t form) {
  if (seed == 0) return 0;
  std::uint64_t h = seed * 0x9E3779B97F4A7C15u ^ (value + 1) * 0xBF58476D1CE4E5B9u ^ (form + 1) * 0x94D049BB133111EBu;
  h = (h ^ h >> 31) * 0xD6E8FEB86659FD93u;
  return static_cast<int>(h >> 60);
}

}  // namespace gantry::layout
