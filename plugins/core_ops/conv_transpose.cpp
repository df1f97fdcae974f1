// ConvTranspose of 1, 2 and 3 spatial axes. The kernel is run so that it yields the whole result of every tap,
// in[n] -> (n - 1) * stride + extent; padding then cuts it, output_padding beyond that adds rows that only hold the
// bias. Weights: ONNX [i, o / group, k...]; TRANSPOSE_CONV [o, kh, kw, i]; CONV_3D_TRANSPOSE [kd, kh, kw, o, i].
// Operator: ONNX operator specification, ConvTranspose.
#include <algorithm>

#include "runtime.hpp"
#include "window.hpp"

namespace core_ops {
namespace {

/// One entry for each spatial axis. All but the sizes themselves is known, whatever the sizes are.
struct Plan {
  Extents full;  // size of the whole result
  Dims before;   // elements cut at the beginning; negative: rows missing there
  Dims after;    // the same at the end
  Window window;

  Extent batch = 1;
};

/// The padding that pads, auto_pad or output_shape ask for. The result has full + output_padding - begin - end
/// elements.
Plan make_plan(const Node& node, const Emit& emit, const Dims& kernel) {
  Plan p;
  const Value x = node.in(0);
  p.batch = extent_of(emit, x, 0);
  const std::size_t n = kernel.size();
  const Dims extra = node.attr("output_padding", Dims(n, 0)), wanted = node.attr("output_shape", Dims{});
  const std::string mode = node.attr("auto_pad", "NOTSET");
  const Dims ones(n, 1), pads = node.attr("pads", Dims(2 * n, 0));
  p.window = {kernel, node.attr("strides", ones), node.attr("dilations", ones), Dims(n, 0), Dims(n, 0)};
  const Window& w = p.window;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t in = x.dim(static_cast<int>(i) + 2), stride = w.strides[i], extent = w.extent(i);
    const Extent size = extent_of(emit, x, static_cast<int>(i) + 2);
    std::int64_t begin = mode == "VALID" ? 0 : pads[i], end = mode == "VALID" ? 0 : pads[n + i];
    if (!wanted.empty() || mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      decline_if(!wanted.empty() && in < 0, "output_shape needs known sizes; give input shapes with --shape");
      // (in - 1) * stride + extent + extra less the result: in * stride, or what is wanted.
      const std::int64_t total = wanted.empty() ? extent - stride + extra[i]
                                                : (in - 1) * stride + extent + extra[i] - wanted[wanted.size() - n + i];
      decline_if(total < 0 && wanted.empty(), "auto_pad with a stride above the kernel");
      // What is missing is added at the end.
      begin = total < 0 ? 0 : mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    }
    decline_if(in >= 0 && (in - 1) * stride + extent + extra[i] - begin - end < 1, "padding ", begin, " and ", end,
               " leaves nothing");
    // (in - 1) * stride + extent, without a negative number on the way.
    p.full.push_back(extent >= stride ? plus(emit, times(emit, size, stride), extent - stride)
                                      : less_by(emit, times(emit, size, stride), stride - extent));
    p.before.push_back(begin);
    p.after.push_back(end - extra[i]);
  }
  return p;
}

/// dilation - 1 zeros after each tap of one axis, but not after the last.
Value dilated_axis(const Emit& emit, const Value& weights, std::size_t axis, std::int64_t dilation) {
  Dims dims = weights.static_dims();
  const auto at = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t taps = *at;
  if (dilation == 1 || taps == 1) return weights;
  const std::int64_t outer = std::accumulate(dims.begin(), at, std::int64_t{1}, std::multiplies<>()),
                     inner = std::accumulate(at + 1, dims.end(), std::int64_t{1}, std::multiplies<>());
  const Value table =
      emit.constant<std::int32_t>({4, 2}, {0, 0, 0, 0, 0, static_cast<std::int32_t>(dilation) - 1, 0, 0});
  const Value spaced = emit.op("PAD", {emit.reshape(weights, {outer, taps, 1, inner}), table});
  const std::int64_t extent = (taps - 1) * dilation + 1;
  const Value whole = emit.reshape(spaced, {outer, taps * dilation, inner});
  const Value cut = emit.op("SLICE", {whole, emit.i32({0, 0, 0}), emit.i32({outer, extent, inner})});
  *at = extent;
  return emit.reshape(cut, dims);
}

/// A kernel with dilations - 1 zeros between its taps, [i, o, k...] -> [i, o, extent...].
Value dilated(const Emit& emit, Value weights, const Window& w) {
  bool plain = true;
  for (std::int64_t d : w.dilations) plain = plain && d == 1;
  if (plain) return weights;
  if (!weights.constant()) {
    for (std::size_t i = 0; i < w.axes(); ++i) weights = dilated_axis(emit, weights, i + 2, w.dilations[i]);
    return weights;
  }
  Dims dims = weights.static_dims(), out = dims;
  for (std::size_t i = 0; i < w.axes(); ++i) out[i + 2] = w.extent(i);
  const std::vector<float> from = weights.read<float>();
  std::int64_t total = 1;
  for (std::int64_t d : out) total *= d;
  std::vector<float> to(static_cast<std::size_t>(total), 0.0f);
  for (std::size_t k = 0; k < from.size(); ++k) {
    std::int64_t rest = static_cast<std::int64_t>(k), at = 0, stride = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
      const std::int64_t index = rest % dims[i];
      rest /= dims[i];
      at += index * (i >= 2 ? w.dilations[i - 2] : 1) * stride;
      stride *= out[i];
    }
    to[static_cast<std::size_t>(at)] = from[k];
  }
  return emit.constant(out, to);
}

