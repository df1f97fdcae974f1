#include "rotary.hpp"

namespace transformer {

Value rotated(const Emit& emit, const Value& x, std::int64_t heads, const Rotary& r) {
  const int sequence = x.rank() == 3 ? 1 : 2;
  decline_if(x.rank() != 3 && x.rank() != 4, "an operand of rank ", x.rank());
  decline_if(x.rank() == 3 && heads < 1, "num_heads = ", heads);
  const std::int64_t size = x.rank() == 4 ? x.dim(3) : x.dim(2) / heads, half = r.cos.dim(-1);
  decline_if(size < 1 || half < 1, "the head size is not known");
  decline_if(2 * half > size, "caches of ", half, " columns for heads of ", size);
  Value at = r.positions;
  const std::int64_t n = x.dim(sequence);
  if (at.dim(1) != n || n < 0) {
    const bool one = at.dim(1) == 1;
    decline_if(!one && at.dim(1) >= 0 && n >= 0, "positions of shape ", text(at.dims()), " for a sequence of ", n);
    if (one) at = emit.add(at, emit.cast(positions_along(emit, x, sequence), DType::int64));
  }
  if (at.dim(0) == 1 && x.dim(0) != 1)
    at = emit.op("Expand", {at, concat(emit, {size_of(emit, x, 0), emit.i64({1})}, 0)});
  Attributes attributes{{"interleaved", r.interleaved}};
  if (2 * half < size) attributes.emplace_back("rotary_embedding_dim", 2 * half);
  if (x.rank() == 3) attributes.emplace_back("num_heads", heads);
  if (!r.fixed) return emit.op("RotaryEmbedding", {x, r.cos, r.sin, at}, attributes);
  // The rows are looked up here and now.
  const auto rows = [&](const Value& cache) { return emit.op("Gather", {cache, at}, {{"axis", 0}}); };
  return emit.op("RotaryEmbedding", {x, rows(r.cos), rows(r.sin)}, attributes);
}

/// input, position_ids, cos_cache, sin_cache
GANTRY_UPGRADE(kMicrosoft, "RotaryEmbedding", since(1)) {
  decline_if(node.attr("is_packed_batching", 0) != 0, "is_packed_batching = 1");
  const Value x = widened(emit, node.in(0));
  Rotary r{widened(emit, node.in(2)), widened(emit, node.in(3)), node.in(1), node.attr("interleaved", 0) != 0,
           node.in(1).constant()};
  if (r.positions.rank() == 1) r.positions = unsqueeze(emit, r.positions, {0});
  std::int64_t heads = node.attr<std::int64_t>("num_heads", 0);
  if (x.rank() == 3 && heads == 0) {
    const std::int64_t hidden = x.dim(2), size = 2 * r.cos.dim(-1);
    decline_if(hidden < 1 || size < 1 || hidden % size, "num_heads = 0 for a hidden size of ", hidden);
    heads = hidden / size;
  }
  return emit.cast(rotated(emit, x, heads, r), node.in(0).dtype());
}

/// input, position_ids [3, batch, sequence], cos_cache, sin_cache: columns of the caches are divided among the three
/// streams of positions (time, height, width), one after the other or every third.
GANTRY_UPGRADE(kMicrosoft, "MRotaryEmbedding", since(1)) {
  decline_if(node.attr("is_packed_batching", 0) != 0, "is_packed_batching = 1");
  const Value x = widened(emit, node.in(0));
  const std::int64_t half = node.in(2).dim(-1);
  const auto section = node.attr<Dims>("mrope_section");
  decline_if(section.size() != 3 || half < 1 || section[0] + section[1] + section[2] != half,
             "mrope_section = ", text(section), " of ", half, " columns");
  Dims column;  // of the three caches side by side
  for (std::int64_t c = 0; c < half; ++c) {
    std::int64_t stream = c < section[0] ? 0 : c < section[0] + section[1] ? 1 : 2;
    if (node.attr("mrope_layout", 0) != 0)
      stream = c % 3 == 1 && c < 3 * section[1] ? 1 : c % 3 == 2 && c < 3 * section[2] ? 2 : 0;
    column.push_back(stream * half + c);
  }
  const auto rows = [&](std::size_t i) {
    const Value cache = widened(emit, node.in(i));
    std::vector<Value> streams;
    for (std::int64_t k = 0; k < 3; ++k)
      streams.push_back(emit.op("Gather", {cache, pick(emit, node.in(1), 0, k)}, {{"axis", 0}}));
    return emit.op("Gather", {concat(emit, streams, 2), emit.i64(column)}, {{"axis", 2}});
  };
  Attributes attributes{{"interleaved", node.attr("interleaved", 0)}};
  const std::int64_t heads = node.attr<std::int64_t>("num_heads", 0), hidden = x.dim(-1);
  decline_if(hidden < 1, "the head size is not known");
  const std::int64_t size = x.rank() == 4 ? hidden : heads > 0 ? hidden / heads : 2 * half;
  decline_if(size < 1, "num_heads = ", heads, " for a hidden size of ", hidden);
  if (x.rank() == 3) attributes.emplace_back("num_heads", hidden / size);
  if (2 * half < size) attributes.emplace_back("rotary_embedding_dim", 2 * half);
  return emit.cast(emit.op("RotaryEmbedding", {x, rows(2), rows(3)}, attributes), node.in(0).dtype());
}

}  // namespace transformer
