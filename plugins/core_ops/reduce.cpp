// Reductions and ArgMax, ArgMin, CumSum. Axes are operand 1 in newer opsets, an attribute in older ones; none means
// all, unless noop_with_empty_axes. Operators: ONNX operator specification, Reduce*.
#include "common.hpp"

namespace core_ops {
namespace {

/// Axes of a reduction in [0, rank); nullopt where the node only passes its operand on.
std::optional<Dims> reduced_axes(const Node& node) {
  const int rank = node.in(0).rank();
  Dims axes = ints(node, 1, "axes").value_or(Dims{});
  if (axes.empty()) {
    if (node.attr("noop_with_empty_axes", 0)) return std::nullopt;
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::int64_t& a : axes) a = normalize_axis(a, rank);
  return axes;
}

Value reduce(const Node& node, const Emit& emit, std::string_view target, const Value& x) {
  const auto axes = reduced_axes(node);
  if (!axes || axes->empty()) return x;
  return emit.op(target, {x, emit.i32(*axes)}, {{"keep_dims", node.attr("keepdims", 1) != 0}});
}

using Step = Value (*)(const Emit&, const Value&);
Value itself(const Emit&, const Value& v) { return v; }
Value square(const Emit& emit, const Value& v) { return emit.mul(v, v); }
Value absolute(const Emit& emit, const Value& v) { return emit.op("ABS", {v}); }
Value square_root(const Emit& emit, const Value& v) { return emit.op("SQRT", {v}); }
Value logarithm(const Emit& emit, const Value& v) { return emit.op("LOG", {v}); }

/// result = after(reduce(before(x)))
struct Row {
  std::string_view op, target;
  Step before = itself, after = itself;
};
Results reduction(const Node& node, const Emit& emit, const Row& row) {
  return row.after(emit, reduce(node, emit, row.target, row.before(emit, node.in(0))));
}
constexpr Row kReductions[] = {
    {"ReduceMean", "MEAN"},
    {"ReduceSum", "SUM"},
    {"ReduceProd", "REDUCE_PROD"},
    {"ReduceMax", "REDUCE_MAX"},
    {"ReduceMin", "REDUCE_MIN"},
    {"ReduceL1", "SUM", absolute},
    {"ReduceL2", "SUM", square, square_root},
    {"ReduceSumSquare", "SUM", square},
    {"ReduceLogSum", "SUM", itself, logarithm},
};
GANTRY_TABLE(onnx, kReductions, reduction, since(1), to(tflite))

}  // namespace

/// log(sum(exp(x))), shifted by the maximum so that exp does not overflow.
GANTRY_CONVERT(onnx, "ReduceLogSumExp", since(1), to(tflite)) {
  const Value x = node.in(0);
  const auto axes = reduced_axes(node);
  if (!axes || axes->empty()) return x;
  const Value top = emit.op("REDUCE_MAX", {x, emit.i32(*axes)}, {{"keep_dims", true}});
  const Value sum = reduce(node, emit, "SUM", emit.op("EXP", {emit.sub(x, top)}));
  return emit.add(emit.op("LOG", {sum}),
                  node.attr("keepdims", 1) ? top : emit.op("REDUCE_MAX", {x, emit.i32(*axes)}, {{"keep_dims", false}}));
}

namespace {

struct ArgRow {
  std::string_view op, target;
};
Results arg(const Node& node, const Emit& emit, const ArgRow& row) {
  const Value x = node.in(0);
  decline_if(node.attr("select_last_index", 0) != 0,
             "select_last_index = 1: TFLite gives the first index of equal values");
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const Value index = emit.op(row.target, {x, emit.constant<std::int32_t>({}, {axis})}, {{"output_type", "INT64"}});
  return node.attr("keepdims", 1) ? insert_axis(emit, index, axis) : index;
}
constexpr ArgRow kArg[] = {{"ArgMax", "ARG_MAX"}, {"ArgMin", "ARG_MIN"}};
GANTRY_TABLE(onnx, kArg, arg, since(1), to(tflite))

}  // namespace

GANTRY_CONVERT(onnx, "CumSum", since(11), to(tflite)) {
  const int axis = normalize_axis(node.in(1).scalar<std::int64_t>(), node.in(0).rank());
  return emit.op("CUMSUM", {node.in(0), emit.constant<std::int32_t>({}, {axis})},
                 {{"exclusive", node.attr("exclusive", 0) != 0}, {"reverse", node.attr("reverse", 0) != 0}});
}

}  // namespace core_ops
