#include <cmath>

#include "attention.hpp"

namespace transformer {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

/// The dims of `v` before `axis` and those of `w` from there on, as int64.
Value joined_shape(const Emit& emit, const Value& v, const Value& w, int axis) {
  if (v.is_static() && w.is_static()) {
    Dims dims = v.dims();
    const Dims rest = w.dims();
    dims.resize(static_cast<std::size_t>(axis));
    dims.insert(dims.end(), rest.begin() + axis, rest.end());
    return emit.i64(dims);
  }
  std::vector<Value> parts;
  for (int i = 0; i < v.rank(); ++i) parts.push_back(size_of(emit, i < axis ? v : w, i));
  return concat(emit, parts, 0);
}

/// Scores with one more column, the sink's, that is dropped after softmax.
Value softmax_with_sink(const Emit& emit, const Value& scores, const Value& sink) {
  Value column = reshape(emit, sink, {1, -1, 1, 1});
  const Value one = emit.i64({1});
  column = emit.op(
      "Expand",
      {column, concat(emit, {size_of(emit, scores, 0), size_of(emit, scores, 1), size_of(emit, scores, 2), one}, 0)});
  const Value all = emit.op("Softmax", {concat(emit, {scores, column}, 3)}, {{"axis", -1}});
  return slice(emit, all, 3, 0, -1);
}

}  // namespace

Value split_heads(const Emit& emit, const Value& x, std::int64_t heads) {
  decline_if(x.rank() != 3, "heads are split off rank 3, this is ", x.rank());
  const std::int64_t hidden = x.dim(2);
  decline_if(heads < 1 || hidden < 1 || hidden % heads, "a hidden size of ", hidden, " has no ", heads, " heads");
  return emit.transpose(reshape(emit, x, {0, 0, heads, hidden / heads}), {0, 2, 1, 3});
}

Value join_heads(const Emit& emit, const Value& x) {
  const Value y = emit.transpose(x, {0, 2, 1, 3});
  decline_if(y.dim(2) < 1 || y.dim(3) < 1, "the head size is not known");
  return reshape(emit, y, {0, 0, y.dim(2) * y.dim(3)});
}

Attended attend(const Emit& emit, const Attention& a) {
  const std::int64_t heads = a.q.dim(1), kv_heads = a.k.dim(1), size = a.q.dim(3);
  decline_if(size < 1, "the head size is not known");
  decline_if(heads < 1 || kv_heads < 1 || heads % kv_heads, heads, " query heads for ", kv_heads, " kv heads");
  const double scale = a.scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : static_cast<double>(a.scale);
  const bool grouped = heads != kv_heads;

  const Value scaled = emit.mul(a.q, static_cast<float>(scale));
  const Value rows = grouped ? reshape(emit, scaled, {0, kv_heads, -1, size}) : scaled;
  Value scores = emit.op("MatMul", {rows, emit.transpose(a.k, {0, 1, 3, 2})});
  if (grouped) {  // [batch, kv heads, group * queries, keys] -> [batch, heads, queries, keys]
    const Value columns = scores;
    const std::int64_t queries = a.q.dim(2), keys = a.k.dim(2);
    scores = queries >= 0 ? reshape(emit, columns, {0, heads, queries, -1})
             : keys >= 0  ? reshape(emit, columns, {0, heads, -1, keys})
                          : emit.op("Reshape", {columns, joined_shape(emit, a.q, columns, 3)});
  }
  if (a.softcap != 0) scores = emit.mul(emit.op("Tanh", {emit.div(scores, a.softcap)}), a.softcap);
  Attended result;
  for (const Value& term : a.terms) scores = emit.add(scores, term);
  result.biased = scores;
  result.probabilities =
      a.sink ? softmax_with_sink(emit, scores, a.sink) : emit.op("Softmax", {scores}, {{"axis", -1}});
  Value p = result.probabilities;
  if (grouped) {
    const std::int64_t queries = a.q.dim(2), keys = a.k.dim(2);
    p = queries >= 0 ? reshape(emit, p, {0, kv_heads, heads / kv_heads * queries, -1})
        : keys >= 0  ? reshape(emit, p, {0, kv_heads, -1, keys})
                     : emit.op("Reshape", {p, joined_shape(emit, rows, p, 3)});
  }
  result.y = emit.op("MatMul", {p, a.v});
  if (grouped) result.y = reshape(emit, result.y, {0, heads, -1, a.v.dim(3)});
  return result;
}

