// Weights that are quantized by blocks, packed 2, 4 or 8 bits a number, low bits first.
#pragma once

#include "sizes.hpp"

namespace transformer {

/// Numbers of 2, 4 or 8 bits, `count` in each of `rows` rows, of which each begins a byte.
std::vector<std::uint8_t> unpacked(const std::vector<std::uint8_t>& bytes, std::int64_t bits, std::int64_t rows,
                                   std::int64_t count);

/// The same of a uint8 value of the run time, [..., bytes] -> int32 [..., count], in terms of ONNX operators.
Value unpacked(const Emit& emit, const Value& bytes, std::int64_t bits, std::int64_t count);

/// A constant [n, k] of n rows of blocks.
struct Blocks {
  Value data;    // uint8, packed
  Value scales;  // n rows of blocks
  Value zeros;   // the same, packed like the data, or floats; absent: 2^(bits - 1)
  std::int64_t bits, rows, columns, size;
  std::int64_t count() const { return (columns + size - 1) / size; }
};
/// Declines what does not fit together, before anything is made of it.
void check_blocks(const Blocks& b);
/// (number - zero point) * scale as float32 [rows, columns]; 8-bit data is not read.
Value dequantized(const Emit& emit, const Blocks& b);

}  // namespace transformer
