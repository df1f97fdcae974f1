// ConvTranspose of 1, 2 and 3 spatial axes. The kernel is run so that it yields the whole result of every tap,
// in[n] -> (n - 1) * stride + extent; padding then cuts it, output_padding beyond that adds rows that only hold the
// bias. Weights: ONNX [i, o / group, k...]; TRANSPOSE_CONV [o, kh, kw, i]; CONV_3D_TRANSPOSE [kd, kh, kw, o, i].
// Operator: ONNX operator specification, ConvTranspose.
#include <algorithm>

#include "window.hpp"

namespace core_ops {
namespace {

struct Plan {
  Dims in, out;  // spatial sizes of operand and result
  Dims full;     // size before cutting
  Dims cut;      // elements cut at the beginning
  Dims grow;     // rows missing at the end
  Window window;
};

/// Output sizes and the padding that yields them (output_shape and auto_pad decide the padding, else pads do).
Plan make_plan(const Node& node, const Dims& in, const Dims& kernel) {
  Plan p;
  p.in = in;
  const std::size_t n = kernel.size();
  const Dims extra = node.attr("output_padding", Dims(n, 0)), wanted = node.attr("output_shape", Dims{});
  const std::string mode = node.attr("auto_pad", "NOTSET");
  const Dims ones(n, 1), pads = node.attr("pads", Dims(2 * n, 0));
  p.window = {kernel, node.attr("strides", ones), node.attr("dilations", ones), Dims(n, 0), Dims(n, 0)};
  const Window& w = p.window;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t full = (in[i] - 1) * w.strides[i] + w.extent(i);
    std::int64_t begin = 0, out = 0;
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (!wanted.empty() || same) {
      out = wanted.empty() ? in[i] * w.strides[i] : wanted[wanted.size() - n + i];
      const std::int64_t total = full + extra[i] - out;
      decline_if(total < 0 && wanted.empty(), "auto_pad with a stride above the kernel");
      begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      begin = mode == "VALID" ? 0 : pads[i];
      out = full + extra[i] - begin - (mode == "VALID" ? 0 : pads[n + i]);
    }
    decline_if(begin < 0 || out < 1, "padding ", begin, " and output size ", out, " cannot be cut from ", full);
    p.full.push_back(full);
    p.out.push_back(out);
    p.cut.push_back(begin);
    p.grow.push_back(std::max<std::int64_t>(0, begin + out - full));
  }
  return p;
}

/// A kernel with dilations - 1 zeros between its taps, [i, o, k...] -> [i, o, extent...].
Value dilated(const Emit& emit, const Value& weights, const Window& w) {
  bool plain = true;
  for (std::int64_t d : w.dilations) plain = plain && d == 1;
  if (plain) return weights;
  decline_if(!weights.constant(), "a dilated ConvTranspose needs constant weights");
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

Dims shape_of(std::int64_t batch, const Dims& spatial, std::int64_t channels) {
  Dims s{batch};
  s.insert(s.end(), spatial.begin(), spatial.end());
  s.push_back(channels);
  return s;
}

/// The whole result of one group, channels-last; bias may be absent.
Value full_result(const Emit& emit, const Value& x, const Value& weights, const Value& bias, const Plan& p) {
  const Dims shape = shape_of(x.dim(0), p.full, weights.dim(1));
  const bool flat = p.full.size() == 2;
  std::vector<Value> operands{emit.i32(shape), emit.transpose(weights, flat ? Dims{1, 2, 3, 0} : Dims{2, 3, 4, 1, 0}),
                              x};
  if (bias) operands.push_back(bias);
  const Dims& s = p.window.strides;
  if (flat)
    return emit.op("TRANSPOSE_CONV", operands,
                   {{"padding", "VALID"}, {"stride_h", s[0]}, {"stride_w", s[1]}, no_activation()});
  return emit.op("CONV_3D_TRANSPOSE", operands,
                 {{"padding", "VALID"}, {"stride_d", s[0]}, {"stride_h", s[1]}, {"stride_w", s[2]}, no_activation()});
}

/// Whether TRANSPOSE_CONV's SAME cuts the full result in the same place: then nothing is left to cut.
bool is_same(const Plan& p) {
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    const std::int64_t stride = p.window.strides[i];
    if (p.out[i] != p.in[i] * stride || p.full[i] < p.out[i] || p.cut[i] != (p.full[i] - p.out[i]) / 2) return false;
  }
  return p.in.size() == 2;
}

Value cut_and_grow(const Emit& emit, Value y, const Plan& p) {
  if (p.full != p.out || std::any_of(p.cut.begin(), p.cut.end(), [](std::int64_t c) { return c != 0; })) {
    Dims size;
    for (std::size_t i = 0; i < p.out.size(); ++i) size.push_back(p.out[i] - p.grow[i]);
    y = emit.op("SLICE", {y, emit.i32(shape_of(0, p.cut, 0)), emit.i32(shape_of(-1, size, -1))});
  }
  return pad_spatial(emit, y, Dims(p.grow.size(), 0), p.grow, 0);
}

Value run(const Emit& emit, const Value& x, const Value& weights, const Value& bias, const Plan& p) {
  const bool grows = std::any_of(p.grow.begin(), p.grow.end(), [](std::int64_t g) { return g != 0; });
  if (is_same(p)) {
    std::vector<Value> operands{emit.i32(shape_of(x.dim(0), p.out, weights.dim(1))),
                                emit.transpose(weights, {1, 2, 3, 0}), x};
    if (bias) operands.push_back(bias);
    return emit.op(
        "TRANSPOSE_CONV", operands,
        {{"padding", "SAME"}, {"stride_h", p.window.strides[0]}, {"stride_w", p.window.strides[1]}, no_activation()});
  }
  const Value y = cut_and_grow(emit, full_result(emit, x, weights, grows ? Value() : bias, p), p);
  return grows && bias ? emit.add(y, bias) : y;
}

/// One spatial axis: as two, the first of size 1.
void widen(const Emit& emit, Value& x, Value& weights, Plan& p) {
  x = insert_axis(emit, x, 1);
  weights = insert_axis(emit, weights, 2);
  for (Dims* d : {&p.in, &p.out, &p.full, &p.window.kernel, &p.window.strides, &p.window.dilations})
    d->insert(d->begin(), 1);
  for (Dims* d : {&p.cut, &p.grow}) d->insert(d->begin(), 0);
}

}  // namespace