Value masked_by(const Emit& emit, const Value& seen, float filter) {
  return emit.op("Where", {seen, emit.scalar(DType::float32, 0), emit.scalar(DType::float32, filter)});
}

Value both(const Emit& emit, const Value& a, const Value& b) {
  if (!a || !b) return a ? a : b;
  return emit.minimum(a, b);
}

Value causal_term(const Emit& emit, const Value& q, const Value& k, const Operand& offset) {
  const Value keys = positions_along(emit, k, 2), queries = unsqueeze(emit, positions_along(emit, q, 2), {1});
  const bool none = offset.is_number() && offset.number() == 0;
  Value seen = emit.op("LessOrEqual", {keys, none ? queries : emit.add(queries, offset)});
  if (!(none && same_size(q, 2, k, 2)))
    seen = emit.op("Or", {seen, emit.op("Equal", {queries, emit.sub(count_of(emit, q, 2), 1)})});
  return masked_by(emit, seen, kLowest);
}

namespace {

/// [batch] ends, [2 * batch] ends and starts, or [3 * batch + 2] of which the first are ends.
Value range_term(const Emit& emit, const Value& mask, const Value& q, const Value& k, float filter) {
  const std::int64_t n = mask.dim(0), batch = q.dim(0);
  const Value keys = positions_along(emit, k, 2);
  const auto bound = [&](std::int64_t first) {
    return reshape(emit, n == batch || batch < 0 ? mask : slice(emit, mask, 0, first, first + batch), {-1, 1, 1, 1});
  };
  if (same_size(mask, 0, q, 0) || (n >= 0 && batch >= 0 && n == 3 * batch + 2))
    return masked_by(emit, emit.op("Less", {keys, bound(0)}), filter);
  decline_if(n < 0 || batch < 0, "whether a mask of ", text(mask.dims()),
             " has ends or ends and starts is not known; give input shapes with --shape");
  decline_if(n != 2 * batch, "a mask of ", n, " numbers for a batch of ", batch);
  const Value before = emit.op("Less", {keys, bound(0)}), after = emit.op("GreaterOrEqual", {keys, bound(batch)});
  return masked_by(emit, emit.op("And", {before, after}), filter);
}

}  // namespace

Value padding_term(const Emit& emit, const Value& mask, const Value& q, const Value& k, const Operand& offset,
                   float filter) {
  Value m = emit.cast(mask, DType::int32);
  switch (mask.rank()) {
    case 1:
      return range_term(emit, m, q, k, filter);
    case 2:
      m = unsqueeze(emit, m, {1, 2});
      break;
    case 3:
      m = unsqueeze(emit, m, {1});
      break;
    case 4: {
      const Value first = offset.is_number() ? emit.i64({static_cast<std::int64_t>(offset.number())})
                                             : reshape(emit, emit.cast(offset.value(), DType::int64), {1});
      const Value ends = concat(emit, {emit.add(first, size_of(emit, q, 2)), size_of(emit, k, 2)}, 0);
      m = emit.op("Slice", {m, concat(emit, {first, emit.i64({0})}, 0), ends, emit.i64({2, 3})});
      break;
    }
    default:
      decline("a mask of rank ", mask.rank());
  }
  return masked_by(emit, emit.op("Greater", {m, emit.scalar(DType::int32, 0)}), filter);
}

Value with_past(const Emit& emit, const Value& past, const Value& fresh) {
  return past && past.dim(2) != 0 ? concat(emit, {past, fresh}, 2) : fresh;
}

Value written_into(const Emit& emit, const Value& past, const Value& fresh, const Value& offset, const Value& counted) {
  const Value rows = unsqueeze(emit, counted, {1});
  if (fresh.dim(2) == 1) return emit.op("Where", {emit.op("Equal", {rows, offset}), fresh, past});
  const Value zero = emit.scalar(DType::int32, 0), last = emit.sub(count_of(emit, fresh, 2), 1);
  const Value from = emit.sub(rows, offset);
  const Value inside = emit.op("And", {emit.op("GreaterOrEqual", {from, zero}), emit.op("LessOrEqual", {from, last})});
  const Value at = emit.op("Reshape", {emit.op("Clip", {from, zero, last}), emit.i64({-1})});
  return emit.op("Where", {inside, emit.op("Gather", {fresh, at}, {{"axis", 2}}), past});
}

}  // namespace transformer
