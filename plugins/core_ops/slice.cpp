// Slice. What is known is brought into range and cut by SLICE; the rest is left to STRIDED_SLICE, which counts negative
// places from the end and clamps at run time as ONNX does. Operator: ONNX operator specification, Slice.
#include "slice.hpp"

#include <algorithm>
#include <limits>

namespace core_ops {
namespace {

constexpr int kKernelRank = 5;  // of SLICE and STRIDED_SLICE

Cut resolve_cut(std::int64_t n, std::int64_t start, std::int64_t end, std::int64_t step) {
  decline_if(step == 0, "a step of 0");
  if (n == 0) return {};
  const std::int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? n : n - 1;
  const auto bound = [&](std::int64_t x) { return std::clamp(x < 0 ? x + n : x, lo, hi); };
  // INT64_MIN and the like: the addition must not overflow.
  const auto safe = [&](std::int64_t x) { return std::max(x, -n - 1); };
  const std::int64_t b = std::max<std::int64_t>(bound(safe(start)), 0), e = bound(safe(end));
  const std::int64_t size = step > 0 ? (e - b + step - 1) / step : (b - e - step - 1) / -step;
  return {b, step, std::max<std::int64_t>(0, size)};
}

/// Ranks beyond the kernels': every axis that is cut is a GATHER.
Value by_gathers(const Emit& emit, Value x, const std::vector<Cut>& cuts) {
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Cut& c = cuts[i];
    if (c.start == 0 && c.step == 1 && (c.size == x.dim(static_cast<int>(i)) || c.size == -1)) continue;
    decline_if(c.size < 0, "a cut of an axis of unknown size at rank ", x.rank());
    Dims at;
    for (std::int64_t k = 0; k < c.size; ++k) at.push_back(c.start + k * c.step);
    x = emit.op("GATHER", {x, emit.i32(at)}, {{"axis", static_cast<std::int64_t>(i)}, {"batch_dims", 0}});
  }
  return x;
}

/// What is left to the kernel: the rows of STRIDED_SLICE's operands.
struct Bounds {
  Value begin, end, strides;
};

/// A start before the first element is the first also where a step goes backwards; the kernel's is then before it.
Value not_before_first(const Emit& emit, const Value& begin, const Value& x) {
  if (!x.is_static()) return emit.maximum(begin, emit.op("NEG", {shape_of(emit, x)}));
  Dims negative = x.dims();
  for (std::int64_t& n : negative) n = -n;
  return emit.maximum(begin, emit.i32(negative));
}

Value strided_slice(const Emit& emit, const Value& x, const Bounds& b) {
  return emit.op("STRIDED_SLICE", {x, b.begin, b.end, b.strides});
}

/// Every number in range or "-1: the rest", where sizes and operands are known so far; nullopt if they are not.
std::optional<std::vector<Cut>> known_cuts(const Node& node) {
  const Value x = node.in(0), steps_in = node.in(4);
  for (std::size_t i = 1; i < node.in_count(); ++i)
    if (node.in(i) && !node.in(i).constant()) return std::nullopt;
  const Dims starts = node.in(1).read<std::int64_t>(), ends = node.in(2).read<std::int64_t>();
  Dims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = ints(node, 3, "").value_or(axes);
  const Dims steps = steps_in ? steps_in.read<std::int64_t>() : Dims(starts.size(), 1);
  decline_if(ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size(),
             "starts, ends, axes and steps differ in length");
  std::vector<Cut> cuts;
  for (std::int64_t n : x.dims()) cuts.push_back({0, 1, n});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = normalize_axis(axes[i], x.rank());
    const std::int64_t n = x.dim(axis);
    Cut& cut = cuts[static_cast<std::size_t>(axis)];
    if (n >= 0) {
      cut = resolve_cut(n, starts[i], ends[i], steps[i]);
    } else {
      // A start beyond the end would be an error of SLICE: only what certainly is within may stay here.
      if (steps[i] != 1 || starts[i] != 0 || ends[i] < std::numeric_limits<std::int32_t>::max()) return std::nullopt;
      cut = {0, 1, -1};
    }
  }
  return cuts;
}

}  // namespace

Value cut(const Emit& emit, const Value& x, const std::vector<Cut>& cuts) {
  Dims begin, size, end, strides;
  std::int64_t end_mask = 0;
  bool whole = true, plain = true;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Cut& c = cuts[i];
    const std::int64_t n = x.dim(static_cast<int>(i));
    const std::int64_t last = c.start + c.step * (c.size < 0 ? std::numeric_limits<std::int32_t>::max() : c.size);
    begin.push_back(c.start);
    size.push_back(c.size);
    strides.push_back(c.step);
    end.push_back(std::max<std::int64_t>(last, 0));
    if (last < 0) end_mask |= std::int64_t{1} << i;
    whole = whole && c.start == 0 && c.step == 1 && (c.size == n || c.size == -1);
    plain = plain && c.step == 1;
  }
  if (whole) return x;
  if (x.rank() > kKernelRank) return by_gathers(emit, x, cuts);
  if (plain) return emit.op("SLICE", {x, emit.i32(begin), emit.i32(size)});
  return emit.op("STRIDED_SLICE", {x, emit.i32(begin), emit.i32(end), emit.i32(strides)}, {{"end_mask", end_mask}});
}

GANTRY_CONVERT(onnx, "Slice", since(10), to(tflite)) {
  const Value x = node.in(0), steps_in = node.in(4);
  if (const auto cuts = known_cuts(node)) return cut(emit, x, *cuts);
  const std::int64_t count = length_of(node.in(1));
  const Axes axes = read_axes(node, emit, 3, x.rank(), count);
  Value steps = steps_in ? int_vector(emit, steps_in) : emit.i32(Dims(static_cast<std::size_t>(count), 1));
  Bounds b{spread(emit, int_vector(emit, node.in(1)), axes, x.rank(), 0),
           spread(emit, int_vector(emit, node.in(2)), axes, x.rank(), std::numeric_limits<std::int32_t>::max()),
           spread(emit, steps, axes, x.rank(), 1)};
  bool forwards = !steps_in;
  if (steps_in && steps_in.constant()) {
    const Dims by = steps_in.read<std::int64_t>();
    forwards = std::all_of(by.begin(), by.end(), [](std::int64_t s) { return s > 0; });
  }
  if (!forwards) b.begin = not_before_first(emit, b.begin, x);
  return strided_slice(emit, x, b);
}

}  // namespace core_ops