GANTRY_CONVERT(onnx, "ConvTranspose", since(1), to(tflite)) {
  const int rank = node.in(0).rank();
  decline_if(rank < 3 || rank > 5, "ConvTranspose of rank ", rank, "; TFLite has 1 to 3 spatial axes");
  const Dims dims = node.in(0).static_dims(), filter = node.in(1).static_dims();
  const auto group = node.attr<std::int64_t>("group", 1);
  decline_if(group < 1 || filter[0] != dims[1] || dims[1] % group, "weights ", text(filter), " with group ", group,
             " do not fit ", dims[1], " channels");
  Plan p = make_plan(node, Dims(dims.begin() + 2, dims.end()), Dims(filter.begin() + 2, filter.end()));
  Value x = emit.transpose(node.in(0), to_channels_last(rank));
  Value weights = dilated(emit, node.in(1), p.window);
  if (rank == 3) widen(emit, x, weights, p);

  std::vector<Value> parts;
  const Value bias = node.in(2);
  if (group == 1) {
    parts.push_back(run(emit, x, weights, bias, p));
  } else {
    decline_if(!weights.constant(), "a grouped ConvTranspose needs constant weights");
    Dims starts(static_cast<std::size_t>(weights.rank()), 0), sizes = weights.static_dims();
    sizes[0] /= group;
    const std::vector<Value> inputs =
        emit.ops("SPLIT", static_cast<std::size_t>(group), {emit.constant<std::int32_t>({}, {x.rank() - 1}), x},
                 {{"num_splits", group}});
    for (std::int64_t g = 0; g < group; ++g) {
      starts[0] = g * sizes[0];
      const Value part = emit.slice_constant(weights, starts, Dims(starts.size(), 1), sizes);
      parts.push_back(run(emit, inputs[static_cast<std::size_t>(g)], part, Value(), p));
    }
  }
  Value y = parts.size() == 1 ? parts[0] : emit.op("CONCATENATION", parts, {{"axis", x.rank() - 1}, no_activation()});
  if (group > 1 && bias) y = emit.add(y, bias);
  if (rank == 3) y = remove_axis(emit, y, 1);
  return emit.transpose(y, to_channels_first(rank));
}

}  // namespace core_ops
