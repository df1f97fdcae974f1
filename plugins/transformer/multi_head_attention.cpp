// MultiHeadAttention and DecoderMaskedMultiHeadAttention: heads of query, key and value that are projected already.
#include "attention.hpp"

namespace transformer {
namespace {

/// Query, key and value as [batch, heads, sequence, size]; the last two are `ready` where they are a cache of another
/// sequence (cross attention), which has its bias already.
struct Heads {
  Value q, k, v;
  bool ready = false;
};

/// [batch, sequence, heads, parts, size] -> parts of [batch, heads, sequence, size].
std::vector<Value> unpacked(const Emit& emit, const Value& packed, std::int64_t parts) {
  decline_if(packed.dim(3) != parts, "packed operands of shape ", text(packed.dims()));
  std::vector<Value> out;
  for (std::int64_t i = 0; i < parts; ++i) out.push_back(emit.transpose(pick(emit, packed, 3, i), {0, 2, 1, 3}));
  return out;
}

/// Adds to heads their part of the bias, [heads * size].
Value biased(const Emit& emit, const Value& x, const Value& bias, std::int64_t first) {
  if (!bias) return x;
  const std::int64_t heads = x.dim(1), size = x.dim(3), width = heads * size;
  decline_if(size < 1, "the head size is not known");
  return emit.add(x, reshape(emit, slice(emit, bias, 0, first, first + width), {heads, 1, size}));
}

Heads heads_of(const Emit& emit, std::int64_t heads, const Value& query, const Value& key, const Value& value) {
  Heads h;
  if (query.rank() == 5) {
    const auto parts = unpacked(emit, query, 3);
    return {parts[0], parts[1], parts[2]};
  }
  h.q = split_heads(emit, query, heads);
  decline_if(!key, "there is no key");
  if (key.rank() == 5) {
    const auto parts = unpacked(emit, key, 2);
    return {h.q, parts[0], parts[1]};
  }
  decline_if(!value, "there is no value");
  if (key.rank() == 4) return {h.q, key, value, true};
  return {h.q, split_heads(emit, key, heads), split_heads(emit, value, heads)};
}

/// The same for the decoder's operator: query may have all three side by side.
Heads decoder_heads(const Emit& emit, std::int64_t heads, const Value& query, const Value& key, const Value& value,
                    const Value& past_value) {
  if (key) return heads_of(emit, heads, query, key, value);
  const std::int64_t all = query.dim(2), wide = past_value ? past_value.dim(3) * heads : all / 3;
  decline_if(all < 1 || wide < 1 || (all - wide) % 2, "packed operands of width ", all);
  const std::int64_t narrow = (all - wide) / 2;
  const auto parts = split(emit, query, 2, {narrow, narrow, wide});
  return heads_of(emit, heads, parts[0], parts[1], parts[2]);
}

void add_bias(const Emit& emit, Heads& h, const Value& bias) {
  if (!bias) return;
  const std::int64_t width = h.q.dim(1) * h.q.dim(3);
  h.q = biased(emit, h.q, bias, 0);
  if (h.ready) return;
  h.k = biased(emit, h.k, bias, width);
  h.v = biased(emit, h.v, bias, 2 * width);
}

/// Where the operands of each operator are.
struct Places {
  std::size_t bias, mask, attention_bias, past_key, past_length;
};

Results multi_head(const Node& node, const Emit& emit, Heads h, const Places& at) {
  const DType t = node.in(0).dtype();
  add_bias(emit, h, widened(emit, node.in(at.bias)));
  Attention a;
  a.scale = node.attr("scale", 0.0f);
  a.q = h.q;
  a.k = h.k;
  a.v = h.v;
  Value present_key = a.k, present_value = a.v;
  Operand offset = 0;
  if (!h.ready && node.in(at.past_key)) {
    const Value key = widened(emit, node.in(at.past_key)), value = widened(emit, node.in(at.past_key + 1));
    if (const Value used = node.in(at.past_length)) {  // the first rows of a longer cache, the new ones follow
      const Value first = reshape(emit, emit.cast(used, DType::int32), {});
      const bool known = used.constant() && h.k.dim(2) >= 0;
      const Value end =
          known ? Value() : emit.add(reshape(emit, emit.cast(used, DType::int64), {1}), size_of(emit, h.k, 2));
      const auto rows = [&](const Value& v) {
        return known ? slice(emit, v, 2, 0, used.scalar<std::int64_t>() + h.k.dim(2)) : first_of(emit, v, 2, end);
      };
      const Value all = positions_along(emit, key, 2);
      present_key = written_into(emit, key, h.k, first, all);
      present_value = written_into(emit, value, h.v, first, all);
      a.k = rows(present_key);
      a.v = rows(present_value);
      offset = first;
    } else {
      a.k = present_key = with_past(emit, key, h.k);
      a.v = present_value = with_past(emit, value, h.v);
      offset = key.dim(2) >= 0 ? Operand(key.dim(2)) : Operand(count_of(emit, key, 2));
    }
  }
  Value hidden;
  if (const Value mask = node.in(at.mask)) {
    const std::int64_t keys = mask.dim(-1);
    decline_if(mask.rank() == 2 && keys >= 0 && a.k.dim(2) >= 0 && keys != a.k.dim(2), "a mask of ", keys, " keys of ",
               a.k.dim(2));
    hidden = padding_term(emit, mask, a.q, a.k, offset, node.attr("mask_filter_value", -10000.0f));
  }
  if (node.attr("unidirectional", 0) != 0 && a.q.dim(2) != 1)
    hidden = both(emit, hidden, causal_term(emit, a.q, a.k, offset));
  if (hidden) a.terms.push_back(hidden);
  if (node.in(at.attention_bias)) a.terms.push_back(widened(emit, node.in(at.attention_bias)));

  const Attended y = attend(emit, a);
  std::vector<Value> results{emit.cast(join_heads(emit, y.y), t), emit.cast(present_key, t),
                             emit.cast(present_value, t)};
  if (wanted(node, 3))
    results.push_back(emit.cast(y.biased, node.out(3).dtype() == DType::undefined ? t : node.out(3).dtype()));
  results.resize(node.out_count());
  return results;
}

}  // namespace

/// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value, past_sequence_length,
/// cache_indirection -> output, present_key, present_value, qk
GANTRY_UPGRADE(kMicrosoft, "MultiHeadAttention", since(1)) {
  decline_if(bool(node.in(9)), "cache_indirection: the cache of a beam search");
  const auto heads = node.attr<std::int64_t>("num_heads");
  const Heads h =
      heads_of(emit, heads, widened(emit, node.in(0)), widened(emit, node.in(1)), widened(emit, node.in(2)));
  return multi_head(node, emit, h, {3, 4, 5, 6, 8});
}

/// query, key, value, mask_index, attention_bias, past_key, past_value, past_sequence_length, beam_width,
/// cache_indirection, bias -> output, present_key, present_value, qk
GANTRY_UPGRADE(kMicrosoft, "DecoderMaskedMultiHeadAttention", since(1)) {
  decline_if(bool(node.in(9)), "cache_indirection: the cache of a beam search");
  const auto heads = node.attr<std::int64_t>("num_heads");
  const Heads h = decoder_heads(emit, heads, widened(emit, node.in(0)), widened(emit, node.in(1)),
                                widened(emit, node.in(2)), node.in(6));
  return multi_head(node, emit, h, {10, 3, 4, 5, 7});
}

}  // namespace transformer
