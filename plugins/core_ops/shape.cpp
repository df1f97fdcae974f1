// Operators that move elements and leave their values. Operators: ONNX operator specification, ai.onnx.
#include <algorithm>

#include "common.hpp"

namespace core_ops {
namespace {

/// RESHAPE to dims of which several may be unknown: they are taken from `x`'s own run-time shape where `from` says so.
Value reshape_to(const Node& node, const Emit& emit, const Value& x, const Dims& dims) {
  const auto unknown = std::count(dims.begin(), dims.end(), -1);
  decline_if(unknown > 1, node.op(), " to ", text(dims),
             " needs more of the shape to be known; give input shapes with --shape");
  return emit.reshape(x, dims);
}

}  // namespace

GANTRY_CONVERT(onnx, "Identity", since(1), to(tflite)) { return node.in(0); }

/// At inference Dropout passes its operand on; its mask, where somebody wants it, keeps everything.
GANTRY_CONVERT(onnx, "Dropout", since(7), to(tflite)) {
  const Value x = node.in(0), training = node.in(2);
  decline_if(training && (!training.constant() || training.scalar<bool>()), "training_mode must be false");
  std::vector<Value> results{x};
  if (node.out_count() > 1 && node.out(1)) {
    const auto n = static_cast<std::size_t>(x.elements());
    results.push_back(emit.constant<bool>(x.dims(), std::vector<bool>(n, true)));
  }
  results.resize(node.out_count());
  return results;
}

GANTRY_CONVERT(onnx, "Reshape", since(5), to(tflite)) {
  const Value x = node.in(0), shape = node.in(1), out = node.out();
  if (out.is_static()) return emit.reshape(x, out.dims());
  decline_if(!shape.constant(), "the target shape is computed at run time; give input shapes with --shape");
  Dims dims = shape.read<std::int64_t>();
  if (!node.attr("allowzero", 0)) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] == 0) dims[i] = x.dim(static_cast<int>(i));
  }
  return reshape_to(node, emit, x, dims);
}

namespace {

/// Flatten, Squeeze, Unsqueeze: the result's inferred shape says it all where it is known.
Results view(const Node& node, const Emit& emit, const Dims& otherwise) {
  return node.out().is_static() ? emit.reshape(node.in(0), node.out().dims())
                                : reshape_to(node, emit, node.in(0), otherwise);
}

}  // namespace

GANTRY_CONVERT(onnx, "Flatten", since(1), to(tflite)) {
  const Value x = node.in(0);
  const auto axis = node.attr<std::int64_t>("axis", 1);
  const Dims dims = x.dims();
  const std::int64_t at = axis < 0 ? axis + x.rank() : axis;
  std::int64_t rows = 1, columns = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t& n = static_cast<std::int64_t>(i) < at ? rows : columns;
    n = n < 0 || dims[i] < 0 ? -1 : n * dims[i];
  }
  return view(node, emit, {rows, columns});
}

GANTRY_CONVERT(onnx, "Squeeze", since(1), to(tflite)) {
  const Value x = node.in(0);
  if (node.out().is_static() && x.is_static()) return emit.reshape(x, node.out().dims());
  const auto axes = ints(node, 1, "axes");
  decline_if(!axes, "Squeeze without axes needs a known shape; give input shapes with --shape");
  Dims normal;
  for (std::int64_t a : *axes) normal.push_back(normalize_axis(a, x.rank()));
  return emit.op("SQUEEZE", {x}, {{"squeeze_dims", normal}});
}

GANTRY_CONVERT(onnx, "Unsqueeze", since(1), to(tflite)) {
  Value x = node.in(0);
  if (node.out().is_static()) return emit.reshape(x, node.out().dims());
  Dims axes = ints(node, 1, "axes").value_or(Dims{});
  const int rank = x.rank() + static_cast<int>(axes.size());
  for (std::int64_t& a : axes) a = normalize_axis(a, rank);
  std::sort(axes.begin(), axes.end());
  for (std::int64_t a : axes) x = insert_axis(emit, x, static_cast<int>(a));
  return x;
}

