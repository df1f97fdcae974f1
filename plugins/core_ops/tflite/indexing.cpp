// TFLite operators that pick, place, order and count elements. Limits: LiteRT, tflite/kernels/<operator>.cc.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

std::optional<std::int64_t> known_scalar(const Value& v) {
  return v && v.constant() ? std::optional(v.scalar<std::int64_t>()) : std::nullopt;
}

/// The maker says the element type; the width is the same.
void infer_bitcast(const Node& node, const Infer& infer) { infer.set(0, node.out(0).dtype(), node.in(0).type().dims); }

/// WHERE(x): places that are not zero, [found, rank].
void infer_where(const Node& node, const Infer& infer) { infer.set(0, DType::int64, Dims{-1, node.in(0).rank()}); }

/// TOPK_V2(x, k) along the last axis: values and their places.
void infer_top_k(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  decline_if(dims.empty(), "TOPK_V2 takes rank 1 and up");
  dims.back() = known_scalar(node.in(1)).value_or(-1);
  infer.set(0, node.in(0).dtype(), dims);
  infer.set(1, DType::int32, dims);
}

/// ONE_HOT(indices, depth, on, off): the new axis is axis, or the last.
void infer_one_hot(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  const int axis = normalize_axis(node.attr<std::int64_t>("axis", -1), node.in(0).rank() + 1);
  dims.insert(dims.begin() + axis, known_scalar(node.in(1)).value_or(-1));
  infer.set(0, node.in(2).dtype(), dims);
}

/// SCATTER_ND(indices, updates, shape): sums where indices are equal.
void infer_scatter_nd(const Node& node, const Infer& infer) {
  const Value shape = node.in(2);
  if (shape.constant()) return infer.set(0, node.in(1).dtype(), shape.read<std::int64_t>());
  infer.set(0, node.in(1).dtype(), Dims(static_cast<std::size_t>(shape.static_dims().at(0)), -1));
}

/// UNSORTED_SEGMENT_*(data, segment_ids, num_segments).
void infer_segments(const Node& node, const Infer& infer) {
  const Dims data = node.in(0).dims();
  Dims dims{known_scalar(node.in(2)).value_or(-1)};
  dims.insert(dims.end(), data.begin() + node.in(1).rank(), data.end());
  infer.set(0, node.in(0).dtype(), dims);
}

/// NON_MAX_SUPPRESSION_V4(boxes, scores, max_output_size, iou_threshold, score_threshold): indices, their number.
void infer_suppression(const Node& node, const Infer& infer) {
  infer.set(0, DType::int32, Dims{known_scalar(node.in(2)).value_or(-1)});
  infer.set(1, DType::int32, Dims{});
}

/// UNPACK(x) along axis.
void infer_unpack(const Node& node, const Infer& infer) {
  Dims dims = node.in(0).dims();
  dims.erase(dims.begin() + normalize_axis(node.attr<std::int64_t>("axis", 0), node.in(0).rank()));
  for (std::size_t i = 0; i < node.out_count(); ++i) infer.set(i, node.in(0).dtype(), dims);
}

constexpr auto kSegmented = types(DType::float32, DType::int32);

}  // namespace

GANTRY_DEFINE(tflite, "BITCAST", layout("* -> *"), infer(infer_bitcast))
GANTRY_DEFINE(tflite, "WHERE", layout("fixed: yields places in the logical order"), infer(infer_where),
              limits(rank(1, 8)),
              operand_types(DType::boolean, DType::float32, DType::int64, DType::int32, DType::int8, DType::uint8,
                            DType::uint32))
GANTRY_DEFINE(tflite, "TOPK_V2", layout("fixed: two results along the last axis"), infer(infer_top_k),
              limits(types(DType::float32, DType::uint8, DType::int8, DType::int16, DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "ONE_HOT", layout("fixed: makes an axis"), infer(infer_one_hot),
              limits(types(DType::float32, DType::int32, DType::int64, DType::int8, DType::uint8, DType::boolean)))
GANTRY_DEFINE(tflite, "SCATTER_ND", layout("fixed: indices name several axes"), infer(infer_scatter_nd),
              limits(types(DType::float32, DType::uint8, DType::boolean, DType::int8, DType::int64, DType::int32)))
GANTRY_DEFINE(tflite, "UNSORTED_SEGMENT_MAX", layout("fixed: places are data"), infer(infer_segments),
              limits(kSegmented))
GANTRY_DEFINE(tflite, "UNSORTED_SEGMENT_MIN", layout("fixed: places are data"), infer(infer_segments),
              limits(kSegmented))
GANTRY_DEFINE(tflite, "UNSORTED_SEGMENT_PROD", layout("fixed: places are data"), infer(infer_segments),
              limits(kSegmented))
GANTRY_DEFINE(tflite, "UNSORTED_SEGMENT_SUM", layout("fixed: places are data"), infer(infer_segments),
              limits(kSegmented))
GANTRY_DEFINE(tflite, "NON_MAX_SUPPRESSION_V4", layout("fixed: boxes are data"), infer(infer_suppression))
GANTRY_DEFINE(tflite, "REVERSE_SEQUENCE", layout("fixed: names two axes"), infer(infer_like_first),
              limits(types(DType::float32, DType::uint8, DType::int16, DType::int32, DType::int64)))
GANTRY_DEFINE(tflite, "UNPACK", layout("fixed: drops an axis"), infer(infer_unpack),
              limits(types(DType::float32, DType::int8, DType::uint8, DType::int16, DType::int32, DType::boolean)))
GANTRY_DEFINE(tflite, "LOCAL_RESPONSE_NORMALIZATION", layout("n h w C! -> n h w C!"), infer(infer_like_first),
              limits(rank(4, 4), types(DType::float32)))