Value shape_vector(const Emit& emit, const Extent& batch, const Extents& spatial, std::int64_t channels) {
  Extents s{batch};
  s.insert(s.end(), spatial.begin(), spatial.end());
  s.emplace_back(channels);
  return vector_of(emit, s);
}

/// The whole result of one group, channels-last; bias may be absent.
Value full_result(const Emit& emit, const Value& x, const Value& weights, const Value& bias, const Plan& p) {
  const bool flat = p.full.size() == 2;
  std::vector<Value> operands{shape_vector(emit, p.batch, p.full, weights.dim(1)),
                              emit.transpose(weights, flat ? Dims{1, 2, 3, 0} : Dims{2, 3, 4, 1, 0}), x};
  if (bias) operands.push_back(bias);
  const Dims& s = p.window.strides;
  if (flat)
    return emit.op("TRANSPOSE_CONV", operands,
                   {{"padding", "VALID"}, {"stride_h", s[0]}, {"stride_w", s[1]}, no_activation()});
  return emit.op("CONV_3D_TRANSPOSE", operands,
                 {{"padding", "VALID"}, {"stride_d", s[0]}, {"stride_h", s[1]}, {"stride_w", s[2]}, no_activation()});
}

/// Whether TRANSPOSE_CONV's SAME, in * stride elements, cuts the full result in the same place: then nothing is left to
/// cut.
bool is_same(const Plan& p) {
  for (std::size_t i = 0; i < p.full.size(); ++i) {
    const std::int64_t over = p.window.extent(i) - p.window.strides[i];
    if (over < 0 || p.before[i] + p.after[i] != over || p.before[i] != over / 2) return false;
  }
  return p.full.size() == 2;
}

Dims above(const Dims& d) {
  Dims up;
  for (std::int64_t n : d) up.push_back(std::max<std::int64_t>(0, n));
  return up;
}
Dims below(const Dims& d) {
  Dims down;
  for (std::int64_t n : d) down.push_back(std::max<std::int64_t>(0, -n));
  return down;
}
bool any(const Dims& d) {
  return std::any_of(d.begin(), d.end(), [](std::int64_t n) { return n != 0; });
}

Value cut_and_grow(const Emit& emit, Value y, const Plan& p) {
  const Dims first = above(p.before), last = above(p.after);
  if (any(first) || any(last)) {
    Dims begin{0};
    begin.insert(begin.end(), first.begin(), first.end());
    begin.push_back(0);
    Extents size{p.batch};
    for (std::size_t i = 0; i < first.size(); ++i) size.push_back(less_by(emit, p.full[i], first[i] + last[i]));
    size.emplace_back(y.dim(-1));
    y = emit.op("SLICE", {y, emit.i32(begin), vector_of(emit, size)});
  }
  return pad_spatial(emit, y, below(p.before), below(p.after), 0);
}

