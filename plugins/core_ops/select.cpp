// Operators that pick or surround elements: Slice, Gather, Pad. Operators: ONNX operator specification, ai.onnx.
#include <algorithm>
#include <limits>

#include "common.hpp"

namespace core_ops {
namespace {

/// One axis of a Slice, brought to what is in range: `size` elements from `start`, `step` apart.
struct Cut {
  std::int64_t start = 0, step = 1, size = 0;
};

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

/// A step-1 cut is SLICE; STRIDED_SLICE otherwise, where an end before the first element needs the mask.
Value slice(const Emit& emit, const Value& x, const std::vector<Cut>& cuts) {
  Dims begin, size, end, strides;
  std::int64_t end_mask = 0;
  bool whole = true, plain = true;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Cut& c = cuts[i];
    const std::int64_t n = x.dim(static_cast<int>(i));
    const std::int64_t last = c.start + c.step * c.size;
    begin.push_back(c.start);
    size.push_back(c.size);
    strides.push_back(c.step);
    end.push_back(std::max<std::int64_t>(last, 0));
    if (last < 0) end_mask |= std::int64_t{1} << i;
    whole = whole && c.start == 0 && c.step == 1 && (c.size == n || c.size == -1);
    plain = plain && c.step == 1;
  }
  if (whole) return x;
  if (plain) return emit.op("SLICE", {x, emit.i32(begin), emit.i32(size)});
  return emit.op("STRIDED_SLICE", {x, emit.i32(begin), emit.i32(end), emit.i32(strides)}, {{"end_mask", end_mask}});
}

}  // namespace

GANTRY_CONVERT(onnx, "Slice", since(10), to(tflite)) {
  const Value x = node.in(0);
  const Dims starts = node.in(1).read<std::int64_t>(), ends = node.in(2).read<std::int64_t>();
  Dims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = ints(node, 3, "").value_or(axes);
  const Dims steps = ints(node, 4, "").value_or(Dims(starts.size(), 1));
  std::vector<Cut> cuts;
  for (std::int64_t n : x.dims()) cuts.push_back({0, 1, n});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = normalize_axis(axes[i], x.rank());
    const std::int64_t n = x.dim(axis);
    Cut& cut = cuts[static_cast<std::size_t>(axis)];
    if (n >= 0) {
      cut = resolve_cut(n, starts[i], ends[i], steps[i]);
    } else {
      decline_if(steps[i] != 1 || starts[i] < 0 || ends[i] < std::numeric_limits<std::int32_t>::max(), "axis ", axis,
                 " of unknown size is cut; give input shapes with --shape");
      cut = {starts[i], 1, -1};
    }
  }
  return slice(emit, x, cuts);
}

/// Negative indices count from the end; constants are brought into range, others by a SELECT.
GANTRY_CONVERT(onnx, "Gather", since(1), to(tflite)) {
  const Value x = node.in(0);
  Value indices = node.in(1);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const std::int64_t n = x.dim(axis);
  if (indices.constant()) {
    Dims at = indices.read<std::int64_t>();
    for (std::int64_t& i : at) {
      decline_if(i < 0 && n < 0, "negative indices into an axis of unknown size");
      if (i < 0) i += n;
      decline_if(i < 0 || (n >= 0 && i >= n), "an index is out of range for an axis of size ", n);
    }
    indices = emit.constant<std::int32_t>(indices.dims(), std::vector<std::int32_t>(at.begin(), at.end()));
  } else {
    decline_if(n < 0, "indices that may be negative into an axis of unknown size");
    const Value wrapped = emit.add(indices, static_cast<double>(n));
    indices = emit.op("SELECT_V2", {emit.op("LESS", {indices, emit.scalar(indices.dtype(), 0)}), wrapped, indices});
  }
  return emit.op("GATHER", {x, indices}, {{"axis", axis}, {"batch_dims", 0}});
}

