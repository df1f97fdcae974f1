// Pools of 1, 2 and 3 spatial axes, and global pools. Operators: ONNX operator specification, MaxPool, AveragePool,
// Global*.
#include <algorithm>
#include <limits>

#include "runtime.hpp"
#include "window.hpp"

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

struct Pool {
  Window window;
  Value x;  // channels-last
  Dims spatial;
  int rank = 0;
};

Pool read_pool(const Node& node, const Emit& emit) {
  Pool p;
  p.rank = node.in(0).rank();
  decline_if(p.rank < 3 || p.rank > 5, node.op(), " of rank ", p.rank, "; there are 1 to 3 spatial axes");
  const Dims dims = node.in(0).dims();
  p.spatial.assign(dims.begin() + 2, dims.end());
  p.window = read_window(node, node.attr<Dims>("kernel_shape"), p.spatial);
  for (std::int64_t d : p.window.dilations) decline_if(d != 1, "TFLite's pools have no dilation");
  p.x = emit.transpose(node.in(0), to_channels_last(p.rank));
  return p;
}

/// Elements that one window covers along axis i, for each window: padding counts only if `with_padding`, and what
/// ceil_mode adds beyond it never does.
std::vector<double> coverage(const Pool& p, std::size_t i, std::int64_t declared_end, bool with_padding) {
  const Window& w = p.window;
  const std::int64_t lo = with_padding ? 0 : w.begin[i];
  const std::int64_t hi = w.begin[i] + p.spatial[i] + (with_padding ? declared_end : 0);
  std::vector<double> counts;
  for (std::int64_t o = 0, n = window_count(w, i, p.spatial[i]); o < n; ++o) {
    const std::int64_t start = o * w.strides[i];
    counts.push_back(static_cast<double>(std::min(start + w.kernel[i], hi) - std::max(start, lo)));
  }
  return counts;
}

/// Mean over whole windows of the zero-padded value times window size / covered elements, as a constant [1, out..., 1].
Value correct_counts(const Emit& emit, const Value& y, const Pool& p, const Dims& declared_end, bool with_padding) {
  const std::size_t n = p.window.axes();
  std::vector<double> factor{1};
  Dims dims{1};
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
  dims.push_back(1);
  return plain ? y : emit.mul(y, emit.numbers(y.dtype(), dims, factor));
}

/// The mean where sizes are not known: the same pool over ones says which part of each window counts.
Value average_open(const Emit& emit, const Pool& p, bool with_padding) {
  const OpenPadding padding = open_padding(emit, p.x, p.window);
  Extents spatial{1};
  for (std::size_t i = 0; i < p.window.axes(); ++i) {
    const Extent n = extent_of(emit, p.x, static_cast<int>(i) + 1);
    spatial.push_back(with_padding ? plus(emit, plus(emit, n, padding.begin[i]), padding.end[i]) : n);
  }
  spatial.emplace_back(1);
  const Value ones = emit.op("FILL", {vector_of(emit, spatial), emit.scalar(p.x.dtype(), 1)});
  OpenPadding around = padding;
  if (with_padding) around.begin = around.end = Extents(p.window.axes(), Extent(0));
  const Value counted = pool_valid(emit, "AVERAGE_POOL_2D", pad_open(emit, ones, around, 0), p.window);
  return emit.div(pool_valid(emit, "AVERAGE_POOL_2D", pad_open(emit, p.x, padding, 0), p.window), counted);
}

/// The padding that the node itself names, without what ceil_mode added.
Dims padding_end(const Node& node, const Window& w) {
  if (!w.ceil_mode) return w.end;
  const Dims pads = node.attr("pads", Dims(2 * w.axes(), 0));
  if (node.attr("auto_pad", "NOTSET") != "NOTSET") return w.end;
  return Dims(pads.begin() + static_cast<std::ptrdiff_t>(w.axes()), pads.end());
}

}  // namespace

GANTRY_CONVERT(onnx, "MaxPool", since(1), to(tflite)) {
  decline_if(node.out_count() > 1 && node.out(1) && node.out(1).use_count() > 0,
             "TFLite's MAX_POOL_2D gives no indices");
  const Pool p = read_pool(node, emit);
  Value y;
  if (p.window.axes() == 2 && !p.window.open() && is_same_padding(p.window, p.spatial)) {
    y = pool2d(emit, "MAX_POOL_2D", p.x, p.window.kernel, p.window.strides, true);
  } else {
    constexpr double kLowest = -std::numeric_limits<double>::infinity();
    const bool open = p.window.open() || p.window.same_upper;
    const Value padded = open ? pad_open(emit, p.x, open_padding(emit, p.x, p.window), kLowest)
                              : pad_spatial(emit, p.x, p.window.begin, p.window.end, kLowest);
    y = pool_valid(emit, "MAX_POOL_2D", padded, p.window);
  }
  std::vector<Value> results{emit.transpose(y, to_channels_first(p.rank))};
  results.resize(node.out_count());
  return results;
}

GANTRY_CONVERT(onnx, "AveragePool", since(7), to(tflite)) {
  const Pool p = read_pool(node, emit);
  const bool with_padding = node.attr("count_include_pad", 0) != 0;
  Value y;
  if (p.window.axes() == 2 && (!with_padding || !(p.window.padded() || p.window.same_upper)) && !p.window.open() &&
      is_same_padding(p.window, p.spatial)) {
    y = pool2d(emit, "AVERAGE_POOL_2D", p.x, p.window.kernel, p.window.strides, true);
  } else if (!Value::known(p.spatial) && (p.window.padded() || p.window.open() || p.window.same_upper)) {
    y = average_open(emit, p, with_padding);
  } else {
    y = pool_valid(emit, "AVERAGE_POOL_2D", pad_spatial(emit, p.x, p.window.begin, p.window.end, 0), p.window);
    if (p.window.padded()) {
      y = correct_counts(emit, y, p, padding_end(node, p.window), with_padding);
    }
  }
  return emit.transpose(y, to_channels_first(p.rank));
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
