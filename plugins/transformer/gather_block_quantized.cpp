// GatherBlockQuantized: rows of a table that is quantized by blocks. The rows are gathered as they are, packed, and
// dequantized after.
#include "blocks.hpp"

namespace transformer {
namespace {

/// A parameter of each block of the gathered rows [..., blocks] for each number, [..., blocks * size].
Value for_each_number(const Emit& emit, const Value& v, std::int64_t blocks, std::int64_t size) {
  const int rank = v.rank();
  Dims one(static_cast<std::size_t>(rank + 1), 1), dims(static_cast<std::size_t>(rank), 0);
  one.back() = size;
  dims.back() = blocks * size;
  return reshape(emit, emit.op("Expand", {unsqueeze(emit, v, {rank}), emit.i64(one)}), dims);
}

}  // namespace

/// data, indices, scales, zero_points
GANTRY_UPGRADE(kMicrosoft, "GatherBlockQuantized", since(1)) {
  const Value data = node.in(0), indices = node.in(1), scales = node.in(2), zeros = node.in(3);
  const int rank = data.rank();
  const bool packed = data.dtype() == DType::uint8;
  decline_if(!packed && data.dtype() != DType::int4 && data.dtype() != DType::uint4, "data of type ",
             name_of(data.dtype()));
  const std::int64_t bits = packed ? node.attr<std::int64_t>("bits", 4) : 4,
                     size = node.attr<std::int64_t>("block_size", 128);
  decline_if(bits != 2 && bits != 4 && bits != 8, "numbers of ", bits, " bits");
  decline_if(normalize_axis(node.attr<std::int64_t>("gather_axis", 0), rank) != 0, "gather_axis is not 0");
  decline_if(rank < 2 || normalize_axis(node.attr<std::int64_t>("quantize_axis", 1), rank) != rank - 1,
             "quantize_axis is not the last");
  decline_if(data.dim(-1) < 1 || scales.dim(-1) < 1 || size < 1, "sizes of ", text(data.dims()), " are not known");
  const std::int64_t width = packed ? data.dim(-1) * 8 / bits : data.dim(-1), blocks = scales.dim(-1);
  decline_if(blocks != (width + size - 1) / size, blocks, " blocks of ", size, " for ", width, " numbers");

  const auto rows = [&](const Value& table) { return emit.op("Gather", {table, indices}, {{"axis", 0}}); };
  // 4-bit types have no kernel that gathers: they become bytes.
  const DType byte = data.dtype() == DType::int4 ? DType::int8 : DType::uint8;
  const auto numbers = [&](const Value& table, std::int64_t count) {
    if (packed) return unpacked(emit, rows(table), bits, count);
    return emit.cast(rows(emit.cast(table, byte)), DType::int32);
  };
  const auto each = [&](const Value& v) {
    const Value all = for_each_number(emit, v, blocks, size);
    return blocks * size == width ? all : slice(emit, all, all.rank() - 1, 0, width);
  };
  Value q = numbers(data, width);
  if (zeros)
    q = emit.sub(q, each(numbers(zeros, blocks)));
  else if (packed)
    q = emit.sub(q, static_cast<double>(1 << (bits - 1)));
  const Value y = emit.mul(emit.cast(q, DType::float32), each(emit.cast(rows(scales), DType::float32)));
  return emit.cast(y, scales.dtype());
}

}  // namespace transformer
