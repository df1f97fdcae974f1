// The same elements under another shape. Operators: ONNX operator specification, ai.onnx.
#include <algorithm>

#include "runtime.hpp"

namespace core_ops {

GANTRY_CONVERT(onnx, "Identity", since(1), to(tflite)) { return node.in(0); }

/// At inference Dropout passes its operand on; its mask, where somebody wants it, keeps everything.
GANTRY_CONVERT(onnx, "Dropout", since(7), to(tflite)) {
  const Value x = node.in(0), training = node.in(2);
  decline_if(training && !training.constant(), "training_mode must be a constant");
  const bool drops = !node.in(1) || !node.in(1).constant() || node.in(1).scalar<double>() != 0;
  decline_if(training && training.scalar<bool>() && drops, "training_mode is true: elements are dropped at random");
  std::vector<Value> results{x};
  if (node.out_count() > 1 && node.out(1) && node.out(1).use_count() > 0) {
    const Value yes = emit.constant<bool>({}, std::vector<bool>{true});
    if (x.is_static())
      results.push_back(emit.constant<bool>(x.dims(), std::vector<bool>(static_cast<std::size_t>(x.elements()), true)));
    else
      results.push_back(emit.op("FILL", {shape_of(emit, x), yes}));
  }
  results.resize(node.out_count());
  return results;
}

namespace {

/// A shape for RESHAPE where at most one size is open and none is 0, which would make an open one ambiguous.
bool says_all(const Dims& dims) {
  const auto open = std::count(dims.begin(), dims.end(), -1);
  return open == 0 || (open == 1 && std::count(dims.begin(), dims.end(), 0) == 0);
}

/// RESHAPE to a shape of the graph, of which `known` is known.
Value reshape_at_run_time(const Emit& emit, const Value& x, const Value& shape, const std::optional<Dims>& known) {
  return emit.ops("RESHAPE", 1, {x, shape}, {}, {Type{x.dtype(), known}})[0];
}

/// Whether an element of an int32 or int64 vector of the graph could be a 0 that is no size: sizes are counted as not.
bool may_name_zero(const Value& v, int depth) {
  if (v.constant()) {
    const Dims n = v.read<std::int64_t>();
    return std::find(n.begin(), n.end(), 0) != n.end();
  }
  const auto maker = v.producer();
  if (!maker || depth > 16) return true;
  if (maker->is("SHAPE")) return false;
  for (std::string_view op : {"CAST", "GATHER", "SLICE", "STRIDED_SLICE", "RESHAPE", "EXPAND_DIMS", "SQUEEZE"})
    if (maker->is(op)) return may_name_zero(maker->in(0), depth + 1);
  for (std::string_view op : {"CONCATENATION", "PACK", "MUL", "MAXIMUM", "MINIMUM"}) {
    if (!maker->is(op)) continue;
    const auto operands = maker->ins();
    return std::any_of(operands.begin(), operands.end(), [&](const Value& o) { return may_name_zero(o, depth + 1); });
  }
  return true;
}

/// The shape with each 0 replaced by the operand's size there.
Value without_zeros(const Emit& emit, const Value& x, const Value& shape) {
  const std::int64_t length = length_of(shape);
  Extents own;
  for (std::int64_t i = 0; i < length; ++i)
    own.push_back(i < x.rank() ? extent_of(emit, x, static_cast<int>(i)) : Extent(0));
  const Value zero = emit.op("EQUAL", {shape, emit.scalar(DType::int32, 0)});
  return emit.op("SELECT_V2", {zero, vector_of(emit, own), shape});
}

}  // namespace

/// 0 takes the operand's size (unless allowzero), -1 what is left.
GANTRY_CONVERT(onnx, "Reshape", since(5), to(tflite)) {
  const Value x = node.in(0), shape = node.in(1), out = node.out();
  if (out.is_static()) return emit.reshape(x, out.dims());
  if (out.ranked() && says_all(out.dims())) return emit.reshape(x, out.dims());
  const bool copies = node.attr("allowzero", 0) == 0;
  const std::optional<Dims> known = out.ranked() ? std::optional(out.dims()) : std::nullopt;
  if (!shape.constant()) {
    length_of(shape);
    Value wanted = int_vector(emit, shape);
    if (copies && may_name_zero(wanted, 0)) wanted = without_zeros(emit, x, wanted);
    return reshape_at_run_time(emit, x, wanted, known);
  }
  Extents sizes;
  std::vector<Value> parts;
  const Dims dims = shape.read<std::int64_t>();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Extent size = dims[i] == 0 && copies ? extent_of(emit, x, static_cast<int>(i)) : Extent(dims[i]);
    parts.push_back(size.value ? emit.reshape(size.value, {1})
                               : emit.i32({dims[i] == 0 && copies ? size.known : dims[i]}));
  }
  return reshape_at_run_time(emit, x, joined(emit, parts), known);
}

