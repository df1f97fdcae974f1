// Regions of interest: RoiAlign, bilinear samples of each bin; MaxRoiPool, the largest element of each bin. Both read
// [regions, bins * samples] places an axis. Where the number of samples depends on the regions, all bins get the most
// that any has, and what a bin has not is masked. Operators: ONNX operator specification; ONNX Runtime,
// core/providers/cpu.
#include <limits>

#include "sampling.hpp"

namespace core_ops {
namespace {

constexpr double kLowest = std::numeric_limits<float>::lowest();

/// One axis of all regions: samples [regions, bins * each].
struct Axis {
  std::int64_t bins = 1;
  Extent each = 1;  // samples a bin
  Value valid;      // float32, 1 where a bin has the sample; none: everywhere
  Value share;      // 1 / samples of a bin, as [regions, 1, 1]
  Taps taps;
};

/// Column `i` of regions as [regions, 1, 1].
Value column(const Emit& emit, const Value& regions, std::int64_t i) {
  const Value c = emit.op("SLICE", {regions, emit.i32({0, i}), emit.i32({-1, 1})});
  return insert_axis(emit, c, 2);
}
Value as_row(const Emit& emit, const Value& v) { return emit.reshape(v, {1, 1, -1}); }

/// Bilinear taps as RoiAlign has them: up to one element outside counts as the outermost, what is beyond is zero.
Taps clamped_taps(const Emit& emit, const Image& image, std::size_t axis, const Value& y, const Value& factor) {
  const Operand size = as_float(emit, image.sizes[axis]);
  const Operand last = size.is_number() ? Operand(size.number() - 1) : Operand(emit.sub(size, 1));
  const auto [y_, size_] = emit.values(y, size);
  const Value inside = emit.op("LOGICAL_AND", {emit.op("GREATER_EQUAL", {y, emit.scalar(DType::float32, -1)}),
                                               emit.op("LESS_EQUAL", {y_, size_})});
  Value weight = emit.cast(inside, DType::float32);
  if (factor) weight = emit.mul(weight, factor);
  const Value at = emit.minimum(emit.maximum(y, 0), last), low = emit.op("FLOOR", {at});
  const Value high = emit.minimum(emit.add(low, 1), last), rest = emit.sub(at, low);
  const Value stride = stride_of(emit, image, axis).scalar(emit);
  const auto place = [&](const Value& v) { return emit.mul(emit.cast(v, DType::int32), stride); };
  return {{place(low), emit.mul(weight, emit.sub(1, rest))}, {place(high), emit.mul(weight, rest)}};
}

struct Align {
  double scale = 1, offset = 0;
  std::int64_t ratio = 0;
  bool average = true;
};

Axis align_axis(const Emit& emit, const Image& image, std::size_t axis, const Value& regions, std::int64_t bins,
                const Align& a) {
  Axis r;
  r.bins = bins;
  const auto corner = [&](std::int64_t i) { return emit.sub(emit.mul(column(emit, regions, i), a.scale), a.offset); };
  const auto first = static_cast<std::int64_t>(1 - axis);  // x1, y1, x2, y2
  const Value start = corner(first);
  Value length = emit.sub(corner(first + 2), start);
  if (a.offset == 0) length = emit.maximum(length, 1);
  const Value bin = emit.div(length, static_cast<double>(bins));
  Value count;  // samples a bin of each region
  if (a.ratio > 0) {
    r.each = a.ratio;
    count = emit.scalar(DType::float32, static_cast<double>(a.ratio));
  } else {
    count = emit.op("CEIL", {bin});
    const Value most = emit.op("REDUCE_MAX", {flat(emit, count), emit.i32({0})}, {{"keep_dims", false}});
    r.each = Extent(emit.cast(emit.maximum(most, 1), DType::int32));
  }
  const Value sample = as_row(emit, emit.cast(counting(emit, r.each), DType::float32));
  if (a.ratio <= 0) {
    r.valid = emit.cast(emit.op("LESS", {sample, count}), DType::float32);
    count = emit.maximum(count, 1);
  }
  // start + p * bin + (i + 0.5) * bin / count, [regions, bins, samples]
  const Value number = emit.reshape(emit.cast(counting(emit, bins), DType::float32), {1, -1, 1});
  const Value y =
      emit.add(emit.add(start, emit.mul(number, bin)), emit.div(emit.mul(emit.add(sample, 0.5), bin), count));
  Value factor = r.valid;
  if (a.average)
    factor = factor ? emit.div(factor, count) : emit.scalar(DType::float32, 1.0 / static_cast<double>(a.ratio));
  r.taps = clamped_taps(emit, image, axis, y, factor);
  return r;
}

/// [regions, bins, samples] of the rows as [regions, rows, 1], of the columns as [regions, 1, columns].
Value spread(const Emit& emit, const Value& v, const Extent& regions, const Axis& a, bool rows) {
  const Extent n = product(emit, {a.bins, a.each});
  return reshape_to(emit, v, rows ? Extents{regions, n, 1} : Extents{regions, 1, n});
}

/// [regions, bins * samples, bins * samples, c] reduced to [regions, bins, bins, c].
Value reduce_samples(const Emit& emit, std::string_view op, const Value& v, const Extent& regions, const Axis& y,
                     const Axis& x, std::int64_t channels) {
  const Attributes drop{{"keep_dims", false}};
  const Extent rows = product(emit, {regions, y.bins, y.each});
  const Value across = emit.op(op, {reshape_to(emit, v, {rows, x.bins, x.each, channels}), emit.i32({2})}, drop);
  const Extent left = product(emit, {regions, y.bins});
  const Value down = emit.op(op, {reshape_to(emit, across, {left, y.each, x.bins * channels}), emit.i32({1})}, drop);
  return reshape_to(emit, down, {regions, y.bins, x.bins, channels});
}

Value first_rows(const Emit& emit, const Image& image, const Value& batch) {
  return emit.reshape(emit.mul(as_int32(emit, batch), product(emit, image.sizes).scalar(emit)), {-1, 1, 1});
}

Results roi_align(const Node& node, const Emit& emit, bool half_pixel) {
  const Value x = node.in(0), regions = as_float32(emit, node.in(1));
  decline_if(x.dtype() != DType::float32 && x.dtype() != DType::float16, "RoiAlign of ", name_of(x.dtype()));
  decline_if(x.rank() != 4, "RoiAlign of rank ", x.rank());
  const std::string mode = node.attr("mode", "avg");
  decline_if(mode != "avg" && mode != "max", "mode '", mode, "' is not known");
  const Align a{node.attr("spatial_scale", 1.0), half_pixel ? 0.5 : 0.0, node.attr<std::int64_t>("sampling_ratio", 0),
                mode == "avg"};
  const Image image = image_of(emit, as_float32(emit, x));
  const Extent count = extent_of(emit, regions, 0);
  Axis rows = align_axis(emit, image, 0, regions, node.attr<std::int64_t>("output_height", 1), a);
  Axis columns = align_axis(emit, image, 1, regions, node.attr<std::int64_t>("output_width", 1), a);
  for (Tap& t : rows.taps) t = {spread(emit, t.place, count, rows, true), spread(emit, t.weight, count, rows, true)};
  for (Tap& t : columns.taps)
    t = {spread(emit, t.place, count, columns, false), spread(emit, t.weight, count, columns, false)};
  const Value first = first_rows(emit, image, node.in(2));
  const std::int64_t channels = x.dim(1);
  Value y;
  if (a.average) {
    const Value v = interpolate(emit, image, {rows.taps, columns.taps}, first);
    y = reduce_samples(emit, "SUM", v, count, rows, columns, channels);
  } else {  // the largest weighted tap, as ONNX Runtime has it
    Value v;
    for (const Value& tap : read_taps(emit, image, {rows.taps, columns.taps}, first))
      v = v ? emit.maximum(v, tap) : tap;
    if (rows.valid) {  // what is no sample is below all; a bin without samples is 0
      const auto all_bins = [&](const Axis& axis) {
        return emit.add(axis.valid, emit.numbers(DType::float32, {1, axis.bins, 1},
                                                 std::vector<double>(static_cast<std::size_t>(axis.bins), 0)));
      };
      const Value there = emit.mul(spread(emit, all_bins(rows), count, rows, true),
                                   spread(emit, all_bins(columns), count, columns, false));
      const Value mask = insert_axis(emit, emit.op("GREATER", {there, emit.scalar(DType::float32, 0)}), 3);
      v = emit.op("SELECT_V2", {mask, v, emit.scalar(DType::float32, kLowest)});
    }
    y = reduce_samples(emit, "REDUCE_MAX", v, count, rows, columns, channels);
    if (rows.valid) {
      const Value none = emit.op("EQUAL", {y, emit.scalar(DType::float32, kLowest)});
      y = emit.op("SELECT_V2", {none, emit.scalar(DType::float32, 0), y});
    }
  }
  return emit.transpose(emit.cast(y, x.dtype()), {0, 3, 1, 2});
}

}  // namespace

GANTRY_CONVERT(onnx, "RoiAlign", versions(10, 15), to(tflite)) { return roi_align(node, emit, false); }
GANTRY_CONVERT(onnx, "RoiAlign", since(16), to(tflite)) {
  const std::string mode = node.attr("coordinate_transformation_mode", "half_pixel");
  decline_if(mode != "half_pixel" && mode != "output_half_pixel", "coordinate_transformation_mode '", mode,
             "' is not known");
  return roi_align(node, emit, mode == "half_pixel");
}

namespace {

/// Half away from zero.
Value rounded(const Emit& emit, const Value& v) {
  return emit.mul(emit.op("SIGN", {v}), emit.op("FLOOR", {emit.add(emit.op("ABS", {v}), 0.5)}));
}

/// Bin p covers floor(p * size) to ceil((p + 1) * size) from the region's start, cut to the image; a bin reads its last
/// element again where others have more.
Axis pool_axis(const Emit& emit, const Image& image, std::size_t axis, const Value& regions, std::int64_t bins,
               double scale) {
  Axis r;
  r.bins = bins;
  const auto corner = [&](std::int64_t i) { return rounded(emit, emit.mul(column(emit, regions, i), scale)); };
  const auto at = static_cast<std::int64_t>(2 - axis);  // batch, x1, y1, x2, y2
  const Value start = corner(at);
  const Value length = emit.maximum(emit.add(emit.sub(corner(at + 2), start), 1), 1);
  const Value size = emit.div(length, static_cast<double>(bins));
  const Value number = emit.reshape(emit.cast(counting(emit, bins), DType::float32), {1, -1, 1});
  const Operand n = as_float(emit, image.sizes[axis]);
  const auto cut = [&](const Value& v) { return emit.minimum(emit.maximum(emit.add(v, start), 0), n); };
  const Value from = cut(emit.op("FLOOR", {emit.mul(number, size)}));
  const Value to = cut(emit.op("CEIL", {emit.mul(emit.add(number, 1), size)}));
  const Value covered = emit.sub(to, from);
  const Value most = emit.op("REDUCE_MAX", {flat(emit, covered), emit.i32({0})}, {{"keep_dims", false}});
  r.each = Extent(emit.cast(emit.maximum(most, 1), DType::int32));
  r.valid = emit.cast(emit.op("GREATER", {covered, emit.scalar(DType::float32, 0)}), DType::float32);
  const Value sample = as_row(emit, emit.cast(counting(emit, r.each), DType::float32));
  const Value step = emit.maximum(emit.minimum(sample, emit.sub(covered, 1)), 0);
  const Operand last = n.is_number() ? Operand(n.number() - 1) : Operand(emit.sub(n, 1));
  const Value place = emit.cast(emit.minimum(emit.add(from, step), last), DType::int32);
  r.taps = {{emit.mul(place, stride_of(emit, image, axis).scalar(emit)), {}}};
  return r;
}

}  // namespace

GANTRY_CONVERT(onnx, "MaxRoiPool", since(1), to(tflite)) {
  const Value x = node.in(0), regions = as_float32(emit, node.in(1));
  decline_if(x.dtype() != DType::float32 && x.dtype() != DType::float16, "MaxRoiPool of ", name_of(x.dtype()));
  const Dims bins = node.attr<Dims>("pooled_shape");
  decline_if(bins.size() != 2 || x.rank() != 4, "pooled_shape ", text(bins), " for ", text(x.dims()));
  const double scale = node.attr("spatial_scale", 1.0);
  const Image image = image_of(emit, as_float32(emit, x));
  const Extent count = extent_of(emit, regions, 0);
  Axis rows = pool_axis(emit, image, 0, regions, bins[0], scale),
       columns = pool_axis(emit, image, 1, regions, bins[1], scale);
  rows.taps[0].place = spread(emit, rows.taps[0].place, count, rows, true);
  columns.taps[0].place = spread(emit, columns.taps[0].place, count, columns, false);
  const Value first = first_rows(emit, image, column(emit, regions, 0));
  const Value v = interpolate(emit, image, {rows.taps, columns.taps}, first);
  const Value y = reduce_samples(emit, "REDUCE_MAX", v, count, rows, columns, x.dim(1));
  const Value there = emit.mul(reshape_to(emit, rows.valid, {count, bins[0], 1, 1}),
                               reshape_to(emit, columns.valid, {count, 1, bins[1], 1}));
  const Value filled = emit.op(
      "SELECT_V2", {emit.op("GREATER", {there, emit.scalar(DType::float32, 0)}), y, emit.scalar(DType::float32, 0)});
  return emit.transpose(emit.cast(filled, x.dtype()), {0, 3, 1, 2});
}

}  // namespace core_ops
