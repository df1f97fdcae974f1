// Relative position bias, of T5 and gated.
#include <cmath>

#include "sizes.hpp"

namespace transformer {
namespace {

Value length(const Emit& emit, const Value& v) {
  const Value scalar = v.rank() == 0 ? v : emit.reshape(v, {});
  return emit.cast(scalar, DType::int32);
}
Value counted(const Emit& emit, const Value& v) {
  return v.constant() ? counting(emit, v.scalar<std::int64_t>()) : counting(emit, length(emit, v));
}

}  // namespace

/// bias_table, query_length, key_length: the table's number of a head for the bucket of (key - query). Small distances
/// have a bucket each, larger ones share them by their logarithm. The table's memory is [heads, buckets], whatever its
/// shape says (the reference calls it column-major).
GANTRY_UPGRADE(kMicrosoft, "RelativePositionBias", since(1)) {
  const Value table = widened(emit, node.in(0));
  const std::int64_t all = table.dim(0), heads = table.dim(1);
  decline_if(all < 2 || heads < 1, "a table of shape ", text(table.dims()));
  const bool both = node.attr("is_bidirectional", 0) != 0;
  const std::int64_t buckets = both ? all / 2 : all, exact = buckets / 2;
  const auto farthest = node.attr<std::int64_t>("max_distance");
  decline_if(exact < 1 || farthest <= exact, "max_distance = ", farthest, " with ", all, " buckets");
  const auto number = [&](std::int64_t n) { return emit.scalar(DType::int32, static_cast<double>(n)); };

  const Value keys = counted(emit, node.in(2)), queries = unsqueeze(emit, counted(emit, node.in(1)), {1});
  const Value relative = emit.sub(keys, queries);  // [queries, keys]
  const Value distance = both ? emit.op("Abs", {relative}) : emit.maximum(emit.sub(queries, keys), 0);
  const double factor =
      static_cast<double>(buckets - exact) / std::log(static_cast<double>(farthest) / static_cast<double>(exact));
  const Value ratio = emit.div(emit.cast(emit.maximum(distance, 1), DType::float32), static_cast<double>(exact));
  const Value large =
      emit.add(emit.cast(emit.mul(emit.op("Log", {ratio}), factor), DType::int32), static_cast<double>(exact));
  Value bucket = emit.op(
      "Where", {emit.op("Less", {distance, number(exact)}), distance, emit.op("Min", {large, number(buckets - 1)})});
  if (both)
    bucket = emit.add(bucket, emit.mul(emit.cast(emit.op("Greater", {relative, number(0)}), DType::int32),
                                       static_cast<double>(buckets)));
  const Value y = emit.op("Gather", {emit.reshape(table, {heads, all}), bucket}, {{"axis", 1}});
  return emit.cast(unsqueeze(emit, y, {0}), node.in(0).dtype());
}

/// u, r = sigmoid of the sums of both halves of (query + bias) W + b;  (u (r a - 1) + 2) * rel_pos
GANTRY_UPGRADE(kMicrosoft, "GatedRelativePositionBias", since(1)) {
  decline_if(bool(node.in(6)), "token_offset: tokens without padding");
  const auto heads = node.attr<std::int64_t>("num_heads");
  const Value query = emit.add(widened(emit, node.in(0)), widened(emit, node.in(1)));
  decline_if(query.rank() != 3 || query.dim(2) < 1 || heads < 1, "query_layer of shape ", text(query.dims()), " for ",
             heads, " heads");
  const Value q = emit.transpose(reshape(emit, query, {0, 0, heads, query.dim(2) / heads}), {0, 2, 1, 3});
  const Value both = emit.add(emit.op("MatMul", {q, widened(emit, node.in(3))}), widened(emit, node.in(4)));
  const std::int64_t width = both.dim(3);
  decline_if(width < 2 || width % 2, "a gate of width ", width);
  const auto gate = [&](std::int64_t first) {
    const Value half = slice(emit, both, 3, first, first + width / 2);
    return emit.op("Sigmoid", {emit.op("ReduceSum", {half, emit.i64({3})}, {{"keepdims", 1}})});
  };
  const Value u = gate(0), r = gate(width / 2);
  const Value factor = emit.add(emit.mul(u, emit.sub(emit.mul(r, widened(emit, node.in(5))), 1)), 2);
  return emit.cast(emit.mul(factor, widened(emit, node.in(2))), node.in(0).dtype());
}

}  // namespace transformer
