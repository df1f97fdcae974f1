// Operators that pick elements by index. LiteRT's GATHER and GATHER_ND take no negative indices and fail on what is out
// of range, as the runtimes of ONNX do. Operators: ONNX operator specification, ai.onnx.
#include <algorithm>

#include "carrier.hpp"
#include "elements.hpp"
#include "extent.hpp"

namespace core_ops {
namespace {

/// Elements of any type.
Value pick_any(const Emit& emit, const Value& x, const Value& at, int axis) {
  return bitcast(emit, pick(emit, carried(emit, x), at, axis), x.dtype());
}

}  // namespace

GANTRY_CONVERT(onnx, "Gather", since(1), to(tflite)) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  return pick_any(emit, x, from_end(emit, node.in(1), extent_of(emit, x, axis)), axis);
}

namespace {

/// Where not all sizes are known: the part of `x` that the indices span, the axis last, row by row.
Value gather_rows(const Emit& emit, const Value& x, const Value& at, int axis) {
  const int rank = x.rank();
  Extents sizes = extents_of(emit, at, 0, rank);
  sizes[static_cast<std::size_t>(axis)] = extent_of(emit, x, axis);
  const Value part = emit.op("SLICE", {x, emit.i32(Dims(static_cast<std::size_t>(rank), 0)), vector_of(emit, sizes)});
  const Dims perm = swap_with_last(axis, rank);
  const Value y = emit.op("GATHER", {emit.transpose(part, perm), emit.transpose(at, perm)},
                          {{"axis", rank - 1}, {"batch_dims", rank - 1}});
  return emit.transpose(y, perm);
}

}  // namespace

/// out[i, ..., j] = x[i, ..., at[i, ..., j]] on one axis: a GATHER from the flat value at computed places.
GANTRY_CONVERT(onnx, "GatherElements", since(11), to(tflite)) {
  const Value x = node.in(0);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const Value at = from_end(emit, node.in(1), extent_of(emit, x, axis));
  if (!x.is_static() || !at.is_static()) return bitcast(emit, gather_rows(emit, carried(emit, x), at, axis), x.dtype());
  return emit.reshape(pick_any(emit, flat(emit, x), element_places(emit, x.dims(), at, axis), 0), at.dims());
}

namespace {

/// Tuples of indices [..., k] with negative ones brought into range, as [m, k].
Value tuples_in_range(const Emit& emit, const Value& at, const Extents& sizes) {
  const auto k = static_cast<std::int64_t>(sizes.size());
  const Value i = emit.reshape(as_int32(emit, at), {-1, k});
  if (i.constant()) {
    const auto all = i.read<std::int64_t>();
    if (std::none_of(all.begin(), all.end(), [](std::int64_t n) { return n < 0; })) return i;
  }
  const Value wrapped = emit.add(i, vector_of(emit, sizes));
  return emit.op("SELECT_V2", {emit.op("LESS", {i, emit.scalar(DType::int32, 0)}), wrapped, i});
}

}  // namespace

Value tuple_places(const Emit& emit, const Value& at, const Extents& sizes) {
  const std::size_t k = sizes.size();
  const Value i = tuples_in_range(emit, at, sizes);
  if (k == 1) return flat(emit, i);
  Extents strides(k, 1);
  for (std::size_t j = k - 1; j-- > 0;) strides[j] = product(emit, {strides[j + 1], sizes[j + 1]});
  return emit.op("SUM", {emit.mul(i, vector_of(emit, strides)), emit.i32({1})}, {{"keep_dims", false}});
}

/// out[b, i...] = x[b, at[b, i...], ...]. Without batch axes it is GATHER_ND; with them, rows of the flat value.
GANTRY_CONVERT(onnx, "GatherND", since(11), to(tflite)) {
  const Value x = node.in(0), at = node.in(1);
  const int batch = static_cast<int>(node.attr("batch_dims", 0)), rank = x.rank();
  const std::int64_t k = at.dim(-1);
  decline_if(k < 1, "indices of ", text(at.dims()), ": the last size must be known");
  decline_if(batch < 0 || batch + k > rank, "indices of ", k, " numbers into rank ", rank);
  const int end = batch + static_cast<int>(k);
  const Extents sizes = extents_of(emit, x, batch, end);
  Extents shape = extents_of(emit, at, 0, at.rank() - 1);
  for (const Extent& e : extents_of(emit, x, end, rank)) shape.push_back(e);
  Value y;
  if (batch == 0) {
    y = emit.op("GATHER_ND", {carried(emit, x), tuples_in_range(emit, at, sizes)});
  } else {
    const Extent batches = product(emit, extents_of(emit, x, 0, batch)), each = product(emit, sizes);
    Value places = reshape_to(emit, tuple_places(emit, at, sizes),
                              {batches, product(emit, extents_of(emit, at, batch, at.rank() - 1))});
    const Value first = emit.mul(counting(emit, batches), each.scalar(emit));
    places = emit.add(places, emit.reshape(first, {-1, 1}));
    Extents rows{product(emit, {batches, each})};
    for (const Extent& e : extents_of(emit, x, end, rank)) rows.push_back(e);
    y = emit.op("GATHER", {reshape_to(emit, carried(emit, x), rows), flat(emit, places)},
                {{"axis", 0}, {"batch_dims", 0}});
  }
  return bitcast(emit, reshape_to(emit, y, shape), x.dtype());
}

