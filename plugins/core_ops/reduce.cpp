// Reductions and CumSum. Axes are operand 1 in newer opsets, an attribute in older ones; none means all, unless
// noop_with_empty_axes. Operators: ONNX operator specification, Reduce*.
#include <cmath>
#include <limits>

#include "runtime.hpp"

namespace core_ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Dims all_axes(int rank) {
  Dims axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// Axes of the run time, of which there may be none: then they stand for all. With none of them in the list, a slice of
/// all axes is as long as the rank, else empty.
Value or_all(const Emit& emit, const Value& axes, int rank) {
  const Value empty = emit.op("EQUAL", {shape_of(emit, axes), emit.i32({0})});
  const Value size = emit.mul(emit.cast(empty, DType::int32), rank);
  return joined(emit, {axes, emit.op("SLICE", {emit.i32(all_axes(rank)), emit.i32({0}), size})});
}

/// Axes of a reduction as an int32 vector, which the kernels take with negative ones too; nullopt where the node only
/// passes its operand on.
std::optional<Value> reduced_axes(const Node& node, const Emit& emit) {
  const int rank = node.in(0).rank();
  const Value given = node.in(1);
  const bool keeps_all = node.attr("noop_with_empty_axes", 0) != 0;
  if (given && !given.constant() && !(given.rank() == 1 && given.dim(0) == 0)) {
    const bool counted = given.rank() == 0 || given.dim(0) > 0;
    const Value axes = int_vector(emit, given);
    if (counted || keeps_all) return axes;
    return or_all(emit, axes, rank);
  }
  Dims axes = given && given.constant() ? given.read<std::int64_t>() : node.attr("axes", Dims{});
  if (axes.empty()) {
    if (keeps_all) return std::nullopt;
    axes = all_axes(rank);
  }
  for (std::int64_t& a : axes) a = normalize_axis(a, rank);
  if (axes.empty()) return std::nullopt;
  return emit.i32(axes);
}

Value reduce(const Node& node, const Emit& emit, std::string_view target, const Value& x, bool keep) {
  const auto axes = reduced_axes(node, emit);
  if (!axes) return x;
  decline_if(!keep && !axes->constant() && axes->dim(0) < 0 && !node.out().ranked(),
             "how many axes go, and with it the rank, is not known");
  return emit.op(target, {x, *axes}, {{"keep_dims", keep}});
}

using Step = Value (*)(const Emit&, const Value&);
Value itself(const Emit&, const Value& v) { return v; }
Value square(const Emit& emit, const Value& v) { return emit.mul(v, v); }
Value absolute(const Emit& emit, const Value& v) { return emit.op("ABS", {v}); }
Value square_root(const Emit& emit, const Value& v) { return emit.op("SQRT", {v}); }
Value logarithm(const Emit& emit, const Value& v) { return emit.op("LOG", {v}); }

/// result = after(reduce(before(x))); `empty` is what no elements give, `truth` the kernel for booleans.
struct Row {
  std::string_view op, target;
  Step before = itself, after = itself;
  double empty = 0;
  std::string_view truth = {};
};

/// What no elements give, as constants; nullopt if there are elements, or that is not known.
std::optional<Value> of_nothing(const Node& node, const Emit& emit, double empty) {
  const Value x = node.in(0), out = node.out();
  if (!x.is_static() || x.elements() != 0 || !out.is_static() || out.elements() == 0) return std::nullopt;
  decline_if(std::isnan(empty) && !is_float(out.dtype()), "a mean of no integers");
  return emit.numbers(out.dtype(), out.dims(), std::vector<double>(static_cast<std::size_t>(out.elements()), empty));
}

Results reduction(const Node& node, const Emit& emit, const Row& row) {
  const Value x = node.in(0);
  const bool truth = x.dtype() == DType::boolean;
  decline_if(truth && row.truth.empty(), node.op(), " of booleans");
  if (const auto y = of_nothing(node, emit, truth ? row.empty > 0 : row.empty)) return *y;
  if (truth) return reduce(node, emit, row.truth, x, node.attr("keepdims", 1) != 0);
  return row.after(emit, reduce(node, emit, row.target, row.before(emit, x), node.attr("keepdims", 1) != 0));
}
constexpr Row kReductions[] = {
    {"ReduceMean", "MEAN", itself, itself, std::numeric_limits<double>::quiet_NaN()},
    {"ReduceSum", "SUM"},
    {"ReduceProd", "REDUCE_PROD", itself, itself, 1},
    {"ReduceMax", "REDUCE_MAX", itself, itself, -kInfinity, "REDUCE_ANY"},
    {"ReduceMin", "REDUCE_MIN", itself, itself, kInfinity, "REDUCE_ALL"},
    {"ReduceL1", "SUM", absolute},
    {"ReduceL2", "SUM", square, square_root},
    {"ReduceSumSquare", "SUM", square},
    {"ReduceLogSum", "SUM", itself, logarithm, -kInfinity},
};
GANTRY_TABLE(onnx, kReductions, reduction, since(1), to(tflite))

}  // namespace

/// log(sum(exp(x))), shifted by the maximum so that exp does not overflow; by a finite one, so that infinities stay.
GANTRY_CONVERT(onnx, "ReduceLogSumExp", since(1), to(tflite)) {
  const Value x = node.in(0);
  if (const auto y = of_nothing(node, emit, -kInfinity)) return *y;
  const auto axes = reduced_axes(node, emit);
  if (!axes) return x;
  const bool keep = node.attr("keepdims", 1) != 0;
  constexpr double kFinite = std::numeric_limits<float>::max();
  const auto top = [&](bool k) {
    return emit.maximum(emit.minimum(reduce(node, emit, "REDUCE_MAX", x, k), kFinite), -kFinite);
  };
  const Value sum = reduce(node, emit, "SUM", emit.op("EXP", {emit.sub(x, top(true))}), keep);
  return emit.add(emit.op("LOG", {sum}), top(keep));
}

/// The axis may be an operand of the run time; the kernel counts negative ones from the end.
GANTRY_CONVERT(onnx, "CumSum", since(11), to(tflite)) {
  const Value x = node.in(0), axis = node.in(1);
  const Value at = axis.constant()
                       ? emit.constant<std::int32_t>({}, {normalize_axis(axis.scalar<std::int64_t>(), x.rank())})
                       : emit.reshape(saturated(emit, axis), {1});
  return emit.op("CUMSUM", {x, at},
                 {{"exclusive", node.attr("exclusive", 0) != 0}, {"reverse", node.attr("reverse", 0) != 0}});
}

}  // namespace core_ops
