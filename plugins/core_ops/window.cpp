#include "window.hpp"

#include <algorithm>

namespace core_ops {
namespace {

/// Padding of auto_pad SAME_UPPER or SAME_LOWER for one axis: ceil(n / stride) windows.
void auto_pads(Window& w, std::size_t i, std::int64_t n, bool lower) {
  const std::int64_t out = (n + w.strides[i] - 1) / w.strides[i];
  const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * w.strides[i] + w.extent(i) - n);
  w.begin[i] = lower ? (total + 1) / 2 : total / 2;
  w.end[i] = total - w.begin[i];
}

void read_padding(const Node& node, Window& w, const Dims& spatial) {
  const std::string mode = node.attr("auto_pad", "NOTSET");
  if (mode == "VALID") return;
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (std::size_t i = 0; i < w.axes(); ++i) {
      if (spatial[i] >= 0) {
        auto_pads(w, i, spatial[i], mode == "SAME_LOWER");
      } else {
        // With stride 1 every size is padded alike.
        if (w.strides[i] == 1)
          auto_pads(w, i, w.extent(i), mode == "SAME_LOWER");
        else
          (mode == "SAME_LOWER" ? w.same_lower : w.same_upper) = true;
      }
    }
    return;
  }
  decline_if(mode != "NOTSET", "auto_pad '", mode, "' is not known");
  const Dims pads = node.attr("pads", Dims(2 * w.axes(), 0));
  decline_if(pads.size() != 2 * w.axes(), "pads ", text(pads), " for ", w.axes(), " spatial axes");
  for (std::size_t i = 0; i < w.axes(); ++i) {
    w.begin[i] = pads[i];
    w.end[i] = pads[i + w.axes()];
    decline_if(w.begin[i] < 0 || w.end[i] < 0, "negative pads ", text(pads));
  }
}

void apply_ceil_mode(Window& w, const Dims& spatial) {
  for (std::size_t i = 0; i < w.axes(); ++i) {
    if (w.strides[i] == 1) continue;
    if (spatial[i] < 0 || w.same_lower || w.same_upper) {
      w.open_ceil = true;
      continue;
    }
    const std::int64_t padded = spatial[i] + w.begin[i] + w.end[i], stride = w.strides[i];
    std::int64_t out = (padded - w.extent(i) + stride - 1) / stride + 1;
    if ((out - 1) * stride >= spatial[i] + w.begin[i]) --out;
    w.end[i] += std::max<std::int64_t>(0, (out - 1) * stride + w.extent(i) - padded);
  }
}

}  // namespace

Window read_window(const Node& node, const Dims& kernel, const Dims& spatial) {
  const Dims ones(kernel.size(), 1), zeros(kernel.size(), 0);
  Window w{kernel, node.attr("strides", ones), node.attr("dilations", ones), zeros, zeros};
  decline_if(
      w.strides.size() != kernel.size() || w.dilations.size() != kernel.size() || spatial.size() != kernel.size(),
      "strides ", text(w.strides), " and dilations ", text(w.dilations), " for ", kernel.size(), " spatial axes");
  for (std::size_t i = 0; i < kernel.size(); ++i)
    decline_if(w.strides[i] < 1 || w.dilations[i] < 1 || w.kernel[i] < 1,
               "strides, dilations and kernel must be positive");
  read_padding(node, w, spatial);
  w.ceil_mode = node.attr("ceil_mode", 0) != 0;
  if (w.ceil_mode) apply_ceil_mode(w, spatial);
  return w;
}

bool is_same_padding(const Window& w, const Dims& spatial) {
  for (std::size_t i = 0; i < w.axes(); ++i) {
    if (spatial[i] < 0) {
      if (w.same_upper) continue;
      if (w.strides[i] != 1 || w.begin[i] != (w.extent(i) - 1) / 2 || w.begin[i] + w.end[i] != w.extent(i) - 1)
        return false;
      continue;
    }
    Window same = w;
    auto_pads(same, i, spatial[i], false);
    const std::int64_t out = (spatial[i] + w.strides[i] - 1) / w.strides[i];
    if (same.begin[i] != w.begin[i] || window_count(w, i, spatial[i]) != out) return false;
  }
  return true;
}

