// Scaled dot-product attention in parts, in float32: heads, masks, scores, result.
#pragma once

#include "sizes.hpp"

namespace transformer {

/// [batch, sequence, heads * size] -> [batch, heads, sequence, size]; declines if the size is not known.
Value split_heads(const Emit& emit, const Value& x, std::int64_t heads);
/// Its inverse.
Value join_heads(const Emit& emit, const Value& x);

/// y = softmax(cap(scale * q k^T) + terms) v. All of q, k, v are [batch, heads, sequence, size]; k and v may have fewer
/// heads, each for a group of query heads that stand together.
struct Attention {
  Value q, k, v;
  float scale = 0;           // 0: 1 / sqrt(size)
  float softcap = 0;         // cap * tanh(x / cap); 0: none
  std::vector<Value> terms;  // each broadcasts to [batch, heads, queries, keys]
  Value sink;                // [heads or 1], one more score of each row, which has no value
};
struct Attended {
  Value y, biased, probabilities;  // the last two are [batch, heads, queries, keys]
};
Attended attend(const Emit& emit, const Attention& a);

/// Where `seen` is false, `filter` is added.
Value masked_by(const Emit& emit, const Value& seen, float filter);
/// The lesser of two terms, of which each may be absent: what one hides is hidden, and hidden no more than once.
Value both(const Emit& emit, const Value& a, const Value& b);
/// What is added so that query i sees keys up to i + offset only, and the last query all (ONNX Runtime's masks leave
/// its row out). Sizes are those of axis 2 of q and k; the offset is an int32 scalar, or a number.
Value causal_term(const Emit& emit, const Value& q, const Value& k, const Operand& offset);
/// The padding masks of com.microsoft as a term: [batch] ends, [2 * batch] ends and starts, [3 * batch + 2] ends and
/// more, [batch, keys], [batch, queries, keys], or [batch, 1, rows, columns] from which row `offset` on is taken.
Value padding_term(const Emit& emit, const Value& mask, const Value& q, const Value& k, const Operand& offset,
                   float filter);

/// The cache and what is new, along the sequence; the cache may be absent.
Value with_past(const Emit& emit, const Value& past, const Value& fresh);
/// What is new written over the rows of a cache from `offset` on, int32 scalar or (one new row) [batch, 1, 1, 1]; the
/// rows are counted in int32 [rows].
Value written_into(const Emit& emit, const Value& past, const Value& fresh, const Value& offset, const Value& rows);

}  // namespace transformer
