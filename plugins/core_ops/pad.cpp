// Pad of every mode. Negative padding cuts first; what is left is padded: by PADV2 with a constant, by a GATHER along
// each padded axis otherwise. Padding and sizes may be known only at run time. Operator: ONNX operator specification,
// Pad; of a value that is cut and padded: ONNX Runtime, which cuts first.
#include <algorithm>

#include "slice.hpp"

namespace core_ops {
namespace {

constexpr int kKernelRank = 5;  // of PADV2 and SLICE

struct Padding {
  Dims begin, end;  // for every axis
};

Padding known_pads(const Node& node, int rank) {
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

/// x without what negative padding takes away.
Value cropped(const Emit& emit, const Value& x, const Padding& p) {
  Dims begin, end;
  bool cuts = false, known = true;
  for (std::size_t i = 0; i < p.begin.size(); ++i) {
    begin.push_back(std::max<std::int64_t>(0, -p.begin[i]));
    end.push_back(std::max<std::int64_t>(0, -p.end[i]));
    cuts = cuts || begin[i] || end[i];
    known = known && (x.dim(static_cast<int>(i)) >= 0 || end[i] == 0);
  }
  if (!cuts) return x;
  if (known) {
    std::vector<Cut> all;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      const std::int64_t n = x.dim(static_cast<int>(i));
      all.push_back({begin[i], 1, n < 0 ? -1 : std::max<std::int64_t>(0, n - begin[i] - end[i])});
    }
    return cut(emit, x, all);
  }
  Extents sizes;
  for (std::size_t i = 0; i < begin.size(); ++i)
    sizes.push_back(less_by(emit, extent_of(emit, x, static_cast<int>(i)), Extent(begin[i] + end[i])));
  return emit.op("SLICE", {x, emit.i32(begin), vector_of(emit, sizes)});
}

Value fill_of(const Emit& emit, const Value& fill, DType dtype) {
  return fill ? emit.reshape(fill, {1}) : emit.numbers(dtype, {1}, {0});
}

bool is_zero(const Value& fill) { return !fill || (fill.constant() && fill.scalar<double>() == 0); }

Value pad_constant(const Emit& emit, const Value& x, const Padding& p, const Value& fill) {
  std::vector<std::int32_t> table;
  bool grows = false;
  for (std::size_t i = 0; i < p.begin.size(); ++i)
    for (std::int64_t side : {p.begin[i], p.end[i]}) {
      table.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, side)));
      grows = grows || side > 0;
    }
  const Value kept = cropped(emit, x, p);
  if (!grows) return kept;
  const Value pads = emit.constant<std::int32_t>({static_cast<std::int64_t>(p.begin.size()), 2}, table);
  if (is_zero(fill) && x.dtype() != DType::boolean) return emit.op("PAD", {kept, pads});
  return emit.op("PADV2", {kept, pads, fill_of(emit, fill, x.dtype())});
}

/// Which source element stands at each place of a padded axis of size n >= 1.
std::vector<std::int32_t> source_indices(std::string_view mode, std::int64_t n, std::int64_t begin, std::int64_t end) {
  std::vector<std::int32_t> at;
  const std::int64_t period = mode == "wrap" ? n : std::max<std::int64_t>(1, 2 * (n - 1));
  for (std::int64_t i = -begin; i < n + end; ++i) {
    const std::int64_t k = ((i % period) + period) % period;
    at.push_back(static_cast<std::int32_t>(mode == "edge"   ? std::clamp<std::int64_t>(i, 0, n - 1)
                                           : mode == "wrap" ? k
                                                            : std::min(k, period - k)));
  }
  return at;
}

/// The same where sizes are computed: n, begin and end are int32 scalars. reflect mirrors at the outermost elements:
/// in a period of 2 (n - 1) places k and period - k are the same element.
Value source_indices(const Emit& emit, std::string_view mode, const Value& n, const Value& begin, const Value& end) {
  const Value one = emit.scalar(DType::int32, 1);
  const Value places = emit.op("RANGE", {emit.op("NEG", {begin}), emit.add(n, end), one});
  if (mode == "edge") return emit.minimum(emit.maximum(places, 0), emit.sub(n, one));
  if (mode == "wrap") return emit.op("FLOOR_MOD", {places, n});
  const Value period = emit.maximum(emit.mul(emit.sub(n, one), 2), 1);
  const Value k = emit.op("FLOOR_MOD", {places, period});
  return emit.minimum(k, emit.sub(period, k));
}

Value pad_repeating(const Emit& emit, const Value& x, const Padding& p, std::string_view mode) {
  Value y = cropped(emit, x, p);
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t begin = std::max<std::int64_t>(0, p.begin[static_cast<std::size_t>(i)]),
                       end = std::max<std::int64_t>(0, p.end[static_cast<std::size_t>(i)]), n = y.dim(i);
    if (begin == 0 && end == 0) continue;
    decline_if(n == 0, "mode '", mode, "' on an axis of size 0");
    if (n > 0) {
      const auto at = source_indices(mode, n, begin, end);
      y = gather(emit, y, emit.constant<std::int32_t>({static_cast<std::int64_t>(at.size())}, at), i);
    } else {
      const auto scalar = [&](std::int64_t v) { return emit.scalar(DType::int32, static_cast<double>(v)); };
      y = gather(emit, y, source_indices(emit, mode, extent_of(emit, y, i).scalar(emit), scalar(begin), scalar(end)),
                 i);
    }
  }
  return y;
}

/// Padding that is an operand of the run time: one number for the beginning of each axis, then one for the end of each.
Value pad_at_run_time(const Node& node, const Emit& emit, std::string_view mode) {
  const Value x = node.in(0), pads = int_vector(emit, node.in(1));
  const int rank = x.rank();
  decline_if(rank > kKernelRank, "pads of the run time at rank ", rank, "; the kernel takes 5");
  const std::int64_t count = length_of(pads) / 2;
  const Axes axes = read_axes(node, emit, 3, rank, count);
  const Value begin = spread(emit, part_of(emit, pads, 0, count), axes, rank, 0),
              end = spread(emit, part_of(emit, pads, count, count), axes, rank, 0);
  const auto negative = [&](const Value& v) { return emit.maximum(emit.op("NEG", {v}), 0); };
  const Value from = negative(begin);
  const Value size = emit.maximum(emit.sub(shape_of(emit, x), emit.add(from, negative(end))), 0);
  Value y = emit.op("SLICE", {x, from, size});
  const Value before = emit.maximum(begin, 0), after = emit.maximum(end, 0);
  if (mode == "constant") {
    const Value table = emit.op("PACK", {before, after}, {{"axis", 1}, {"values_count", 2}});
    return emit.op("PADV2", {y, table, fill_of(emit, node.in(2), x.dtype())});
  }
  for (int i = 0; i < rank; ++i)
    y = gather(emit, y,
               source_indices(emit, mode, element(emit, size, i).value, element(emit, before, i).value,
                              element(emit, after, i).value),
               i);
  return y;
}

}  // namespace

GANTRY_CONVERT(onnx, "Pad", since(11), to(tflite)) {
  const Value x = node.in(0), pads = node.in(1), axes = node.in(3);
  const std::string mode = node.attr("mode", "constant");
  decline_if(mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap", "mode '", mode,
             "' is not known");
  if (x.rank() == 0) return x;
  if ((pads && !pads.constant()) || (axes && !axes.constant())) return pad_at_run_time(node, emit, mode);
  const Padding p = known_pads(node, x.rank());
  return mode == "constant" ? pad_constant(emit, x, p, node.in(2)) : pad_repeating(emit, x, p, mode);
}

}  // namespace core_ops
