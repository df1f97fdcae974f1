// EmbedLayerNormalization: word, position and segment embeddings, summed and normalised.
#include "sizes.hpp"

namespace transformer {

namespace {

/// Everything in float32; what is absent is a default Value.
struct Embedding {
  Value ids, segments, places;  // of each token
  Value words, positions, kinds;
  Value gamma, beta, mask;
};

/// The three embeddings' sum, normalised; how many of the mask's numbers are 1; the sum.
std::vector<Value> normalized(const Node& node, const Emit& emit, const Embedding& e) {
  const auto rows = [&](const Value& table, const Value& at) { return emit.op("Gather", {table, at}, {{"axis", 0}}); };
  Value sum = emit.add(rows(e.words, e.ids), rows(e.positions, e.places ? e.places : positions_along(emit, e.ids, 1)));
  if (e.segments) sum = emit.add(sum, rows(e.kinds, e.segments));
  const Value y =
      emit.op("LayerNormalization", {sum, e.gamma, e.beta}, {{"axis", -1}, {"epsilon", node.attr("epsilon", 1e-12f)}});
  std::vector<Value> results{y, Value(), sum};
  if (wanted(node, 1)) {
    const Value words = e.mask ? emit.cast(emit.op("Equal", {e.mask, emit.scalar(DType::int32, 1)}), DType::int32)
                               : emit.mul(emit.cast(e.ids, DType::int32), 0);
    results[1] = emit.op("ReduceSum", {words, emit.i64({1})}, {{"keepdims", 0}});
  }
  return results;
}

}  // namespace

/// input_ids, segment_ids, word_embedding, position_embedding, segment_embedding, gamma, beta, mask, position_ids ->
/// output, mask_index, embedding_sum
GANTRY_UPGRADE(kMicrosoft, "EmbedLayerNormalization", since(1)) {
  const DType t = node.in(2).dtype();
  const auto real = [&](std::size_t i) { return widened(emit, node.in(i)); };
  std::vector<Value> results = normalized(
      node, emit, {node.in(0), node.in(1), node.in(8), real(2), real(3), real(4), real(5), real(6), node.in(7)});
  results[0] = emit.cast(results[0], t);
  results[2] = emit.cast(results[2], t);
  results.resize(node.out_count());
  return results;
}

/// input_ids, segment_ids, five quantized tables, mask, their scales, their zero points -> output, mask_index
GANTRY_UPGRADE(kMicrosoft, "QEmbedLayerNormalization", since(1)) {
  const auto real = [&](std::size_t i) {
    if (!node.in(i)) return Value();
    const auto scalar = [&](const Value& p) { return p && p.rank() == 1 ? emit.reshape(p, {}) : p; };
    return emit.op("DequantizeLinear", {node.in(i), scalar(node.in(i + 6)), scalar(node.in(i + 11))});
  };
  std::vector<Value> results = normalized(
      node, emit, {node.in(0), node.in(1), Value(), real(2), real(3), real(4), real(5), real(6), node.in(7)});
  results.resize(node.out_count());
  return results;
}

}  // namespace transformer
