// odml.scaled_dot_product_attention: softmax(scale * Q K^T + mask) V for Q, K, V [batch, sequence, heads, size].
#include <limits>

#include "composite.hpp"
#include "match.hpp"

namespace transformer {
namespace {

GANTRY_OPTION("composite", false,
              "Write STABLEHLO_COMPOSITE (odml.rms_norm, odml.scaled_dot_product_attention) with its decomposition")

Value batch_matmul(const Emit& emit, const Value& a, const Value& b, bool adj_y) {
  return emit.op("BATCH_MATMUL", {a, b}, {{"adj_x", false}, {"adj_y", adj_y}, {"asymmetric_quantize_inputs", false}});
}

/// [b, s, heads, size] of rank 3 (heads in the last axis) or of [b, heads, s, size].
Value sequence_first(const Node& node, const Emit& emit, const Value& v, std::string_view heads) {
  const Dims d = v.static_dims();
  if (d.size() == 4) return emit.transpose(v, {0, 2, 1, 3});
  decline_if(d.size() != 3, "operands of rank ", d.size());
  const auto n = node.attr<std::int64_t>(heads);
  decline_if(n < 1 || d[2] % n, n, " heads");
  return emit.reshape(v, {d[0], d[1], n, d[2] / n});
}

/// What is added to the scores, [1, 1, queries, keys] or as the operand is; none if nothing is.
Value mask_of(const Node& node, const Emit& emit, std::int64_t queries, std::int64_t keys) {
  const Value mask = node.in(3);
  const bool causal = node.attr("is_causal", 0) != 0;
  decline_if(mask && causal, "a mask and causal");
  if (causal) {
    std::vector<float> cells;
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j) cells.push_back(j <= i ? 0.0f : -std::numeric_limits<float>::infinity());
    return emit.constant<float>({1, 1, queries, keys}, cells);
  }
  if (!mask) return Value();
  decline_if(mask.dtype() != DType::float32 || mask.rank() > 4 || mask.rank() < 2, "a mask of another kind");
  Dims dims = mask.static_dims();
  decline_if(dims[dims.size() - 1] != keys || dims[dims.size() - 2] != queries, "a mask of another shape");
  decline_if(!mask.constant(), "a mask that may hide all keys of a query");
  for (const float x : mask.read<float>()) decline_if(!std::isfinite(x), "a mask that may hide all keys of a query");
  while (dims.size() < 4) dims.insert(dims.begin(), 1);
  return emit.reshape(mask, dims);
}

}  // namespace

GANTRY_CONVERT(onnx, "Attention", since(23), to(tflite), priority(10)) {
  decline_if(!composites(emit), "composites are switched off");
  for (std::size_t i = 0; i < 3; ++i) decline_if(node.in(i).dtype() != DType::float32, "float32 only");
  decline_if(node.in(4) || node.in(5) || node.in(6), "a cache");
  for (std::size_t i = 1; i < node.out_count(); ++i) decline_if(wanted(node, i), "further results");
  for (const char* window : {"left_window_size", "right_window_size"})
    decline_if(node.attr<std::int64_t>(window, -1) >= 0, "a window");
  decline_if(node.attr("softcap", 0.0f) != 0, "softcap");
  const Value q = sequence_first(node, emit, node.in(0), "q_num_heads"),
              k = sequence_first(node, emit, node.in(1), "kv_num_heads"),
              v = sequence_first(node, emit, node.in(2), "kv_num_heads");
  decline_if(q.dim(2) != k.dim(2) || k.dim(2) != v.dim(2), "groups of heads");
  const std::int64_t size = q.dim(3);
  const float scale =
      node.has_attr("scale") ? node.attr("scale", 0.0f) : static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
  std::vector<Value> inputs{q, k, v};
  if (const Value mask = mask_of(node, emit, q.dim(1), k.dim(1))) inputs.push_back(mask);
  Type result = q.type();
  (*result.dims)[3] = v.dim(3);
  const Value y = composite(emit, "odml.scaled_dot_product_attention", inputs, result, "scale", scale,
                            [&](const std::vector<Value>& args) -> std::vector<Value> {
                              const Dims heads_first{0, 2, 1, 3};
                              const auto turned = [&](std::size_t i) { return emit.transpose(args[i], heads_first); };
                              Value scores = batch_matmul(emit, emit.mul(turned(0), scale), turned(1), true);
                              if (args.size() > 3) scores = emit.add(scores, args[3]);
                              const Value p = emit.op("SOFTMAX", {scores}, {{"beta", 1.0f}});
                              return {emit.transpose(batch_matmul(emit, p, turned(2), false), heads_first)};
                            });
  std::vector<Value> results(node.out_count());
  results[0] = node.in(0).rank() == 4 ? emit.transpose(y, {0, 2, 1, 3})
                                      : emit.reshape(y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)});
  return results;
}

}  // namespace transformer
