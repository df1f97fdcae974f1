// MultiHeadAttention without masks, or with the causal one:
//   softmax((x Wq + bq) / sqrt(key_dim) (k Wk + bk)^T) (v Wv + bv) Wo + bo, in heads of [.., heads, key_dim].
#include <cmath>

#include "../json.hpp"
#include "common.hpp"

using namespace gantry::keras;

namespace {

/// Query, value and key: positional, or by keyword.
struct Tensors {
  Value query, value, key;
  bool scores = false, causal = false;
};

Tensors tensors(const Node& node) {
  const auto n = static_cast<std::size_t>(integer(node, "operand_count", 1));
  const auto keywords = node.attr<std::vector<std::string>>("keywords", {});
  decline_if(n < 2 || n > node.in_count() || keywords.size() > n, "it is called with ", n, " tensors");
  const std::size_t positional = n - keywords.size();
  Tensors t;
  Value* const in_order[] = {&t.query, &t.value, &t.key};
  decline_if(positional > 3, "it is called with a mask");
  for (std::size_t i = 0; i < positional; ++i) *in_order[i] = node.in(i);
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    const Value v = node.in(positional + i);
    if (keywords[i] == "query")
      t.query = v;
    else if (keywords[i] == "value")
      t.value = v;
    else if (keywords[i] == "key")
      t.key = v;
    else
      decline("it is called with ", keywords[i]);
  }
  if (!t.key) t.key = t.value;
  decline_if(!t.query || !t.value, "it is called without query or value");
  if (node.has_attr("call")) {
    const Json call = parse_json(node.attr<std::string>("call"), "call");
    for (const auto& [name, value] : call.items())
      decline_if(name != "training" && name != "return_attention_scores" && name != "use_causal_mask" &&
                     !(value.is_boolean() && !value.get<bool>()) && !value.is_null(),
                 "it is called with ", name);
    const auto truth = [&](const char* name) { return member(call, name).is_boolean() && call[name].get<bool>(); };
    t.scores = truth("return_attention_scores"), t.causal = truth("use_causal_mask");
  }
  return t;
}

// [b, t, d] x [d, heads, k] -> [b, heads, t, k]
Value heads(const Emit& emit, const Value& x, const Value& kernel, const Value& bias) {
  const Dims k = kernel.static_dims();
  decline_if(x.rank() != 3 || k.size() != 3, "attention over a tensor of rank ", x.rank());
  Value y = emit.op("MatMul", {x, emit.reshape(kernel, {k[0], k[1] * k[2]})});
  if (bias) y = emit.add(y, emit.reshape(bias, {k[1] * k[2]}));
  const std::int64_t steps = x.dim(1) < 0 ? -1 : x.dim(1);
  return emit.transpose(reshape_rows(emit, y, {steps, k[1], k[2]}), {0, 2, 1, 3});
}

// 0 where step t may see step s, s <= t, else what makes exp vanish.
Value causal_mask(const Emit& emit, std::int64_t steps, std::int64_t seen) {
  decline_if(steps < 1 || seen < 1 || steps > (1 << 24) / seen, "a causal mask of unknown size");
  std::vector<float> mask;
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t s = 0; s < seen; ++s) mask.push_back(s <= t ? 0.0F : -1e9F);
  return emit.constant({steps, seen}, mask);
}

GANTRY_CONVERT(keras, "MultiHeadAttention", to(onnx)) {
  const Tensors t = tensors(node);
  decline_if(node.out_count() > (t.scores ? 2U : 1U), "it has ", node.out_count(), " results");
  // Keras 2 stores what it found out: the only axis of a tensor of rank 3.
  decline_if(node.has_attr("attention_axes") && axes_in(node, "attention_axes", t.query.rank()) != Dims{1},
             "attention over given axes");
  const bool bias = integer(node, "use_bias", 1) != 0;
  const std::size_t each = bias ? 2 : 1;
  const auto part = [&](std::size_t i) {
    return std::pair(weight(node, i * each), bias ? weight(node, i * each + 1) : Value());
  };
  const auto [wq, bq] = part(0);
  const auto [wk, bk] = part(1);
  const auto [wv, bv] = part(2);
  const auto [wo, bo] = part(3);
  const Value q = emit.mul(heads(emit, t.query, wq, bq), 1.0 / std::sqrt(static_cast<double>(wq.dim(2))));
  const Value k = heads(emit, t.key, wk, bk), v = heads(emit, t.value, wv, bv);
  Value scores = emit.op("MatMul", {q, emit.transpose(k, {0, 1, 3, 2})});
  if (t.causal) scores = emit.add(scores, causal_mask(emit, t.query.dim(1), t.value.dim(1)));
  scores = emit.op("Softmax", {scores}, {{"axis", -1}});
  const Value mixed = emit.op("MatMul", {scores, v});
  const Dims o = wo.static_dims();  // [heads, k, d]
  decline_if(o.size() != 3, "an output of shape ", text(o));
  const std::int64_t steps = t.query.dim(1) < 0 ? -1 : t.query.dim(1);
  const Value joined = reshape_rows(emit, emit.transpose(mixed, {0, 2, 1, 3}), {steps, o[0] * o[1]});
  const Value y = emit.op("MatMul", {joined, emit.reshape(wo, {o[0] * o[1], o[2]})});
  std::vector<Value> results{bias ? emit.add(y, bo) : y};
  if (node.out_count() > 1) results.push_back(scores);
  return results;
}

}  // namespace
