// Attention. Y = softmax(cap(scale * Q K^T) + bias) V, where the bias is the mask, what lies behind the causal frontier
// or outside the window, and the padding of an external cache. Operator: ONNX operator specification, Attention.
#include "attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace core_ops {
namespace {

/// Scores' bias: a sum of masks, and whether one of them may hide every key from a query.
struct Bias {
  std::vector<Value> terms;
  bool may_hide_all = false;
};

struct Attention {
  Value q, k, v;          // [b, heads, sequence, size]
  Value nonpad;           // [b], valid keys
  std::int64_t past = 0;  // length of the cache, -1 if not known
  Value past_key;
};

/// The frontier as a constant bias [1, 1, queries, keys], where all is known.
void add_constant_frontier(const Emit& emit, const Frontier& f, std::int64_t queries, std::int64_t keys,
                           std::int64_t offset, Bias& bias) {
  std::vector<float> cells;
  bool hides = false;
  for (std::int64_t i = 0; i < queries; ++i) {
    bool any = false;
    for (std::int64_t j = 0; j < keys; ++j) {
      const std::int64_t p = i + offset;
      const bool seen = (!f.causal || j <= p) && (f.left < 0 || j >= p - f.left) && (f.right < 0 || j <= p + f.right);
      any = any || seen;
      hides = hides || !seen;
      cells.push_back(seen ? 0.0f : -std::numeric_limits<float>::infinity());
    }
    bias.may_hide_all = bias.may_hide_all || !any;
  }
  if (hides) bias.terms.push_back(emit.constant<float>({1, 1, queries, keys}, cells));
}

/// The frontier where sizes or the offset are known at run time only.
void add_runtime_frontier(const Emit& emit, const Frontier& f, const Attention& a, Bias& bias) {
  const Value keys = positions_along(emit, a.k, 2);
  Value at = insert_axis(emit, positions_along(emit, a.q, 2), 1);  // [queries, 1]
  if (a.nonpad) {
    const Value offset = emit.sub(emit.cast(a.nonpad, DType::int32), extent_of(emit, a.q, 2).scalar(emit));
    at = emit.add(at, emit.reshape(offset, {-1, 1, 1, 1}));
  } else if (a.past > 0) {
    at = emit.add(at, static_cast<double>(a.past));
  } else if (a.past < 0) {
    at = emit.add(at, extent_of(emit, a.past_key, 2).scalar(emit));
  }
  const auto add = [&](std::string_view op, const Value& bound) {
    bias.terms.push_back(additive_mask(emit, emit.op(op, {keys, bound})));
  };
  if (f.causal) add("LESS_EQUAL", at);
  if (f.left >= 0) add("GREATER_EQUAL", emit.sub(at, static_cast<double>(f.left)));
  if (f.right >= 0 && !f.causal) add("LESS_EQUAL", emit.add(at, static_cast<double>(f.right)));
  bias.may_hide_all = true;
}

/// The mask operand; keys that it does not reach are hidden.
void add_mask(const Emit& emit, Value mask, std::int64_t keys, Bias& bias) {
  if (!mask) return;
  mask = mask.dtype() == DType::boolean ? additive_mask(emit, mask) : in_float32(emit, mask);
  const int rank = mask.rank();
  decline_if(rank > 4, "attn_mask of rank ", rank);
  if (rank && keys >= 0 && mask.dim(-1) > 1 && mask.dim(-1) < keys) {
    std::vector<std::int32_t> pads(static_cast<std::size_t>(2 * rank), 0);
    pads.back() = static_cast<std::int32_t>(keys - mask.dim(-1));
    mask = emit.op("PADV2", {mask, emit.constant<std::int32_t>({rank, 2}, pads),
                             emit.constant<float>({1}, {-std::numeric_limits<float>::infinity()})});
  }
  bias.terms.push_back(mask);
  bias.may_hide_all = true;
}

Bias bias_of(const Node& node, const Emit& emit, const Attention& a) {
  Bias bias;
  const Frontier f{node.attr("is_causal", 0) != 0, node.attr<std::int64_t>("left_window_size", -1),
                   node.attr<std::int64_t>("right_window_size", -1)};
  const std::int64_t queries = a.q.dim(2), keys = a.k.dim(2);
  if (f.any()) {
    if (!a.nonpad && a.past >= 0 && queries >= 0 && keys >= 0)
      add_constant_frontier(emit, f, queries, keys, a.past, bias);
    else
      add_runtime_frontier(emit, f, a, bias);
  }
  add_mask(emit, node.in(3), keys, bias);
  if (a.nonpad) {
    const Value valid = emit.reshape(emit.cast(a.nonpad, DType::int32), {-1, 1, 1, 1});
    bias.terms.push_back(additive_mask(emit, emit.op("LESS", {positions_along(emit, a.k, 2), valid})));
    bias.may_hide_all = true;
  }
  return bias;
}

Value heads(const Node& node, const Emit& emit, const Value& x, std::string_view attribute) {
  decline_if(x.rank() != 3 && x.rank() != 4, "operands of rank ", x.rank());
  return x.rank() == 4 ? x : split_heads(emit, x, node.attr<std::int64_t>(attribute));
}

/// The cache and what is new, along the sequence.
Value with_past(const Emit& emit, const Value& past, const Value& fresh) {
  return past && past.dim(2) != 0 ? emit.op("CONCATENATION", {past, fresh}, {{"axis", 2}, no_activation()}) : fresh;
}

}  // namespace