/// Without perm the axes are reversed.
GANTRY_CONVERT(onnx, "Transpose", since(1), to(tflite)) {
  const Value x = node.in(0);
  Dims reversed(static_cast<std::size_t>(x.rank()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return emit.transpose(x, node.attr("perm", reversed));
}

GANTRY_CONVERT(onnx, "Concat", since(4), to(tflite)) {
  const int axis = normalize_axis(node.attr<std::int64_t>("axis"), node.in(0).rank());
  std::vector<Value> parts;
  for (const Value& v : node.ins())
    if (!v.is_static() || v.elements() > 0) parts.push_back(v);
  if (parts.empty()) return node.in(0);
  if (parts.size() == 1) return parts[0];
  return emit.op("CONCATENATION", parts, {{"axis", axis}, no_activation()});
}

namespace {

/// Parts of `x` of the given sizes along an axis; those of size 0 are constants, since SPLIT_V cannot make them.
std::vector<Value> split(const Emit& emit, const Value& x, int axis, const Dims& sizes) {
  Dims some;
  for (std::int64_t s : sizes)
    if (s != 0) some.push_back(s);
  const auto n = static_cast<std::int64_t>(some.size());
  const Value at = emit.constant<std::int32_t>({}, {axis});
  std::vector<Value> parts{x};
  if (n > 1 && std::all_of(some.begin(), some.end(), [&](std::int64_t s) { return s == some[0]; }))
    parts = emit.ops("SPLIT", some.size(), {at, x}, {{"num_splits", n}});
  else if (n > 1)
    parts = emit.ops("SPLIT_V", some.size(), {x, emit.i32(some), at}, {{"num_splits", n}});
  std::vector<Value> results;
  std::size_t next = 0;
  for (std::int64_t s : sizes) {
    Dims none = x.dims();
    none[static_cast<std::size_t>(axis)] = 0;
    results.push_back(s != 0 ? parts.at(next++) : emit.numbers(x.dtype(), none, {}));
  }
  return results;
}

}  // namespace

/// Parts of given sizes, or num_outputs parts of which the last may be smaller.
GANTRY_CONVERT(onnx, "Split", since(2), to(tflite)) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const auto parts = static_cast<std::int64_t>(node.out_count());
  auto sizes = ints(node, 1, "split");
  const std::int64_t n = x.dim(axis);
  if (!sizes) {
    if (n >= 0) {
      const std::int64_t chunk = (n + parts - 1) / parts;
      sizes = Dims(static_cast<std::size_t>(parts), chunk);
      sizes->back() = n - chunk * (parts - 1);
    }
  }
  if (parts == 1) return x;
  if (sizes) return split(emit, x, axis, *sizes);
  return emit.ops("SPLIT", node.out_count(), {emit.constant<std::int32_t>({}, {axis}), x}, {{"num_splits", parts}});
}

GANTRY_CONVERT(onnx, "Expand", since(8), to(tflite)) {
  const Value x = node.in(0), out = node.out();
  decline_if(!out.is_static(), "the target shape is computed at run time; give input shapes with --shape");
  const Dims dims = out.dims();
  if (x.is_static() && x.elements() == out.elements()) return emit.reshape(x, dims);
  return emit.op("BROADCAST_TO", {x, emit.i32(dims)});
}

GANTRY_CONVERT(onnx, "Tile", since(6), to(tflite)) {
  const Dims times = node.in(1).read<std::int64_t>();
  if (std::all_of(times.begin(), times.end(), [](std::int64_t t) { return t == 1; })) return node.in(0);
  return emit.op("TILE", {node.in(0), emit.i32(times)});
}

GANTRY_CONVERT(onnx, "Shape", since(1), to(tflite)) {
  const int rank = node.in(0).rank();
  const auto clamp = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = clamp(node.attr<std::int64_t>("start", 0)),
                     end = clamp(node.attr<std::int64_t>("end", rank));
  const Value all = emit.op("SHAPE", {node.in(0)}, {{"out_type", "INT64"}});
  if (start == 0 && end == rank) return all;
  return emit.op("SLICE", {all, emit.i32({start}), emit.i32({std::max<std::int64_t>(0, end - start)})});
}

GANTRY_CONVERT(onnx, "ConstantOfShape", since(9), to(tflite)) {
  const Value fill = node.has_attr("value") ? node.attr<Value>("value") : emit.constant<float>({1}, {0.0f});
  return emit.op("FILL", {node.in(0), emit.reshape_constant(fill, {})});
}

GANTRY_CONVERT(onnx, "Range", since(11), to(tflite)) { return emit.op("RANGE", node.ins()); }

// Both as views: the block's axes are split off, moved, and joined; DEPTH_TO_SPACE would need channels-last, and knows
// no CRD.
GANTRY_CONVERT(onnx, "DepthToSpace", since(1), to(tflite)) {
  const Dims d = node.in(0).static_dims();
  const auto b = node.attr<std::int64_t>("blocksize");
  decline_if(d.size() != 4 || b < 1 || d[1] % (b * b), "blocksize ", b, " does not fit ", text(d));
  const std::int64_t c = d[1] / (b * b);
  const bool crd = node.attr("mode", "DCR") == "CRD";
  const Value split = emit.reshape(node.in(0), crd ? Dims{d[0], c, b, b, d[2], d[3]} : Dims{d[0], b, b, c, d[2], d[3]});
  const Value moved = emit.transpose(split, crd ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2});
  return emit.reshape(moved, {d[0], c, d[2] * b, d[3] * b});
}

GANTRY_CONVERT(onnx, "SpaceToDepth", since(1), to(tflite)) {
  const Dims d = node.in(0).static_dims();
  const auto b = node.attr<std::int64_t>("blocksize");
  decline_if(d.size() != 4 || b < 1 || d[2] % b || d[3] % b, "blocksize ", b, " does not fit ", text(d));
  const bool crd = node.attr("mode", "DCR") == "CRD";
  const Value split = emit.reshape(node.in(0), {d[0], d[1], d[2] / b, b, d[3] / b, b});
  return emit.reshape(emit.transpose(split, crd ? Dims{0, 1, 3, 5, 2, 4} : Dims{0, 3, 5, 1, 2, 4}),
                      {d[0], d[1] * b * b, d[2] / b, d[3] / b});
}

}  // namespace core_ops
