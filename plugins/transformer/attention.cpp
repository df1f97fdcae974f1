// Attention: one weight for query, key and value, then heads, masks and a cache of both in one tensor.
#include "attention.hpp"

namespace transformer {
namespace {

/// Widths of query, key and value in the weight.
Dims hidden_sizes(const Node& node, const Value& weight) {
  if (node.has_attr("qkv_hidden_sizes")) {
    const auto sizes = node.attr<Dims>("qkv_hidden_sizes");
    decline_if(sizes.size() != 3, "qkv_hidden_sizes has ", sizes.size(), " numbers");
    return sizes;
  }
  const std::int64_t all = weight.dim(-1);
  decline_if(all < 1 || all % 3, "weights of ", all, " columns are not three alike");
  return Dims(3, all / 3);
}

/// Where the operands are that follow the projections.
struct Places {
  std::size_t mask, past, attention_bias;
};

/// Attention of query, key and value that stand side by side in `qkv` [batch, sequence, sum of sizes].
Results packed_attention(const Node& node, const Emit& emit, const Value& qkv, const Dims& sizes, DType t,
                         const Places& at) {
  decline_if(node.attr("past_present_share_buffer", 0) != 0, "a cache that is shared by past and present");
  decline_if(node.attr("do_rotary", 0) != 0, "do_rotary = 1, whose angles are not operands");
  const Value past = widened(emit, node.in(at.past));
  const auto heads = node.attr<std::int64_t>("num_heads");
  const std::vector<Value> parts = split(emit, qkv, 2, sizes);

  Attention a;
  a.scale = node.attr("scale", 0.0f);
  a.q = split_heads(emit, parts[0], heads);
  const Value k = split_heads(emit, parts[1], heads), v = split_heads(emit, parts[2], heads);
  a.k = past ? with_past(emit, pick(emit, past, 0, 0), k) : k;
  a.v = past ? with_past(emit, pick(emit, past, 0, 1), v) : v;
  const Operand offset = !past ? Operand(0) : past.dim(3) >= 0 ? Operand(past.dim(3)) : count_of(emit, past, 3);
  Value mask;
  if (node.in(at.mask))
    mask = padding_term(emit, node.in(at.mask), a.q, a.k, offset, node.attr("mask_filter_value", -10000.0f));
  if (node.attr("unidirectional", 0) != 0 && a.q.dim(2) != 1)
    mask = both(emit, mask, causal_term(emit, a.q, a.k, offset));
  if (mask) a.terms.push_back(mask);
  if (at.attention_bias && node.in(at.attention_bias)) a.terms.push_back(widened(emit, node.in(at.attention_bias)));

  std::vector<Value> results{emit.cast(join_heads(emit, attend(emit, a).y), t)};
  if (wanted(node, 1))
    results.push_back(emit.cast(concat(emit, {unsqueeze(emit, a.k, {0}), unsqueeze(emit, a.v, {0})}, 0), t));
  results.resize(node.out_count());
  return results;
}

}  // namespace

/// input, weights, bias, mask_index, past, attention_bias, past_sequence_length -> output, present
GANTRY_UPGRADE(kMicrosoft, "Attention", since(1)) {
  const Value input = widened(emit, node.in(0));
  Value qkv = emit.op("MatMul", {input, widened(emit, node.in(1))});
  if (node.in(2)) qkv = emit.add(qkv, widened(emit, node.in(2)));
  return packed_attention(node, emit, qkv, hidden_sizes(node, node.in(1)), node.in(0).dtype(), {3, 4, 5});
}

/// input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past -> output,
/// present: Attention whose projection is of integers.
GANTRY_UPGRADE(kMicrosoft, "QAttention", since(1)) {
  const auto of_one = [&](const Value& p) { return p && p.rank() == 1 && p.dim(0) == 1 ? emit.reshape(p, {}) : p; };
  const Value sums = emit.op("MatMulInteger", {node.in(0), node.in(1), of_one(node.in(6)), of_one(node.in(7))});
  const Value scale = emit.mul(of_one(node.in(3)), of_one(node.in(4)));
  const Value qkv = emit.add(emit.mul(emit.cast(sums, DType::float32), scale), widened(emit, node.in(2)));
  return packed_attention(node, emit, qkv, hidden_sizes(node, node.in(1)), node.in(2).dtype(), {5, 8, 0});
}

}  // namespace transformer
