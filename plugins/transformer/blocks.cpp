#include "blocks.hpp"

namespace transformer {
namespace {

/// One for each block.
std::vector<float> zero_points(const Blocks& b) {
  const std::int64_t blocks = b.rows * b.count();
  if (!b.zeros) return std::vector<float>(static_cast<std::size_t>(blocks), static_cast<float>(1 << (b.bits - 1)));
  if (b.zeros.dtype() != DType::uint8) return b.zeros.read<float>();
  const std::vector<std::uint8_t> z = unpacked(b.zeros.read<std::uint8_t>(), b.bits, b.rows, b.count());
  return {z.begin(), z.end()};
}

/// [rows * blocks, size] of numbers of 8 bits.
Value numbers(const Emit& emit, const Blocks& b) {
  const Dims dims{b.rows * b.count(), b.size};
  if (b.bits == 8) return emit.reshape(b.data, dims);
  return emit.constant(dims, unpacked(b.data.read<std::uint8_t>(), b.bits, dims[0], b.size));
}

}  // namespace

std::vector<std::uint8_t> unpacked(const std::vector<std::uint8_t>& bytes, std::int64_t bits, std::int64_t rows,
                                   std::int64_t count) {
  const std::int64_t width = (count * bits + 7) / 8;
  decline_if(static_cast<std::int64_t>(bytes.size()) != rows * width, bytes.size(), " bytes are not ", rows,
             " rows of ", count, " numbers");
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(rows * count));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint8_t byte = bytes[static_cast<std::size_t>(r * width + i * bits / 8)];
      out.push_back(static_cast<std::uint8_t>((byte >> (i * bits % 8)) & ((1 << bits) - 1)));
    }
  return out;
}

Value unpacked(const Emit& emit, const Value& bytes, std::int64_t bits, std::int64_t count) {
  const Value whole = emit.cast(bytes, DType::int32);
  const std::int64_t width = bytes.dim(-1) * 8 / bits;
  const int rank = bytes.rank();
  Value all = whole;
  if (bits < 8) {
    std::vector<Value> parts;
    for (std::int64_t i = 0; i < 8 / bits; ++i) {
      const Value shifted = i == 0 ? whole : emit.div(whole, static_cast<double>(1 << (bits * i)));
      const Value part = emit.op("Mod", {shifted, emit.scalar(DType::int32, 1 << bits)});
      parts.push_back(unsqueeze(emit, part, {rank}));
    }
    Dims dims(static_cast<std::size_t>(rank), 0);
    dims.back() = width;
    all = reshape(emit, concat(emit, parts, rank), dims);
  }
  return width == count ? all : slice(emit, all, rank - 1, 0, count);
}

void check_blocks(const Blocks& b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31, kMostInBlock = 1 << 24;
  decline_if(b.bits != 2 && b.bits != 4 && b.bits != 8, "numbers of ", b.bits, " bits");
  decline_if(b.rows < 1 || b.columns < 1 || b.size < 1 || b.rows > kMost || b.columns > kMost || b.size > kMostInBlock,
             "N, K, block_size = ", b.rows, ", ", b.columns, ", ", b.size);
  const std::int64_t blocks = b.rows * b.count();
  decline_if(b.scales.elements() != blocks, b.scales.elements(), " scales for ", blocks, " blocks");
  const std::int64_t bytes = blocks * (b.size * b.bits / 8);
  decline_if(b.data.elements() != bytes, b.data.elements(), " bytes of weights, not ", bytes);
}

Value dequantized(const Emit& emit, const Blocks& b) {
  check_blocks(b);
  decline_if(!b.data.constant() || !b.scales.constant() || (b.zeros && !b.zeros.constant()),
             "quantized weights that are no constants");
  std::vector<float> shift = zero_points(b);
  const std::vector<float> scale = b.scales.read<float>();
  decline_if(shift.size() != scale.size() || static_cast<std::int64_t>(scale.size()) != b.rows * b.count(),
             scale.size(), " scales and ", shift.size(), " zero points for ", b.rows * b.count(), " blocks");
  for (float& z : shift) z = -z;
  const Value floats = emit.cast_constant(numbers(emit, b), DType::float32);
  const Value real = emit.scale_constant(emit.shift_constant(floats, 0, shift), 0, scale);
  const Value all = emit.reshape(real, {b.rows, b.count() * b.size});
  return b.count() * b.size == b.columns ? all : emit.slice_constant(all, {0, 0}, {1, 1}, {b.rows, b.columns});
}

}  // namespace transformer
