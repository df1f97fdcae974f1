// MultiHeadAttention without masks:
//   softmax((x Wq + bq) / sqrt(key_dim) (k Wk + bk)^T) (v Wv + bv) Wo + bo, in heads of [.., heads, key_dim].
#include <cmath>

#include "../json.hpp"
#include "common.hpp"

using namespace gantry::keras;

namespace {

/// Query, value and key: positional, or by keyword.
struct Tensors {
  Value query, value, key;
};

Tensors tensors(const Node& node) {
  const auto n = static_cast<std::size_t>(integer(node, "operand_count", 1));
  const auto keywords = node.attr<std::vector<std::string>>("keywords", {});
  decline_if(n < 2 || n > node.in_count() || keywords.size() >= n, "it is called with ", n, " tensors");
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
      decline_if(name != "training" && !(value.is_boolean() && !value.get<bool>()) && !value.is_null(),
                 "it is called with ", name);
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

GANTRY_CONVERT(keras, "MultiHeadAttention", to(onnx)) {
  const Tensors t = tensors(node);
  decline_if(node.out_count() > 1, "it returns attention scores");
  decline_if(node.has_attr("attention_axes"), "attention over given axes");
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
  const Value scores = emit.op("MatMul", {q, emit.transpose(k, {0, 1, 3, 2})});
  const Value mixed = emit.op("MatMul", {emit.op("Softmax", {scores}, {{"axis", -1}}), v});
  const Dims o = wo.static_dims();  // [heads, k, d]
  decline_if(o.size() != 3, "an output of shape ", text(o));
  const std::int64_t steps = t.query.dim(1) < 0 ? -1 : t.query.dim(1);
  const Value joined = reshape_rows(emit, emit.transpose(mixed, {0, 2, 1, 3}), {steps, o[0] * o[1]});
  const Value y = emit.op("MatMul", {joined, emit.reshape(wo, {o[0] * o[1], o[2]})});
  return bias ? emit.add(y, bo) : y;
}

}  // namespace
