// Pools of 1, 2 and 3 spatial axes, and global pools. Operators: ONNX operator specification, MaxPool, AveragePool,
// Global*.
#include "pool.hpp"

#include <algorithm>
#include <limits>

namespace core_ops {
namespace {

/// A channels-last pool over two spatial axes without padding of its own.
Value pool2d(const Emit& emit, std::string_view op, const Value& x, const Dims& kernel, const Dims& strides,
             bool same) {
  return emit.op(op, {x},
                 {{"padding", same ? "SAME" : "VALID"},
                  {"filter_height", kernel[0]},
                  {"filter_width", kernel[1]},
                  {"stride_h", strides[0]},
                  {"stride_w", strides[1]},
                  no_activation()});
}

/// A pool of any number of spatial axes over an already padded channels-last value; pools are separable, so that three
/// axes are height and width first, then depth.
Value pool_valid(const Emit& emit, std::string_view op, const Value& x, const Window& w) {
  if (w.axes() == 2) return pool2d(emit, op, x, w.kernel, w.strides, false);
  if (w.axes() == 1)
    return remove_axis(emit, pool2d(emit, op, insert_axis(emit, x, 1), {1, w.kernel[0]}, {1, w.strides[0]}, false), 1);
  const Extent n = extent_of(emit, x, 0), d = extent_of(emit, x, 1), c = extent_of(emit, x, 4);
  const Value flat = reshape_to(emit, x, {product(emit, {n, d}), extent_of(emit, x, 2), extent_of(emit, x, 3), c});
  const Value planes = pool2d(emit, op, flat, {w.kernel[1], w.kernel[2]}, {w.strides[1], w.strides[2]}, false);
  const Extent h = extent_of(emit, planes, 1), wide = extent_of(emit, planes, 2);
  const Value columns = reshape_to(emit, planes, {n, d, product(emit, {h, wide}), c});
  const Value depth = pool2d(emit, op, columns, {w.kernel[0], 1}, {w.strides[0], 1}, false);
  return reshape_to(emit, depth, {n, extent_of(emit, depth, 1), h, wide, c});
}

Value channels_last(const Emit& emit, const Pool& p) { return emit.transpose(p.x, to_channels_last(p.rank)); }

Pool read_pool(const Node& node, const Emit& emit) {
  Pool p;
  p.rank = node.in(0).rank();
  decline_if(p.rank < 3 || p.rank > 5, node.op(), " of rank ", p.rank, "; there are 1 to 3 spatial axes");
  const Dims dims = node.in(0).dims();
  p.spatial.assign(dims.begin() + 2, dims.end());
  p.window = read_window(node, node.attr<Dims>("kernel_shape"), p.spatial);
  p.x = emit.cast(node.in(0), node.in(0).dtype() == DType::float16 ? DType::float32 : computed_in(node.in(0).dtype()));
  return p;
}

/// Whether TFLite's pools can do it: float32, no dilation. Others are reduced axis by axis.
bool is_plain(const Pool& p) { return p.x.dtype() == DType::float32 && !p.window.dilated(); }

/// Elements that one window reads along axis i, for each window: padding counts only if `with_padding`, and what
/// ceil_mode adds beyond it never does.
std::vector<double> coverage(const Pool& p, std::size_t i, std::int64_t declared_end, bool with_padding) {
  const Window& w = p.window;
  const std::int64_t lo = with_padding ? 0 : w.begin[i];
  const std::int64_t hi = w.begin[i] + p.spatial[i] + (with_padding ? declared_end : 0);
  std::vector<double> counts;
  for (std::int64_t o = 0, n = window_count(w, i, p.spatial[i]); o < n; ++o) {
    std::int64_t read = 0;
    for (std::int64_t k = 0; k < w.kernel[i]; ++k) {
      const std::int64_t at = o * w.strides[i] + k * w.dilations[i];
      if (at >= lo && at < hi) ++read;
    }
    decline_if(read == 0, "a window of an AveragePool lies in the padding");
    counts.push_back(static_cast<double>(read));
  }
  return counts;
}

/// Mean over whole windows of the zero-padded value times window size / read elements, as a constant [1, out..., 1], or
/// [out...] if channels are first.
Value correct_counts(const Emit& emit, const Value& y, const Pool& p, const Dims& declared_end, bool with_padding,
                     bool channels_first) {
  const std::size_t n = p.window.axes();
  std::vector<double> factor{1};
  Dims dims(channels_first ? 0 : 1, 1);
  bool plain = true;
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<double> counts = coverage(p, i, declared_end[i], with_padding);
    std::vector<double> next;
    for (double f : factor)
      for (double c : counts) {
        next.push_back(f * static_cast<double>(p.window.kernel[i]) / c);
        plain = plain && c == static_cast<double>(p.window.kernel[i]);
      }
    factor = next;
    dims.push_back(static_cast<std::int64_t>(counts.size()));
  }
  if (!channels_first) dims.push_back(1);
  return plain ? y : emit.mul(y, emit.numbers(y.dtype(), dims, factor));
}

/// The mean where sizes are not known: the same pool over ones says which part of each window counts.
Value average_open(const Emit& emit, const Pool& p, const Value& x, bool with_padding) {
  const OpenPadding padding = open_padding(emit, x, p.window);
  Extents spatial{1};
  for (std::size_t i = 0; i < p.window.axes(); ++i) {
    const Extent n = extent_of(emit, x, static_cast<int>(i) + 1);
    spatial.push_back(with_padding ? plus(emit, plus(emit, n, padding.begin[i]), padding.end[i]) : n);
  }
  spatial.emplace_back(1);
  const Value ones = emit.op("FILL", {vector_of(emit, spatial), emit.scalar(x.dtype(), 1)});
  OpenPadding around = padding;
  if (with_padding) around.begin = around.end = Extents(p.window.axes(), Extent(0));
  const Value counted = pool_valid(emit, "AVERAGE_POOL_2D", pad_open(emit, ones, around, 0), p.window);
  return emit.div(pool_valid(emit, "AVERAGE_POOL_2D", pad_open(emit, x, padding, 0), p.window), counted);
}

/// The padding that the node itself names, without what ceil_mode added.
Dims padding_end(const Node& node, const Window& w) {
  if (!w.ceil_mode) return w.end;
  const Dims pads = node.attr("pads", Dims(2 * w.axes(), 0));
  if (node.attr("auto_pad", "NOTSET") != "NOTSET") return w.end;
  return Dims(pads.begin() + static_cast<std::ptrdiff_t>(w.axes()), pads.end());
}

Value max_pool(const Emit& emit, const Pool& p) {
  if (!is_plain(p)) return reduce_windows(emit, "REDUCE_MAX", p.x, p.window, lowest_of(p.x.dtype()));
  const Value x = channels_last(emit, p);
  Value y;
  if (p.window.axes() == 2 && !p.window.open() && is_same_padding(p.window, p.spatial)) {
    y = pool2d(emit, "MAX_POOL_2D", x, p.window.kernel, p.window.strides, true);
  } else {
    const double lowest = lowest_of(x.dtype());
    const bool open = p.window.open() || p.window.same_upper;
    const Value padded = open ? pad_open(emit, x, open_padding(emit, x, p.window), lowest)
                              : pad_spatial(emit, x, p.window.begin, p.window.end, lowest);
    y = pool_valid(emit, "MAX_POOL_2D", padded, p.window);
  }
  return emit.transpose(y, to_channels_first(p.rank));
}

/// By TFLite's pool, in its layout.
Value average_plain(const Node& node, const Emit& emit, const Pool& p, bool with_padding) {
  const Window& w = p.window;
  const Value x = channels_last(emit, p);
  if (w.axes() == 2 && (!with_padding || !(w.padded() || w.same_upper)) && !w.open() && is_same_padding(w, p.spatial))
    return pool2d(emit, "AVERAGE_POOL_2D", x, w.kernel, w.strides, true);
  if (!Value::known(p.spatial) && (w.padded() || w.open() || w.same_upper))
    return average_open(emit, p, x, with_padding);
  const Value y = pool_valid(emit, "AVERAGE_POOL_2D", pad_spatial(emit, x, w.begin, w.end, 0), w);
  return w.padded() ? correct_counts(emit, y, p, padding_end(node, w), with_padding, false) : y;
}

}  // namespace

