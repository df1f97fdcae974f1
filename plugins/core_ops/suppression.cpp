// NonMaxSuppression by LiteRT's NON_MAX_SUPPRESSION_V4, one for each batch and class. That kernel suppresses at
// IoU >= threshold where ONNX says >: it is given the next larger float. It takes equal scores in no certain order: it
// is given the boxes sorted, with the numbers n, n - 1, ... as scores, and 0 for what is not above the threshold.
// Operator: ONNX operator specification, NonMaxSuppression; ONNX Runtime, core/providers/cpu/object_detection.
#include <cmath>
#include <limits>

#include "carrier.hpp"
#include "elements.hpp"

namespace core_ops {
namespace {

/// [x_center, y_center, width, height] to opposite corners [y1, x1, y2, x2].
Value corners_of(const Emit& emit, const Value& boxes) {
  const auto part = emit.ops("SPLIT", 4, {emit.constant<std::int32_t>({}, {2}), boxes}, {{"num_splits", 4}});
  const Value w = emit.mul(part[2], 0.5), h = emit.mul(part[3], 0.5);
  return emit.op("CONCATENATION",
                 {emit.sub(part[1], h), emit.sub(part[0], w), emit.add(part[1], h), emit.add(part[0], w)},
                 {{"axis", 2}, no_activation()});
}

/// The next float above a threshold, as a scalar.
Value above(const Emit& emit, const Value& threshold) {
  if (!threshold) return emit.scalar(DType::float32, std::numeric_limits<float>::min());
  if (threshold.constant()) {
    const float t = threshold.scalar<float>();
    const float next = std::nextafter(t, std::numeric_limits<float>::infinity());
    return emit.constant<float>({}, {std::max(next, std::numeric_limits<float>::min())});
  }
  const Value bits = bitcast(emit, emit.reshape(threshold, {}), DType::int32);
  return emit.maximum(bitcast(emit, emit.add(bits, 1), DType::float32), std::numeric_limits<float>::min());
}

/// How many boxes of a class may be taken, never more than there are.
Value most_boxes(const Emit& emit, const Value& wanted, const Extent& boxes) {
  if (wanted.constant()) {
    const auto most = wanted.scalar<std::int64_t>();
    decline_if(most <= 0, "max_output_boxes_per_class is ", most, ": nothing would be selected");
    if (boxes.is_known())
      return emit.constant<std::int32_t>({}, {static_cast<std::int32_t>(std::min(most, boxes.known))});
    return emit.minimum(boxes.value,
                        static_cast<double>(std::min<std::int64_t>(most, std::numeric_limits<std::int32_t>::max())));
  }
  const Value limit = emit.minimum(emit.reshape(wanted, {}), emit.cast(boxes.scalar(emit), DType::int64));
  return emit.cast(emit.maximum(limit, 0), DType::int32);
}

}  // namespace

GANTRY_CONVERT(onnx, "NonMaxSuppression", since(10), to(tflite)) {
  Value boxes = node.in(0);
  const Value scores = node.in(1), threshold = node.in(4);
  decline_if(!node.in(2), "without max_output_boxes_per_class nothing is selected");
  const std::int64_t batches = scores.dim(0), classes = scores.dim(1);
  decline_if(batches < 1 || classes < 1, "scores of ", text(scores.dims()),
             ": the numbers of batches and classes must be known; give input shapes with --shape");
  const Extent n = extent_of(emit, scores, 2);
  const std::int64_t lists = batches * classes;
  if (node.attr("center_point_box", 0) != 0) boxes = corners_of(emit, boxes);

  // Sorted by score: order [lists, n], boxes [lists, n, 4], and scores that fall by 1.
  const Sorted sorted = top_k(emit, reshape_to(emit, scores, {lists, n}), n.scalar(emit));
  Dims batch_of;
  for (std::int64_t i = 0; i < lists; ++i) batch_of.push_back(i / classes);
  if (lists > 1 || batches != lists) boxes = pick(emit, boxes, emit.i32(batch_of), 0, 0);
  boxes = pick(emit, boxes, sorted.indices, 1, 1);
  const Value falling = emit.cast(emit.sub(n.scalar(emit), counting(emit, n)), DType::float32);
  Value rank;
  if (threshold) {
    const Value good = emit.op("GREATER", {sorted.values, emit.reshape(threshold, {1, 1})});
    rank = emit.mul(emit.cast(good, DType::float32), falling);
  } else {
    rank = emit.add(emit.mul(emit.cast(sorted.indices, DType::float32), 0), falling);
  }

  const Value most = most_boxes(emit, node.in(2), n), iou = above(emit, node.in(3)),
              none = emit.scalar(DType::float32, 0);
  const auto count = static_cast<std::size_t>(lists);
  const auto box_list = emit.ops("UNPACK", count, {boxes}, {{"num", lists}, {"axis", 0}});
  const auto rank_list = emit.ops("UNPACK", count, {rank}, {{"num", lists}, {"axis", 0}});
  std::vector<Value> selected, found;
  for (std::size_t i = 0; i < count; ++i) {
    const auto r = emit.ops("NON_MAX_SUPPRESSION_V4", 2, {box_list[i], rank_list[i], most, iou, none});
    selected.push_back(r[0]);
    found.push_back(r[1]);
  }
  const auto pack = [&](const std::vector<Value>& v) {
    return emit.op("PACK", v, {{"values_count", lists}, {"axis", 0}});
  };

  // Places (list, i) with i < found[list], in order; then batch, class and box of each.
  const Value index = pack(selected);
  const Extent width = most.constant() ? Extent(most.scalar<std::int64_t>()) : Extent(most);
  const Value valid =
      emit.op("LESS", {emit.reshape(counting(emit, width), {1, -1}), emit.reshape(pack(found), {-1, 1})});
  const Value at = emit.cast(emit.op("WHERE", {valid}), DType::int32);
  const Value box = emit.op("GATHER_ND", {pick(emit, sorted.indices, index, 1, 1), at});
  const Value list = emit.op("SLICE", {at, emit.i32({0, 0}), emit.i32({-1, 1})});
  Dims class_of;
  for (std::int64_t i = 0; i < lists; ++i) class_of.push_back(i % classes);
  const Value columns = emit.op("CONCATENATION",
                                {pick(emit, emit.i32(batch_of), list, 0, 0), pick(emit, emit.i32(class_of), list, 0, 0),
                                 emit.reshape(box, {-1, 1})},
                                {{"axis", 1}, no_activation()});
  return emit.cast(columns, DType::int64);
}

}  // namespace core_ops
