// Operators that make elements from few: Expand, Tile, ConstantOfShape, Range, and the sizes of values: Shape, Size.
// Operators: ONNX operator specification, ai.onnx.
#include <algorithm>

#include "runtime.hpp"

namespace core_ops {

/// Broadcast in both directions: a size of 1 in the shape leaves the operand's.
GANTRY_CONVERT(onnx, "Expand", since(8), to(tflite)) {
  const Value x = node.in(0), out = node.out();
  if (out.is_static()) {
    const Dims dims = out.dims();
    if (x.is_static() && x.elements() == out.elements()) return emit.reshape(x, dims);
    return emit.op("BROADCAST_TO", {x, emit.i32(dims)});
  }
  length_of(node.in(1));
  const Value shape = int_vector(emit, node.in(1)), own = shape_of(emit, x);
  return emit.op("BROADCAST_TO", {x, emit.op("BROADCAST_ARGS", {own, shape})});
}

GANTRY_CONVERT(onnx, "Tile", since(6), to(tflite)) {
  const Value x = node.in(0), repeats = node.in(1);
  if (!repeats.constant()) return emit.op("TILE", {x, int_vector(emit, repeats)});
  const Dims times = repeats.read<std::int64_t>();
  if (std::all_of(times.begin(), times.end(), [](std::int64_t t) { return t == 1; })) return x;
  return emit.op("TILE", {x, emit.i32(times)});
}

namespace {

/// Sizes of the axes from attribute start up to attribute end.
std::pair<std::int64_t, std::int64_t> range_of(const Node& node) {
  const int rank = node.in(0).rank();
  const auto clamp = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = clamp(node.attr<std::int64_t>("start", 0));
  return {start, std::max(start, clamp(node.attr<std::int64_t>("end", rank)))};
}

}  // namespace

GANTRY_CONVERT(onnx, "Shape", since(1), to(tflite)) {
  const auto [start, end] = range_of(node);
  const Value all = emit.op("SHAPE", {node.in(0)}, {{"out_type", "INT64"}});
  if (start == 0 && end == node.in(0).rank()) return all;
  return emit.op("SLICE", {all, emit.i32({start}), emit.i32({end - start})});
}

GANTRY_CONVERT(onnx, "Size", since(1), to(tflite)) {
  const Value x = node.in(0);
  if (x.is_static()) return emit.constant<std::int64_t>({}, {x.elements()});
  return emit.op("REDUCE_PROD", {emit.op("SHAPE", {x}, {{"out_type", "INT64"}}), emit.i32({0})},
                 {{"keep_dims", false}});
}

GANTRY_CONVERT(onnx, "ConstantOfShape", since(9), to(tflite)) {
  const Value fill = node.has_attr("value") ? node.attr<Value>("value") : emit.constant<float>({1}, {0.0f});
  return emit.op("FILL", {node.in(0), emit.reshape_constant(fill, {})});
}

/// start, start + delta, ... before limit. A limit on the wrong side gives nothing, where the kernel gives an error: it
/// is brought to start.
GANTRY_CONVERT(onnx, "Range", since(11), to(tflite)) {
  const DType t = node.in(0).dtype(), wide = computed_in(t);
  const auto operand = [&](std::size_t i) { return emit.reshape(emit.cast(node.in(i), wide), {}); };
  const Value start = operand(0), delta = operand(2);
  Value limit = operand(1);
  if (node.in(2).constant()) {
    const auto step = node.in(2).scalar<double>();
    decline_if(step == 0, "Range with a step of 0");
    limit = step > 0 ? emit.maximum(limit, start) : emit.minimum(limit, start);
  } else {
    limit = emit.op("SELECT_V2", {emit.op("GREATER", {delta, emit.scalar(wide, 0)}), emit.maximum(limit, start),
                                  emit.minimum(limit, start)});
  }
  return emit.cast(emit.op("RANGE", {start, limit, delta}), t);
}

}  // namespace core_ops
