// Operators of ai.onnx by an earlier or another name.
#include "sizes.hpp"

namespace transformer {
namespace {

struct Row {
  std::string_view op, target;
};
Results same(const Node& node, const Emit& emit, const Row& row) {
  return emit.ops(row.target, node.out_count(), node.ins(), attributes_of(node));
}
constexpr Row kSame[] = {{"GatherND", "GatherND"}, {"Trilu", "Trilu"}, {"SampleOp", "Identity"}};
GANTRY_TABLE(kMicrosoft, kSame, same, to(onnx))

/// A scalar that may be written as a vector of one element.
Value scalar_of(const Emit& emit, const Value& v) { return v && v.rank() != 0 ? emit.reshape(v, {}) : v; }

}  // namespace

/// The axis is a scalar of int32.
GANTRY_UPGRADE(kMicrosoft, "ExpandDims", since(1)) {
  decline_if(!node.in(1).constant(), "an axis of the run time");
  return unsqueeze(emit, node.in(0), {node.in(1).scalar<std::int64_t>()});
}

/// pads may be [1, n].
GANTRY_UPGRADE(kMicrosoft, "Pad", since(1)) {
  std::vector<Value> operands{node.in(0), node.in(1).rank() == 1 ? node.in(1) : emit.reshape(node.in(1), {-1})};
  if (node.in(2)) operands.push_back(scalar_of(emit, node.in(2)));
  return emit.op("Pad", operands, {{"mode", node.attr("mode", "constant")}});
}

/// delta is 1 where it is absent.
GANTRY_UPGRADE(kMicrosoft, "Range", since(1)) {
  const Value start = scalar_of(emit, node.in(0));
  const Value delta = node.in(2) ? scalar_of(emit, node.in(2)) : emit.scalar(start.dtype(), 1);
  return emit.op("Range", {start, scalar_of(emit, node.in(1)), delta});
}

/// In the order of occurrence; results are values, place of each element among them, how often each occurs.
GANTRY_UPGRADE(kMicrosoft, "Unique", since(1)) {
  const std::vector<Value> u = emit.ops("Unique", 4, {node.in(0)}, {{"sorted", 0}});
  std::vector<Value> results{u[0], u[2], u[3]};
  results.resize(node.out_count());
  return results;
}

GANTRY_UPGRADE(kMicrosoft, "GridSample", since(1)) {
  const auto mode = node.attr("mode", "bilinear");
  return emit.op("GridSample", {node.in(0), node.in(1)},
                 {{"mode", mode == "bilinear"  ? "linear"
                           : mode == "bicubic" ? "cubic"
                                               : mode.c_str()},
                  {"padding_mode", node.attr("padding_mode", "zeros")},
                  {"align_corners", node.attr("align_corners", 0)}});
}

/// Rows of the first operand.
GANTRY_UPGRADE(kMicrosoft, "TorchEmbedding", since(1)) {
  return emit.op("Gather", {node.in(0), node.in(1)}, {{"axis", 0}});
}

/// Windows of `size` along an axis, `step` apart; places in a window are a new last axis.
GANTRY_UPGRADE(kMicrosoft, "UnfoldTensor", since(1)) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("dim", -1), x.rank());
  const auto size = node.attr<std::int64_t>("size"), step = node.attr<std::int64_t>("step", 1), all = x.dim(axis);
  decline_if(all < 0 || step < 1 || size < 1 || size > all, "windows of ", size, " in steps of ", step, " of ", all);
  const std::int64_t windows = (all - size) / step + 1;
  decline_if(windows > (1 << 24) / size, windows, " windows of ", size);
  Dims at;
  for (std::int64_t w = 0; w < windows; ++w)
    for (std::int64_t i = 0; i < size; ++i) at.push_back(w * step + i);
  const Value y = emit.op("Gather", {x, emit.constant<std::int64_t>({windows, size}, at)}, {{"axis", axis}});
  Dims perm;
  for (int i = 0; i <= x.rank(); ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  return emit.transpose(y, perm);
}

/// No operand has a number that is not finite; or only no infinity, only no NaN.
GANTRY_UPGRADE(kMicrosoft, "IsAllFinite", since(1)) {
  const bool only_inf = node.attr("isinf_only", 0) != 0, only_nan = node.attr("isnan_only", 0) != 0;
  decline_if(only_inf && only_nan, "isinf_only and isnan_only");
  std::vector<Value> counts;
  decline_if(node.in_count() == 0, "there are no operands");
  for (const Value& x : node.ins()) {
    Value bad = only_nan ? Value() : emit.op("IsInf", {x});
    if (!only_inf) {
      const Value nan = emit.op("IsNaN", {x});
      bad = bad ? emit.op("Or", {bad, nan}) : nan;
    }
    const Value flat = emit.op("Reshape", {emit.cast(bad, DType::float32), emit.i64({-1})});
    counts.push_back(emit.op("ReduceSum", {flat}, {{"keepdims", 0}}));
  }
  Value all = counts[0];
  for (std::size_t i = 1; i < counts.size(); ++i) all = emit.add(all, counts[i]);
  return emit.op("Equal", {all, emit.scalar(DType::float32, 0)});
}

/// data + bias + residual; at inference nothing is dropped.
GANTRY_UPGRADE(kMicrosoft, "BiasDropout", since(1)) {
  const Value training = node.in(4);
  decline_if(training && (!training.constant() || training.scalar<bool>()), "training_mode");
  Value y = emit.add(node.in(0), node.in(1));
  if (node.in(2)) y = emit.add(y, node.in(2));
  std::vector<Value> results{y};
  decline_if(wanted(node, 1), "the mask of what was dropped is used");
  results.resize(node.out_count());
  return results;
}

/// Softmax of data + bias over the axes from `axis` on, together.
GANTRY_UPGRADE(kMicrosoft, "BiasSoftmax", since(1)) {
  const Value x = emit.add(node.in(0), node.in(1));
  const int axis = normalize_axis(node.attr("axis", 1), x.rank());
  if (axis == x.rank() - 1) return emit.op("Softmax", {x}, {{"axis", -1}});
  const Value rows = emit.op("Softmax", {emit.op("Flatten", {x}, {{"axis", axis}})}, {{"axis", -1}});
  return emit.op("Reshape", {rows, emit.op("Shape", {x})});
}

}  // namespace transformer