Value run(const Emit& emit, const Value& x, const Value& weights, const Value& bias, const Plan& p) {
  if (is_same(p)) {
    Extents out;
    for (std::size_t i = 0; i < p.full.size(); ++i) out.push_back(less_by(emit, p.full[i], p.before[i] + p.after[i]));
    std::vector<Value> operands{shape_vector(emit, p.batch, out, weights.dim(1)), emit.transpose(weights, {1, 2, 3, 0}),
                                x};
    if (bias) operands.push_back(bias);
    return emit.op(
        "TRANSPOSE_CONV", operands,
        {{"padding", "SAME"}, {"stride_h", p.window.strides[0]}, {"stride_w", p.window.strides[1]}, no_activation()});
  }
  const bool grows = any(below(p.before)) || any(below(p.after));
  const Value y = cut_and_grow(emit, full_result(emit, x, weights, grows ? Value() : bias, p), p);
  return grows && bias ? emit.add(y, bias) : y;
}

/// One spatial axis: as two, the first of size 1.
void widen(const Emit& emit, Value& x, Value& weights, Plan& p) {
  x = insert_axis(emit, x, 1);
  weights = insert_axis(emit, weights, 2);
  p.full.insert(p.full.begin(), Extent(1));
  for (Dims* d : {&p.window.kernel, &p.window.strides, &p.window.dilations}) d->insert(d->begin(), 1);
  for (Dims* d : {&p.before, &p.after}) d->insert(d->begin(), 0);
}

}  // namespace

GANTRY_CONVERT(onnx, "ConvTranspose", since(1), to(tflite)) {
  const int rank = node.in(0).rank();
  decline_if(rank < 3 || rank > 5, "ConvTranspose of rank ", rank, "; TFLite has 1 to 3 spatial axes");
  const Dims dims = node.in(0).dims(), filter = node.in(1).static_dims();
  const auto group = node.attr<std::int64_t>("group", 1);
  decline_if(group < 1 || filter[0] != dims[1] || dims[1] % group, "weights ", text(filter), " with group ", group,
             " do not fit ", dims[1], " channels");
  Plan p = make_plan(node, emit, Dims(filter.begin() + 2, filter.end()));
  Value x = emit.transpose(node.in(0), to_channels_last(rank));
  Value weights = dilated(emit, node.in(1), p.window);
  if (rank == 3) widen(emit, x, weights, p);

  std::vector<Value> parts;
  const Value bias = node.in(2);
  if (group == 1) {
    parts.push_back(run(emit, x, weights, bias, p));
  } else {
    const auto pieces = [&](const Value& v, int axis) {
      return emit.ops("SPLIT", static_cast<std::size_t>(group), {emit.constant<std::int32_t>({}, {axis}), v},
                      {{"num_splits", group}});
    };
    const std::vector<Value> inputs = pieces(x, x.rank() - 1);
    const std::vector<Value> kernels = weights.constant() ? std::vector<Value>() : pieces(weights, 0);
    Dims starts(static_cast<std::size_t>(weights.rank()), 0), sizes = weights.static_dims();
    sizes[0] /= group;
    for (std::int64_t g = 0; g < group; ++g) {
      starts[0] = g * sizes[0];
      const auto at = static_cast<std::size_t>(g);
      const Value part =
          kernels.empty() ? emit.slice_constant(weights, starts, Dims(starts.size(), 1), sizes) : kernels[at];
      parts.push_back(run(emit, inputs[at], part, Value(), p));
    }
  }
  Value y = parts.size() == 1 ? parts[0] : emit.op("CONCATENATION", parts, {{"axis", x.rank() - 1}, no_activation()});
  if (group > 1 && bias) y = emit.add(y, bias);
  if (rank == 3) y = remove_axis(emit, y, 1);
  return emit.transpose(y, to_channels_first(rank));
}

}  // namespace core_ops
