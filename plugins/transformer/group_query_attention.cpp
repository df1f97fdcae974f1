// GroupQueryAttention: causal attention of grouped heads, with a cache whose length is an operand.
//
// With n[b] = seqlens_k[b] + 1 keys after this step and s new tokens, the cache has o[b] = max(0, n[b] - s) of them,
// and token i is at o[b] + i. It sees keys below e = min(o[b] + i + 1, n[b]), and with a window only the last ones of
// these. (A prompt that is shorter than its padding has n[b] < s and no cache; ONNX Runtime's kernel tells it by
// total_sequence_length, which comes to the same.)
#include "attention.hpp"
#include "rotary.hpp"

namespace transformer {
namespace {

enum In : std::size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm,
  kQueryLengths
};

/// How long the cache is and where the new tokens stand.
struct Lengths {
  Value keys;                 // n, int32 [batch, 1, 1, 1]
  Value offset;               // o, int32 [batch, 1, 1, 1]
  std::optional<Dims> known;  // n of each sequence
  std::int64_t tokens = -1;   // new ones
  std::int64_t total = -1;    // total_sequence_length
  std::int64_t rows = -1;     // of the new cache: max(rows of the old one, total)
  Value row_count;            // int64 [1], where `rows` is not known
  Value counted;              // 0, 1, ... for each row, int32
  std::int64_t offset_of(std::int64_t n) const { return std::max<std::int64_t>(0, n - tokens); }
};

void find_rows(const Node& node, const Emit& emit, const Value& key, Lengths& l) {
  const Value past = node.in(kPastKey), total = node.in(kTotal);
  if (!past && l.total < 0) {  // then the total is that of the new tokens
    l.rows = l.tokens;
    l.counted = positions_along(emit, key, 1);
    return;
  }
  const std::int64_t before = past ? past.dim(2) : 0;
  if (l.total >= 0 && before >= 0) {
    l.rows = std::max(before, l.total);
    l.counted = counting(emit, l.rows);
    return;
  }
  l.row_count = emit.maximum(size_of(emit, past, 2), reshape(emit, emit.cast(total, DType::int64), {1}));
  l.counted = counting(emit, emit.cast(emit.reshape(l.row_count, {}), DType::int32));
}

Lengths lengths_of(const Node& node, const Emit& emit, const Value& key) {
  Lengths l;
  const Value last = node.in(kLengths), total = node.in(kTotal);
  decline_if(!last || !total, "seqlens_k or total_sequence_length is missing");
  l.tokens = key.dim(1);
  if (total.constant()) l.total = total.scalar<std::int64_t>();
  find_rows(node, emit, key, l);
  if (last.constant() && l.tokens >= 0) {
    std::vector<std::int32_t> n, o;
    l.known.emplace();
    for (std::int64_t k : last.read<std::int64_t>()) {
      l.known->push_back(k + 1);
      n.push_back(static_cast<std::int32_t>(k + 1));
      o.push_back(static_cast<std::int32_t>(l.offset_of(k + 1)));
    }
    const Dims dims{static_cast<std::int64_t>(n.size()), 1, 1, 1};
    l.keys = emit.constant(dims, n);
    l.offset = emit.constant(dims, o);
    return l;
  }
  l.keys = emit.add(reshape(emit, emit.cast(last, DType::int32), {-1, 1, 1, 1}), 1);
  l.offset = emit.maximum(emit.sub(l.keys, count_of(emit, key, 1)), 0);
  return l;
}

/// x to [batch, sequence, heads, size], normalised by head, and back.
Value normalized_heads(const Emit& emit, const Value& x, std::int64_t heads, const Value& weight, float epsilon) {
  if (!weight) return x;
  const Value y = emit.op("RMSNormalization", {reshape(emit, x, {0, 0, heads, x.dim(2) / heads}), weight},
                          {{"axis", -1}, {"epsilon", epsilon}});
  return reshape(emit, y, {0, 0, x.dim(2)});
}

/// Cut, or filled with zeros, to a number of rows.
Value with_rows(const Emit& emit, const Value& v, const Lengths& l) {
  const std::int64_t rows = v.dim(2);
  if (l.rows < 0) return l.row_count ? first_of(emit, v, 2, l.row_count) : v;
  if (rows == l.rows) return v;
  if (rows < 0 || rows > l.rows) {
    Dims dims = v.dims();
    dims[2] = l.rows;
    return emit.ops("Slice", 1, {v, emit.i64({0}), emit.i64({l.rows}), emit.i64({2})}, {}, {Type{v.dtype(), dims}})[0];
  }
  return emit.op("Pad", {v, emit.i64({0, 0, 0, 0, 0, 0, l.rows - rows, 0}), emit.scalar(v.dtype(), 0)});
}

/// Rows of the cache before the offset, then the new ones, then zeros. No sequence is longer than the old cache and
/// what is new, so that both, one after the other, have enough rows.
Value present(const Emit& emit, const Value& past, const Value& fresh, const Lengths& l) {
  if (!past || past.dim(2) == 0) return with_rows(emit, fresh, l);
  const std::int64_t before = past.dim(2);
  if (l.known && before >= 0 && l.rows >= 0) {
    const std::int64_t o = l.known->empty() ? 0 : l.offset_of(l.known->front());
    decline_if(l.rows > before + l.tokens || o > before, "a cache of ", before, " rows for ", o, " tokens");
    if (std::ranges::all_of(*l.known, [&](std::int64_t n) { return l.offset_of(n) == o; })) {
      if (o == 0) return with_rows(emit, fresh, l);
      return with_rows(emit, concat(emit, {o == before ? past : slice(emit, past, 2, 0, o), fresh}, 2), l);
    }
  }
  const Value base = with_rows(emit, concat(emit, {past, fresh}, 2), l);
  const Value rows = unsqueeze(emit, l.counted, {1});
  const Value kept = emit.op("Where", {emit.op("Less", {rows, l.offset}), base, emit.scalar(DType::float32, 0)});
  // Several new tokens: one sequence, or a prompt, where every offset is 0.
  const Value offset = l.tokens == 1 ? l.offset : emit.reshape(slice(emit, l.offset, 0, 0, 1), {});
  return written_into(emit, kept, fresh, offset, l.counted);
}

/// int64 [batch or 1, tokens or 1]
Value token_positions(const Node& node, const Emit& emit, const Lengths& l, const Value& query) {
  const Value given = node.in(kPositions);
  const std::int64_t tokens = query.dim(1);
  if (!given) return emit.cast(reshape(emit, l.offset, {-1, 1}), DType::int64);
  // A prompt's positions count from the first one.
  const auto first = [&] { return slice(emit, slice(emit, given, 0, 0, 1), 1, 0, 1); };
  if (!node.in(kPastKey)) return first();
  if (l.total >= 0 && tokens >= 0) return l.total == tokens ? first() : given;
  const Value counted = emit.add(first(), emit.cast(positions_along(emit, query, 1), DType::int64));
  const Value total = reshape(emit, emit.cast(node.in(kTotal), DType::int32), {});
  return emit.op("Where", {emit.op("Equal", {total, count_of(emit, query, 1)}), counted, given});
}

/// Which keys each token sees: [batch or 1, 1, tokens or 1, keys].
struct Seen {
  Value keys;
  Value any;  // where a token may see none, which ones do
};
Seen seen_keys(const Node& node, const Emit& emit, const Lengths& l, const Value& q) {
  const auto window = node.attr<std::int64_t>("local_window_size", -1);
  decline_if(window == 0, "a window of no keys");
  if (node.attr("causal", 1) == 0) {
    decline_if(window > 0, "a window that is not causal");
    return {emit.op("Less", {l.counted, l.keys}), Value()};
  }
  const Value next = emit.add(unsqueeze(emit, positions_along(emit, q, 2), {1}), 1);
  const Value behind = emit.add(l.offset, next), end = emit.minimum(behind, l.keys);
  Seen seen{emit.op("Less", {l.counted, end}), Value()};
  if (window < 0) return seen;
  const Value first = emit.sub(behind, static_cast<double>(window));
  seen.keys = emit.op("And", {seen.keys, emit.op("GreaterOrEqual", {l.counted, first})});
  const bool always = l.tokens == 1 || (l.known && std::ranges::all_of(*l.known, [&](std::int64_t n) {
                                          return l.offset_of(n) + l.tokens - window < n;
                                        }));
  if (!always) seen.any = emit.cast(emit.op("Less", {first, end}), DType::float32);
  return seen;
}

/// The bias is as wide as the total, the cache may be longer.
Value widened_bias(const Emit& emit, const Value& bias, const Value& k) {
  if (!bias || same_size(bias, 3, k, 2)) return bias;
  if (bias.dim(3) >= 0 && k.dim(2) >= 0) {
    const std::int64_t more = k.dim(2) - bias.dim(3);
    decline_if(more < 0, "attention_bias has ", bias.dim(3), " columns for ", k.dim(2), " keys");
    return emit.op("Pad", {bias, emit.i64({0, 0, 0, 0, 0, 0, 0, more}), emit.scalar(DType::float32, 0)});
  }
  const Value more = emit.sub(size_of(emit, k, 2), size_of(emit, bias, 3));
  const Value pads = concat(emit, {emit.i64(Dims(7, 0)), more}, 0);
  return reshape(emit, emit.op("Pad", {bias, pads, emit.scalar(DType::float32, 0)}), {0, bias.dim(1), -1, k.dim(2)});
}

void refuse_forms(const Node& node) {
  decline_if(bool(node.in(kKeyScale)) || bool(node.in(kValueScale)) || node.attr("k_quant_type", "NONE") != "NONE" ||
                 node.attr("v_quant_type", "NONE") != "NONE",
             "a cache of quantized numbers");
  decline_if(node.attr("sliding_window_cache", 0) != 0, "sliding_window_cache = 1: rows of the cache are evicted");
  decline_if(bool(node.in(kQueryLengths)), "query_seqlens: chunks of several lengths");
}

}  // namespace

