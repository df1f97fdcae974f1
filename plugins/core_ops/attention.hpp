// Scaled dot-product attention in parts, float32 throughout: heads, scores, bias, probabilities, result. K and V have
// kv heads; query head h reads kv head h / (q heads / kv heads), so the query heads of one group are rows of one
// matrix.
#pragma once

#include "extent.hpp"
#include "floats.hpp"

namespace core_ops {

/// [batch, sequence, heads * size] -> [batch, heads, sequence, size].
inline Value split_heads(const Emit& emit, const Value& x, std::int64_t heads) {
  decline_if(x.rank() != 3, "heads are split off rank 3, this is ", x.rank());
  const std::int64_t hidden = x.dim(2);
  decline_if(heads < 1 || hidden < 0 || hidden % heads, "a hidden size of ", hidden, " has no ", heads, " heads");
  return emit.transpose(reshape_to(emit, x, {extent_of(emit, x, 0), extent_of(emit, x, 1), heads, hidden / heads}),
                        {0, 2, 1, 3});
}
/// Its inverse.
inline Value join_heads(const Emit& emit, const Value& x) {
  const Value y = emit.transpose(x, {0, 2, 1, 3});
  return reshape_to(emit, y, {extent_of(emit, y, 0), extent_of(emit, y, 1), y.dim(2) * y.dim(3)});
}

/// a [b, q heads, m, k] times b [b, kv heads, k, n] (or transposed), each kv head for its group of query heads.
inline Value grouped_matmul(const Emit& emit, const Value& a, const Value& b, bool adj_y) {
  const std::int64_t q_heads = a.dim(1), kv_heads = b.dim(1);
  if (q_heads == kv_heads) return batch_matmul(emit, a, b, false, adj_y);
  decline_if(q_heads < 0 || kv_heads < 1 || q_heads % kv_heads, q_heads, " query heads for ", kv_heads, " kv heads");
  const Extent batch = extent_of(emit, a, 0), m = extent_of(emit, a, 2), k = extent_of(emit, a, 3);
  const Value rows = reshape_to(emit, a, {batch, kv_heads, product(emit, {q_heads / kv_heads, m}), k});
  const Value y = batch_matmul(emit, rows, b, false, adj_y);
  return reshape_to(emit, y, {batch, q_heads, m, extent_of(emit, y, 3)});
}

/// cap * tanh(x / cap); 0 is no cap.
inline Value soft_cap(const Emit& emit, const Value& x, float cap) {
  return cap == 0 ? x : emit.mul(emit.op("TANH", {emit.mul(x, 1.0 / static_cast<double>(cap))}), cap);
}

/// Softmax over the last axis of scores that may be -inf; with `guarded` a row of nothing else gives zeros, not NaN.
inline Value masked_softmax(const Emit& emit, const Value& scores, bool guarded) {
  constexpr double lowest = std::numeric_limits<float>::lowest();
  const Attributes beta{{"beta", 1.0f}};
  if (!guarded) return emit.op("SOFTMAX", {scores}, beta);
  const Value finite = emit.maximum(scores, lowest);
  const Value top = reduce_axes(emit, "REDUCE_MAX", finite, {scores.rank() - 1}, true);
  const Value any = emit.cast(emit.op("GREATER", {top, emit.scalar(DType::float32, lowest)}), DType::float32);
  return emit.mul(emit.op("SOFTMAX", {finite}, beta), any);
}

/// A boolean mask (true: takes part) as what is added to scores: 0 or -inf.
inline Value additive_mask(const Emit& emit, const Value& mask) {
  return emit.op("SELECT_V2", {mask, emit.scalar(DType::float32, 0),
                               emit.scalar(DType::float32, -std::numeric_limits<double>::infinity())});
}

/// 0, 1, ... along an axis of `v` as int32: a constant where the size is known, RANGE otherwise.
inline Value positions_along(const Emit& emit, const Value& v, int axis) {
  return counting(emit, extent_of(emit, v, axis));
}

/// Which keys a query sees, by position alone: key <= query + offset where causal, and a window around it.
struct Frontier {
  bool causal = false;
  std::int64_t left = -1, right = -1;  // -1: unbounded
  bool any() const { return causal || left >= 0 || right >= 0; }
};

}  // namespace core_ops
