// ArgMax and ArgMin. Operators: ONNX operator specification, ArgMax, ArgMin.
#include "runtime.hpp"

namespace core_ops {
namespace {

struct Row {
  std::string_view op, target;
};

/// Elements of an axis from the last to the first.
Value reversed(const Emit& emit, const Value& x, int axis, const Extent& n) {
  const Value back = emit.sub(
      Extent(n.is_known() ? Extent(n.known - 1).scalar(emit) : emit.sub(n.value, 1)).scalar(emit), counting(emit, n));
  return gather(emit, x, back, axis);
}

/// The kernel gives the first of equal elements; the last is the first of the reversed axis, counted from its end.
Results arg(const Node& node, const Emit& emit, const Row& row) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const bool last = node.attr("select_last_index", 0) != 0;
  const Extent n = extent_of(emit, x, axis);
  const Value at = emit.constant<std::int32_t>({}, {axis});
  Value index = emit.op(row.target, {last ? reversed(emit, x, axis, n) : x, at}, {{"output_type", "INT64"}});
  if (last) index = emit.sub(emit.sub(emit.cast(n.scalar(emit), DType::int64), 1), index);
  return node.attr("keepdims", 1) ? insert_axis(emit, index, axis) : index;
}
constexpr Row kArg[] = {{"ArgMax", "ARG_MAX"}, {"ArgMin", "ARG_MIN"}};
GANTRY_TABLE(onnx, kArg, arg, since(1), to(tflite))

}  // namespace
}  // namespace core_ops