OpenPadding open_padding(const Emit& emit, const Value& x, const Window& w) {
  OpenPadding p;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const Extent n = extent_of(emit, x, static_cast<int>(i) + 1);
    const std::int64_t stride = w.strides[i], extent = w.extent(i);
    // ceil(v / stride), and the reach of so many windows.
    const auto windows = [&](const Extent& v) { return over(emit, plus(emit, v, stride - 1), stride); };
    const auto reach = [&](const Extent& count) {
      return plus(emit, times(emit, less_by(emit, count, 1), stride), extent);
    };
    Extent begin = w.begin[i], end = w.end[i], extra = 0;
    if ((w.same_lower || w.same_upper) && n.value && stride != 1) {
      const Extent total = less_by(emit, reach(windows(n)), n);
      begin = halved(emit, w.same_lower ? plus(emit, total, 1) : total);
      end = less_by(emit, total, begin);
    }
    if (w.open_ceil && n.value && stride != 1) {
      const Extent left = plus(emit, n, begin), padded = plus(emit, left, end);
      // A window that would begin in the far padding is dropped.
      const Extent all = plus(emit, windows(less_by(emit, padded, extent)), 1),
                   within = plus(emit, over(emit, less_by(emit, left, 1), stride), 1);
      extra = less_by(emit, reach(smaller(emit, all, within)), padded);
    }
    p.begin.push_back(begin);
    p.end.push_back(end);
    p.extra.push_back(extra);
  }
  return p;
}

Value pad_open(const Emit& emit, const Value& x, const OpenPadding& p, double fill) {
  Extents pads{0, 0};
  Dims dims = x.dims();
  for (std::size_t i = 0; i < p.begin.size(); ++i) {
    pads.push_back(p.begin[i]);
    pads.push_back(plus(emit, p.end[i], p.extra[i]));
    dims[i + 1] = -1;
  }
  pads.insert(pads.end(), 2, Extent(0));
  const Value table = emit.reshape(vector_of(emit, pads), {x.rank(), 2});
  return emit.ops("PADV2", 1, {x, table, emit.scalar(x.dtype(), fill)}, {}, {Type{x.dtype(), dims}})[0];
}

namespace {

/// Pads for the spatial axes, which come after `before` others and before `after`.
Value pad_from(const Emit& emit, const Value& x, const Dims& begin, const Dims& end, double fill, std::size_t before,
               std::size_t after) {
  std::vector<std::int32_t> pads(2 * before, 0);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    pads.push_back(static_cast<std::int32_t>(begin[i]));
    pads.push_back(static_cast<std::int32_t>(end[i]));
  }
  pads.insert(pads.end(), 2 * after, 0);
  if (std::all_of(pads.begin(), pads.end(), [](std::int32_t p) { return p == 0; })) return x;
  const Value table = emit.constant<std::int32_t>({static_cast<std::int64_t>(begin.size()) + 2, 2}, pads);
  if (fill == 0) return emit.op("PAD", {x, table});
  return emit.op("PADV2", {x, table, emit.scalar(x.dtype(), fill)});
}

}  // namespace

Value pad_spatial(const Emit& emit, const Value& x, const Dims& begin, const Dims& end, double fill) {
  return pad_from(emit, x, begin, end, fill, 1, 1);
}

Value reduce_axis(const Emit& emit, std::string_view op, const Value& x, int axis, std::int64_t kernel,
                  std::int64_t stride, std::int64_t dilation) {
  if (kernel == 1 && stride == 1) return x;
  Extents sizes = extents_of(emit, x, 0, x.rank());
  const std::int64_t n = sizes[static_cast<std::size_t>(axis)].known;
  decline_if(n < 0, "windows of this kind need known spatial sizes; give input shapes with --shape");
  const std::int64_t count = (n - (kernel - 1) * dilation - 1) / stride + 1;
  std::vector<std::int32_t> places;
  for (std::int64_t o = 0; o < count; ++o)
    for (std::int64_t k = 0; k < kernel; ++k) places.push_back(static_cast<std::int32_t>(o * stride + k * dilation));
  const Extent before = product(emit, Extents(sizes.begin(), sizes.begin() + axis)),
               after = product(emit, Extents(sizes.begin() + axis + 1, sizes.end()));
  const Value windows =
      emit.op("GATHER", {reshape_to(emit, x, {before, n, after}), emit.constant<std::int32_t>({count, kernel}, places)},
              {{"axis", 1}, {"batch_dims", 0}});
  sizes[static_cast<std::size_t>(axis)] = count;
  return reshape_to(emit, emit.op(op, {windows, emit.i32({2})}, {{"keep_dims", false}}), sizes);
}

Value reduce_windows(const Emit& emit, std::string_view op, const Value& x, const Window& w, double fill) {
  decline_if(w.open() || w.same_upper, "padding needs known sizes; give input shapes with --shape");
  Value y = pad_from(emit, x, w.begin, w.end, fill, 2, 0);
  for (std::size_t i = 0; i < w.axes(); ++i)
    y = reduce_axis(emit, op, y, static_cast<int>(i) + 2, w.kernel[i], w.strides[i], w.dilations[i]);
  return y;
}

}  // namespace core_ops
