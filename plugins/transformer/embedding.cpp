// EmbedLayerNormalization: word, position and segment embeddings, summed and normalised.
#include "sizes.hpp"

namespace transformer {

/// input_ids, segment_ids, word_embedding, position_embedding, segment_embedding, gamma, beta, mask, position_ids ->
/// output, mask_index (how many of the mask's numbers are 1), embedding_sum
GANTRY_UPGRADE(kMicrosoft, "EmbedLayerNormalization", since(1)) {
  const Value ids = node.in(0), mask = node.in(7);
  const DType t = node.in(2).dtype();
  const auto rows = [&](std::size_t table, const Value& at) {
    return emit.op("Gather", {widened(emit, node.in(table)), at}, {{"axis", 0}});
  };
  const Value places = node.in(8) ? node.in(8) : positions_along(emit, ids, 1);
  Value sum = emit.add(rows(2, ids), rows(3, places));
  if (node.in(1)) sum = emit.add(sum, rows(4, node.in(1)));
  const Value y = emit.op("LayerNormalization", {sum, widened(emit, node.in(5)), widened(emit, node.in(6))},
                          {{"axis", -1}, {"epsilon", node.attr("epsilon", 1e-12f)}});
  std::vector<Value> results{emit.cast(y, t), Value(), emit.cast(sum, t)};
  if (wanted(node, 1)) {
    const Value one = emit.scalar(DType::int32, 1);
    const Value words =
        mask ? emit.cast(emit.op("Equal", {mask, one}), DType::int32) : emit.mul(emit.cast(ids, DType::int32), 0);
    results[1] = emit.op("ReduceSum", {words, emit.i64({1})}, {{"keepdims", 0}});
  }
  results.resize(node.out_count());
  return results;
}

}  // namespace transformer