GANTRY_CONVERT(onnx, "Flatten", since(1), to(tflite)) {
  const Value x = node.in(0), out = node.out();
  if (out.is_static()) return emit.reshape(x, out.dims());
  const auto axis = node.attr<std::int64_t>("axis", 1);
  const int at = static_cast<int>(axis < 0 ? axis + x.rank() : axis);
  const Dims dims = x.dims();
  std::int64_t rows = 1, columns = 1;
  for (int i = 0; i < x.rank(); ++i) {
    std::int64_t& n = i < at ? rows : columns;
    n = n < 0 || dims[static_cast<std::size_t>(i)] < 0 ? -1 : n * dims[static_cast<std::size_t>(i)];
  }
  if (rows >= 0 || columns >= 0) return emit.reshape(x, {rows, columns});
  return reshape_to(
      emit, x, {product(emit, extents_of(emit, x, 0, at)), Extent(product(emit, extents_of(emit, x, at, x.rank())))});
}

namespace {

/// Shape of x without the axes that are named at run time: the places that none of them names, in order.
Value shape_without(const Emit& emit, const Value& x, const Value& axes) {
  const int rank = x.rank(), left = rank - static_cast<int>(axes.dim(0));
  const Value all = counting(emit, Extent(rank));
  const Value hit = emit.op(
      "EQUAL", {emit.reshape(from_end(emit, axes, Extent(rank)), {axes.dim(0), 1}), emit.reshape(all, {1, rank})});
  const Value gone = emit.op("REDUCE_MAX", {emit.cast(hit, DType::int32), emit.i32({0})}, {{"keep_dims", false}});
  // Row k of the table is 1 where the k-th axis that stays is.
  const Value order =
      emit.op("CUMSUM",
              {emit.sub(emit.i32(Dims(static_cast<std::size_t>(rank), 1)), gone), emit.constant<std::int32_t>({}, {0})},
              {{"exclusive", true}, {"reverse", false}});
  const Value here =
      emit.op("EQUAL", {emit.reshape(order, {1, rank}), emit.reshape(counting(emit, Extent(left)), {left, 1})});
  const Value stays =
      emit.mul(emit.cast(here, DType::int32), emit.sub(emit.i32(Dims(static_cast<std::size_t>(rank), 1)), gone));
  return emit.op("SUM", {emit.mul(stays, emit.reshape(shape_of(emit, x), {1, rank})), emit.i32({1})},
                 {{"keep_dims", false}});
}

}  // namespace

GANTRY_CONVERT(onnx, "Squeeze", since(1), to(tflite)) {
  const Value x = node.in(0), named = node.in(1);
  if (node.out().is_static() && x.is_static()) return emit.reshape(x, node.out().dims());
  if (named && !named.constant()) {
    const std::int64_t count = length_of(named);
    decline_if(count >= x.rank(), "Squeeze of ", count, " axes of rank ", x.rank(), " that are known only at run time");
    return reshape_at_run_time(emit, x, shape_without(emit, x, int_vector(emit, named)),
                               Dims(static_cast<std::size_t>(x.rank() - count), -1));
  }
  const auto axes = ints(node, 1, "axes");
  Dims normal;
  if (axes) {
    for (std::int64_t a : *axes) normal.push_back(normalize_axis(a, x.rank()));
  } else {
    decline_if(!x.is_static(), "Squeeze without axes needs a known shape; give input shapes with --shape");
    for (int i = 0; i < x.rank(); ++i)
      if (x.dim(i) == 1) normal.push_back(i);
  }
  if (normal.empty()) return x;
  return emit.op("SQUEEZE", {x}, {{"squeeze_dims", normal}});
}

namespace {

/// Axes named at run time: at each place of the result 1 where an axis is new, else the operand's next size.
Value unsqueeze_at_run_time(const Emit& emit, const Value& x, const Value& axes) {
  const int rank = x.rank() + static_cast<int>(axes.dim(0));
  const Value hit = emit.op("EQUAL", {emit.reshape(from_end(emit, axes, Extent(rank)), {axes.dim(0), 1}),
                                      emit.reshape(counting(emit, Extent(rank)), {1, rank})});
  const Value fresh = emit.op("REDUCE_MAX", {emit.cast(hit, DType::int32), emit.i32({0})}, {{"keep_dims", false}});
  const Value old = emit.sub(emit.i32(Dims(static_cast<std::size_t>(rank), 1)), fresh);
  const Value next =
      emit.op("CUMSUM", {old, emit.constant<std::int32_t>({}, {0})}, {{"exclusive", true}, {"reverse", false}});
  // One more size than the operand has, for the places behind its last.
  const Value sizes = joined(emit, {shape_of(emit, x), emit.i32({1})});
  const Value size = emit.op("GATHER", {sizes, next}, {{"axis", 0}, {"batch_dims", 0}});
  const Value shape = emit.add(emit.mul(size, old), fresh);
  return reshape_at_run_time(emit, x, shape, Dims(static_cast<std::size_t>(rank), -1));
}

}  // namespace

GANTRY_CONVERT(onnx, "Unsqueeze", since(1), to(tflite)) {
  Value x = node.in(0);
  const Value named = node.in(1);
  if (node.out().is_static()) return emit.reshape(x, node.out().dims());
  if (named && !named.constant()) {
    length_of(named);
    return unsqueeze_at_run_time(emit, x, int_vector(emit, named));
  }
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

}  // namespace core_ops