namespace {

struct Padding {
  Dims begin, end;  // for every axis
};

Padding read_pads(const Node& node, int rank) {
  const auto n = static_cast<std::size_t>(rank);
  Dims pads = *ints(node, 1, "pads"), axes(n);
  std::iota(axes.begin(), axes.end(), 0);
  axes = ints(node, 3, "").value_or(axes);
  decline_if(pads.size() != 2 * axes.size(), pads.size(), " pads for ", axes.size(), " axes");
  Padding p{Dims(n, 0), Dims(n, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(normalize_axis(axes[i], rank));
    p.begin[axis] = pads[i];
    p.end[axis] = pads[i + axes.size()];
  }
  return p;
}

/// Which source element stands at each place of a padded axis, for the modes that repeat elements.
std::vector<std::int32_t> source_indices(std::string_view mode, std::int64_t n, std::int64_t begin, std::int64_t end) {
  std::vector<std::int32_t> at;
  for (std::int64_t i = -begin; i < n + end; ++i) {
    std::int64_t k = i;
    if (mode == "edge") {
      k = std::clamp<std::int64_t>(i, 0, n - 1);
    } else if (mode == "wrap") {
      k = ((i % n) + n) % n;
    } else {  // reflect: mirrored at the outermost elements, which are not repeated
      const std::int64_t period = n > 1 ? 2 * (n - 1) : 1;
      k = ((i % period) + period) % period;
      if (k >= n) k = period - k;
    }
    at.push_back(static_cast<std::int32_t>(k));
  }
  return at;
}

Value pad_constant(const Emit& emit, const Value& x, const Padding& p, const Value& fill) {
  std::vector<std::int32_t> table;
  std::vector<Cut> cuts;
  bool grows = false;
  for (std::size_t i = 0; i < p.begin.size(); ++i) {
    const std::int64_t n = x.dim(static_cast<int>(i)), from = std::max<std::int64_t>(0, -p.begin[i]),
                       less = std::max<std::int64_t>(0, -p.end[i]);
    decline_if((from || less) && n < 0, "negative pads on an axis of unknown size");
    cuts.push_back({from, 1, n < 0 ? -1 : std::max<std::int64_t>(0, n - from - less)});
    for (std::int64_t side : {p.begin[i], p.end[i]}) {
      table.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, side)));
      grows = grows || side > 0;
    }
  }
  const Value kept = slice(emit, x, cuts);
  if (!grows) return kept;
  const Value pads = emit.constant<std::int32_t>({static_cast<std::int64_t>(p.begin.size()), 2}, table);
  const bool zero = !fill || (fill.constant() && fill.scalar<double>() == 0);
  if (zero) return emit.op("PAD", {kept, pads});
  return emit.op("PADV2", {kept, pads, emit.reshape(fill, {1})});
}

}  // namespace

GANTRY_CONVERT(onnx, "Pad", since(11), to(tflite)) {
  const Value x = node.in(0);
  const std::string mode = node.attr("mode", "constant");
  const Padding p = read_pads(node, x.rank());
  if (mode == "constant") return pad_constant(emit, x, p, node.in(2));
  decline_if(mode != "edge" && mode != "reflect" && mode != "wrap", "mode '", mode, "' is not known");
  Value y = x;
  for (std::size_t i = 0; i < p.begin.size(); ++i) {
    if (p.begin[i] == 0 && p.end[i] == 0) continue;
    const std::int64_t n = x.dim(static_cast<int>(i));
    decline_if(n < 1, "mode '", mode, "' on an axis of size ", n, "; give input shapes with --shape");
    const auto at = source_indices(mode, n, p.begin[i], p.end[i]);
    y = emit.op("GATHER", {y, emit.constant<std::int32_t>({static_cast<std::int64_t>(at.size())}, at)},
                {{"axis", static_cast<std::int64_t>(i)}, {"batch_dims", 0}});
  }
  return y;
}

}  // namespace core_ops