GANTRY_CONVERT(onnx, "Attention", since(23), to(tflite)) {
  const Value q_in = node.in(0), v_in = node.in(2);
  const DType t = q_in.dtype();
  Attention a;
  a.q = heads(node, emit, in_float32(emit, q_in), "q_num_heads");
  a.k = heads(node, emit, in_float32(emit, node.in(1)), "kv_num_heads");
  a.v = heads(node, emit, in_float32(emit, v_in), "kv_num_heads");
  a.past_key = node.in(4);
  a.past = a.past_key ? a.past_key.dim(2) : 0;
  a.nonpad = node.in(6);
  a.k = with_past(emit, in_float32(emit, node.in(4)), a.k);
  a.v = with_past(emit, in_float32(emit, node.in(5)), a.v);
  const std::int64_t size = a.q.dim(3);
  decline_if(size < 1, "the head size is not known");
  float scale = node.attr("scale", 0.0f);
  if (!node.has_attr("scale")) scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));

  const Value product = grouped_matmul(emit, emit.mul(a.q, scale), a.k, true);
  const Value capped = soft_cap(emit, product, node.attr("softcap", 0.0f));
  const Bias bias = bias_of(node, emit, a);
  Value biased = capped;
  for (const Value& term : bias.terms) biased = emit.add(biased, term);
  const Value probabilities = masked_softmax(emit, biased, bias.may_hide_all);
  const Value y = grouped_matmul(emit, probabilities, a.v, false);

  std::vector<Value> results(node.out_count());
  const auto give = [&](std::size_t i, const Value& v, DType type) {
    if (node.out(i)) results[i] = from_float32(emit, v, type);
  };
  give(0, q_in.rank() == 3 ? join_heads(emit, y) : y, t);
  give(1, a.k, node.in(1).dtype());
  give(2, a.v, v_in.dtype());
  const std::int64_t mode = node.attr<std::int64_t>("qk_matmul_output_mode", 0);
  decline_if(mode < 0 || mode > 3, "qk_matmul_output_mode = ", mode);
  give(3, mode == 0 ? product : mode == 1 ? capped : mode == 2 ? biased : probabilities, t);
  return results;
}

/// Y = softmax(scale * Q K^T) V, without the subgraphs that may change scores and probabilities.
GANTRY_CONVERT(onnx_domain("ai.onnx.preview"), "FlexAttention", since(1), to(tflite)) {
  decline_if(node.has_region("score_mod") || node.has_region("prob_mod"), "score_mod and prob_mod are subgraphs");
  const Value q = in_float32(emit, node.in(0)), k = in_float32(emit, node.in(1)), v = in_float32(emit, node.in(2));
  decline_if(q.rank() != 4 || q.dim(3) < 1, "operands of rank 4 with a known head size are needed");
  float scale = node.attr("scale", 0.0f);
  if (!node.has_attr("scale")) scale = static_cast<float>(1 / std::sqrt(static_cast<double>(q.dim(3))));
  const Value scores = grouped_matmul(emit, emit.mul(q, scale), k, true);
  const Value y = grouped_matmul(emit, masked_softmax(emit, scores, false), v, false);
  return from_float32(emit, y, node.in(0).dtype());
}

}  // namespace core_ops