GANTRY_UPGRADE(kMicrosoft, "GroupQueryAttention", since(1)) {
  refuse_forms(node);
  const auto heads = node.attr<std::int64_t>("num_heads"), kv_heads = node.attr<std::int64_t>("kv_num_heads");
  constexpr std::int64_t kMostHeads = 1 << 24;
  decline_if(heads < 1 || kv_heads < 1 || heads > kMostHeads || kv_heads > kMostHeads, "num_heads = ", heads,
             ", kv_num_heads = ", kv_heads);
  const DType t = node.in(kQuery).dtype();
  Value query = widened(emit, node.in(kQuery)), key = widened(emit, node.in(kKey)),
        value = widened(emit, node.in(kValue));
  if (!key) {
    const std::int64_t all = query.dim(2), size = all / (heads + 2 * kv_heads);
    decline_if(all < 1 || size * (heads + 2 * kv_heads) != all, "packed operands of width ", all);
    const auto parts = split(emit, query, 2, {heads * size, kv_heads * size, kv_heads * size});
    query = parts[0], key = parts[1], value = parts[2];
  }
  decline_if(query.rank() != 3 || key.rank() != 3, "operands of rank ", key.rank());
  const Lengths l = lengths_of(node, emit, key);
  const float epsilon = node.attr("qk_norm_epsilon", 1e-6f);
  query =
      normalized_heads(emit, query, heads, widened(emit, node.in(kQueryNorm)), node.attr("q_norm_epsilon", epsilon));
  key = normalized_heads(emit, key, kv_heads, widened(emit, node.in(kKeyNorm)), node.attr("k_norm_epsilon", epsilon));
  Value q = split_heads(emit, query, heads), k = split_heads(emit, key, kv_heads);
  if (node.attr("do_rotary", 0) != 0) {
    decline_if(!node.in(kCos) || !node.in(kSin), "do_rotary = 1 without caches");
    Value at = token_positions(node, emit, l, query);
    if (at.dim(1) == 1 && l.tokens != 1)  // the same for queries and keys
      at = emit.add(at, emit.cast(positions_along(emit, key, 1), DType::int64));
    const Rotary r{widened(emit, node.in(kCos)), widened(emit, node.in(kSin)), at,
                   node.attr("rotary_interleaved", 0) != 0,
                   node.in(kPositions) ? node.in(kPositions).constant() : l.known.has_value()};
    q = rotated(emit, q, heads, r);
    k = rotated(emit, k, kv_heads, r);
  }

  Attention a;
  a.scale = node.attr("scale", 0.0f);
  a.softcap = node.attr("softcap", 0.0f);
  a.q = q;
  a.k = present(emit, widened(emit, node.in(kPastKey)), k, l);
  a.v = present(emit, widened(emit, node.in(kPastValue)), split_heads(emit, value, kv_heads), l);
  if (node.in(kSink))
    a.sink = widened(emit, node.in(kSink));
  else if (node.attr("smooth_softmax", 0) == 1)
    a.sink = emit.constant<float>({1}, {0});
  if (node.in(kBias)) a.terms.push_back(widened_bias(emit, widened(emit, node.in(kBias)), a.k));
  const Seen seen = seen_keys(node, emit, l, a.q);
  a.terms.push_back(masked_by(emit, seen.keys, std::numeric_limits<float>::lowest()));

  const Attended y = attend(emit, a);
  const Value heads_out = seen.any ? emit.mul(y.y, seen.any) : y.y;
  std::vector<Value> results{emit.cast(join_heads(emit, heads_out), t), emit.cast(a.k, t), emit.cast(a.v, t)};
  if (wanted(node, 3)) {
    decline_if(l.total != l.rows || seen.any, "output_qk of a cache that is longer than the keys");
    results.push_back(emit.cast(node.attr("qk_output", 0) == 2
                                    ? y.probabilities
                                    : emit.op("Where", {seen.keys, y.biased, emit.scalar(DType::float32, 0)}),
                                t));
  }
  results.resize(node.out_count());
  return results;
}

}  // namespace transformer