namespace {

/// Places that are not zero, [found, rank] int64.
Value nonzero_places(const Emit& emit, const Value& x) {
  switch (x.dtype()) {
    case DType::float16:
      return emit.op("WHERE", {emit.cast(x, DType::float32)});
    case DType::int16:
    case DType::uint16:
      return emit.op("WHERE", {emit.cast(x, DType::int32)});
    case DType::uint64:
      return emit.op("WHERE", {carried(emit, x)});
    case DType::float64: {
      const Value bits = carried(emit, x);  // twice the bits: without the sign, so that -0 is zero
      return emit.op("WHERE", {emit.add(bits, bits)});
    }
    case DType::bfloat16:
      decline("LiteRT's WHERE takes no bfloat16");
    default:
      return emit.op("WHERE", {x});
  }
}

}  // namespace

/// The indices of each element that is not zero, an axis a row.
GANTRY_CONVERT(onnx, "NonZero", since(9), to(tflite)) {
  decline_if(node.in(0).rank() == 0, "NonZero of a scalar");
  return emit.transpose(nonzero_places(emit, node.in(0)), {1, 0});
}

/// Slices of an axis, or elements of the flat value, for which the condition holds.
GANTRY_CONVERT(onnx, "Compress", since(9), to(tflite)) {
  const Value kept = flat(emit, emit.op("WHERE", {node.in(1)}));
  if (!node.has_attr("axis")) return pick_any(emit, flat(emit, node.in(0)), kept, 0);
  return pick_any(emit, node.in(0), kept, normalize_axis(node.attr<std::int64_t>("axis"), node.in(0).rank()));
}

/// REVERSE_SEQUENCE knows some types; the others go as the bits of one.
GANTRY_CONVERT(onnx, "ReverseSequence", since(10), to(tflite)) {
  const Value x = node.in(0);
  DType t = carrier_of(x.dtype());
  if (t == DType::float16) t = DType::int16;
  if (t == DType::int8 || t == DType::boolean) t = DType::uint8;
  const int rank = x.rank();
  const Value y = emit.op("REVERSE_SEQUENCE", {bitcast(emit, x, t), node.in(1)},
                          {{"seq_dim", normalize_axis(node.attr("time_axis", 0), rank)},
                           {"batch_dim", normalize_axis(node.attr("batch_axis", 1), rank)}});
  return bitcast(emit, y, x.dtype());
}

/// on where the index is the place along the new axis, off elsewhere; what is out of range is off everywhere.
GANTRY_CONVERT(onnx, "OneHot", since(9), to(tflite)) {
  const Value at = node.in(0), values = node.in(2);
  const int axis = normalize_axis(node.attr("axis", -1), at.rank() + 1);
  const Value depth = emit.reshape(as_int32(emit, node.in(1)), {});
  const Extent n = depth.constant() ? Extent(depth.scalar<std::int64_t>()) : Extent(depth);
  Value index = at.dtype() == DType::uint64 ? bitcast(emit, at, DType::int64) : at;
  if (!index.constant() || !n.is_known()) index = from_end(emit, index, n);
  const auto value = [&](int i) {
    if (values.constant()) return emit.reshape_constant(emit.slice_constant(values, {i}, {1}, {1}), {});
    return pick_any(emit, values, emit.constant<std::int32_t>({}, {i}), 0);
  };
  const Attributes attributes{{"axis", axis}};
  if (index.constant() && n.is_known()) {  // out of range is allowed here
    Dims i = index.read<std::int64_t>();
    for (std::int64_t& k : i)
      if (k < 0) k = k + n.known < 0 ? n.known : k + n.known;
    index = emit.constant<std::int32_t>(index.dims(), std::vector<std::int32_t>(i.begin(), i.end()));
  }
  switch (values.dtype()) {
    case DType::float32:
    case DType::int32:
    case DType::int64:
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
      return emit.op("ONE_HOT", {index, depth, value(1), value(0)}, attributes);
    default: {
      const Value which =
          emit.op("ONE_HOT", {index, depth, emit.scalar(DType::int32, 1), emit.scalar(DType::int32, 0)}, attributes);
      return pick_any(emit, values, which, 0);
    }
  }
}

}  // namespace core_ops