double lowest_of(DType t) {
  if (t == DType::int32) return std::numeric_limits<std::int32_t>::lowest();
  if (t == DType::int64) return static_cast<double>(std::numeric_limits<std::int64_t>::lowest());
  return -std::numeric_limits<double>::infinity();
}

GANTRY_CONVERT(onnx, "MaxPool", since(1), to(tflite)) {
  const Pool p = read_pool(node, emit);
  const bool indices = node.out_count() > 1 && node.out(1) && node.out(1).use_count() > 0;
  std::vector<Value> results = indices ? max_pool_with_indices(emit, p, node.attr("storage_order", 0) != 0)
                                       : std::vector<Value>{max_pool(emit, p)};
  results[0] = emit.cast(results[0], node.in(0).dtype());
  results.resize(node.out_count());
  return results;
}

GANTRY_CONVERT(onnx, "AveragePool", since(7), to(tflite)) {
  const Pool p = read_pool(node, emit);
  const bool with_padding = node.attr("count_include_pad", 0) != 0;
  Value y;
  if (is_plain(p)) {
    y = emit.transpose(average_plain(node, emit, p, with_padding), to_channels_first(p.rank));
  } else {
    y = reduce_windows(emit, "MEAN", p.x, p.window, 0);
    if (p.window.padded()) y = correct_counts(emit, y, p, padding_end(node, p.window), with_padding, true);
  }
  return emit.cast(y, node.in(0).dtype());
}

namespace {

struct GlobalRow {
  std::string_view op, target;
};
/// Over all spatial axes, kept with size 1; in the source's own layout.
Results global_pool(const Node& node, const Emit& emit, const GlobalRow& row) {
  Dims axes(static_cast<std::size_t>(std::max(0, node.in(0).rank() - 2)));
  std::iota(axes.begin(), axes.end(), 2);
  return emit.op(row.target, {node.in(0), emit.i32(axes)}, {{"keep_dims", true}});
}
constexpr GlobalRow kGlobal[] = {{"GlobalAveragePool", "MEAN"}, {"GlobalMaxPool", "REDUCE_MAX"}};
GANTRY_TABLE(onnx, kGlobal, global_pool, since(1), to(tflite))

}  // namespace
}  // namespace core_ops
