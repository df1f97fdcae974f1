// Operators that place elements by index. LiteRT's SCATTER_ND only adds up, so what is placed is picked: for every
// place of the result the last update that names it is found (UNSORTED_SEGMENT_MAX over the updates' numbers), and one
// GATHER takes it, or what was there. Reductions run over the old values and the updates together, in that order.
// Operators: ONNX operator specification, Scatter*, TensorScatter, MaxUnpool.
#include <algorithm>

#include "carrier.hpp"
#include "elements.hpp"
#include "floats.hpp"

namespace core_ops {
namespace {

/// Rows to be placed: data [n, row], updates [m, row], places [m] int32.
struct Scatter {
  Value data, updates, places;
  Extent n, m;
};

/// The place of every row of data and updates together.
Value all_places(const Emit& emit, const Scatter& s) { return concatenation(emit, {counting(emit, s.n), s.places}, 0); }

Value replaced(const Emit& emit, const Scatter& s) {
  const Value rows = concatenation(emit, {carried(emit, s.data), carried(emit, s.updates)}, 0);
  Value source;
  if (s.places.constant() && s.n.is_known()) {
    Dims at(static_cast<std::size_t>(s.n.known));
    std::iota(at.begin(), at.end(), 0);
    const auto places = s.places.read<std::int64_t>();
    for (std::size_t i = 0; i < places.size(); ++i)
      at.at(static_cast<std::size_t>(places[i])) = s.n.known + static_cast<std::int64_t>(i);
    source = emit.i32(at);
  } else {
    const Value last =
        emit.op("UNSORTED_SEGMENT_MAX", {counting(emit, s.m), s.places, s.n.scalar(emit)});  // the lowest where none is
    const Value zero = emit.scalar(DType::int32, 0);
    source = emit.op("SELECT_V2", {emit.op("LESS", {last, zero}), counting(emit, s.n),
                                   emit.add(emit.maximum(last, zero), s.n.scalar(emit))});
  }
  return bitcast(emit, emit.op("GATHER", {rows, source}, {{"axis", 0}, {"batch_dims", 0}}), s.data.dtype());
}

/// The type in which a product wraps and rounds to the same as in `t`; what is narrower goes through a cast.
DType multiplied_in(DType t) {
  switch (t) {
    case DType::int8:
    case DType::uint8:
    case DType::int16:
    case DType::uint16:
      return DType::int32;
    case DType::float16:
      return DType::float32;
    default:
      return t;
  }
}
/// The same for a sum, which the kernel knows of 8 bits.
DType summed_in(DType t) { return t == DType::int8 || t == DType::uint8 ? t : multiplied_in(t); }

Value reduced_by(const Emit& emit, std::string_view op, const Scatter& s, const Value& rows) {
  if (op != "SCATTER_ND") return emit.op(op, {rows, all_places(emit, s), s.n.scalar(emit)});
  Extents shape{s.n};
  for (const Extent& e : extents_of(emit, rows, 1, rows.rank())) shape.push_back(e);
  return emit.op(op, {emit.reshape(all_places(emit, s), {-1, 1}), rows, vector_of(emit, shape)});
}

Value accumulated(const Emit& emit, const Scatter& s, bool product) {
  const DType t = s.data.dtype(), wide = product ? multiplied_in(t) : summed_in(t);
  decline_if(t == DType::boolean || t == DType::bfloat16, "a sum or product of ", name_of(t));
  decline_if(t == DType::float64, "LiteRT's scatters compute no float64");
  decline_if(product && carrier_of(t) == DType::int64, "LiteRT's UNSORTED_SEGMENT_PROD knows no ", name_of(t));
  const auto ready = [&](const Value& v) { return carried(emit, emit.cast(v, wide)); };
  const Value rows = concatenation(emit, {ready(s.data), ready(s.updates)}, 0);
  const Value y = reduced_by(emit, product ? "UNSORTED_SEGMENT_PROD" : "SCATTER_ND", s, rows);
  return wide == t ? bitcast(emit, y, t) : emit.cast(y, t);
}

/// Numbers of up to 32 bits: as integers in the same order.
Value extreme_of_narrow(const Emit& emit, const Scatter& s, bool largest) {
  const DType t = s.data.dtype();
  const bool half = t == DType::float16, bits = t == DType::float32 || t == DType::uint32 || half;
  const DType wide = half ? DType::float32 : bits ? t : DType::int32;
  const auto ready = [&](const Value& v) { return ordered_integers(emit, emit.cast(v, wide)); };
  const Value y = reduced_by(emit, largest ? "UNSORTED_SEGMENT_MAX" : "UNSORTED_SEGMENT_MIN", s,
                             concatenation(emit, {ready(s.data), ready(s.updates)}, 0));
  return emit.cast(from_ordered_integers(emit, y, wide), t);
}

/// Wider numbers: all are sorted, and each place takes the first that names it.
Value extreme_of_wide(const Emit& emit, const Scatter& s, bool largest) {
  const auto width = product(emit, extents_of(emit, s.data, 1, s.data.rank()));
  const Value rows = concatenation(emit, {carried(emit, s.data), carried(emit, s.updates)}, 0);
  Value places = emit.reshape(all_places(emit, s), {-1, 1});
  places = emit.add(emit.mul(places, width.scalar(emit)), emit.reshape(counting(emit, width), {1, -1}));
  const Extent total = product(emit, {extent_of(emit, rows, 0), width});
  const Value elements = flat(emit, rows);
  const Value order =
      top_k(emit, sort_key(emit, bitcast(emit, elements, s.data.dtype()), largest), total.scalar(emit)).indices;
  const Value first = emit.op("UNSORTED_SEGMENT_MIN", {counting(emit, total), pick(emit, flat(emit, places), order),
                                                       product(emit, {s.n, width}).scalar(emit)});
  const Value y = pick(emit, elements, pick(emit, order, first));
  return bitcast(emit, reshape_to(emit, y, extents_of(emit, s.data, 0, s.data.rank())), s.data.dtype());
}

Value scatter(const Emit& emit, const Scatter& s, std::string_view reduction) {
  if (reduction == "none") return replaced(emit, s);
  if (reduction == "add" || reduction == "mul") return accumulated(emit, s, reduction == "mul");
  decline_if(reduction != "max" && reduction != "min", "reduction '", reduction, "' is not known");
  const DType t = s.data.dtype();
  decline_if(t == DType::boolean || t == DType::bfloat16, "the ", reduction, " of ", name_of(t));
  return carrier_of(t) == DType::int64 ? extreme_of_wide(emit, s, reduction == "max")
                                       : extreme_of_narrow(emit, s, reduction == "max");
}

Results scatter_elements(const Node& node, const Emit& emit) {
  const Value x = node.in(0), updates = node.in(2);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const Value at = from_end(emit, node.in(1), extent_of(emit, x, axis));
  const Dims dims = x.static_dims();
  const Value places = flat(emit, element_places(emit, dims, at, axis));
  const Scatter s{emit.reshape(x, {-1, 1}), emit.reshape(updates, {-1, 1}), places, x.elements(), at.elements()};
  return emit.reshape(scatter(emit, s, node.attr("reduction", "none")), dims);
}

}  // namespace

/// x with x[i, ..., at[i, ..., j]] replaced by, or reduced with, updates[i, ..., j]; equal indices in their order.
GANTRY_CONVERT(onnx, "ScatterElements", since(11), to(tflite)) { return scatter_elements(node, emit); }
GANTRY_CONVERT(onnx, "Scatter", since(9), to(tflite)) { return scatter_elements(node, emit); }

/// x with rows x[at[i...]] replaced by, or reduced with, updates[i...].
GANTRY_CONVERT(onnx, "ScatterND", since(11), to(tflite)) {
  const Value x = node.in(0), at = node.in(1);
  const std::int64_t k = at.dim(-1);
  decline_if(k < 1 || k > x.rank(), "indices of ", text(at.dims()), " into rank ", x.rank());
  const int end = static_cast<int>(k);
  const Extents sizes = extents_of(emit, x, 0, end);
  const Extent n = product(emit, sizes), m = product(emit, extents_of(emit, at, 0, at.rank() - 1)),
               row = product(emit, extents_of(emit, x, end, x.rank()));
  const Scatter s{reshape_to(emit, x, {n, row}), reshape_to(emit, node.in(2), {m, row}), tuple_places(emit, at, sizes),
                  n, m};
  return reshape_to(emit, scatter(emit, s, node.attr("reduction", "none")), extents_of(emit, x, 0, x.rank()));
}

/// A cache in which the updates stand from write_indices[b] on along `axis`, round the end if it is circular: each
/// place p takes update p - write_indices[b], where there is one.
GANTRY_CONVERT(onnx, "TensorScatter", since(24), to(tflite)) {
  const Value cache = node.in(0), updates = node.in(1);
  const int axis = normalize_axis(node.attr("axis", -2), cache.rank());
  decline_if(axis == 0, "axis 0 is the batch");
  const bool circular = node.attr("mode", "linear") == "circular";
  const Extent size = extent_of(emit, cache, axis), count = extent_of(emit, updates, axis);
  const Value place = emit.reshape(counting(emit, size), {1, -1}), zero = emit.scalar(DType::int32, 0);
  Value start;
  if (node.in(2)) {
    start = emit.reshape(as_int32(emit, node.in(2)), {-1, 1});
  } else {
    start = emit.op("FILL", {vector_of(emit, {extent_of(emit, cache, 0), 1}), zero});
  }
  Value number = emit.sub(place, start);
  if (circular) number = emit.op("FLOOR_MOD", {number, size.scalar(emit)});
  const Value there =
      emit.op("LOGICAL_AND", {emit.op("GREATER_EQUAL", {number, zero}), emit.op("LESS", {number, count.scalar(emit)})});
  // FLOOR_MOD keeps the unused side in range too, and broadcasts the places to every batch.
  const Value source =
      emit.op("SELECT_V2", {there, emit.add(number, size.scalar(emit)), emit.add(place, emit.mul(start, 0))});
  const Value both =
      emit.op("CONCATENATION", {carried(emit, cache), carried(emit, updates)}, {{"axis", axis}, no_activation()});
  return bitcast(emit, emit.op("GATHER", {both, source}, {{"axis", axis}, {"batch_dims", 1}}), cache.dtype());
}

/// Zeros with x[i] at place indices[i] of the flat result; what output_shape has more stands at the end of each axis.
GANTRY_CONVERT(onnx, "MaxUnpool", since(9), to(tflite)) {
  const Value x = node.in(0);
  const Dims dims = x.static_dims(), kernel = node.attr<Dims>("kernel_shape");
  const std::size_t axes = kernel.size();
  decline_if(dims.size() != axes + 2, "kernel_shape ", text(kernel), " for ", text(dims));
  const Dims strides = node.attr("strides", Dims(axes, 1)), pads = node.attr("pads", Dims(2 * axes, 0));
  Dims shape{dims[0], dims[1]};
  for (std::size_t i = 0; i < axes; ++i)
    shape.push_back((dims[i + 2] - 1) * strides[i] - pads[i] - pads[axes + i] + kernel[i]);
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  const Value zeros = emit.op("FILL", {emit.i32({n, 1}), emit.scalar(x.dtype(), 0)});
  const Scatter s{zeros, emit.reshape(x, {-1, 1}), flat(emit, as_int32(emit, node.in(1))), n, x.elements()};
  Value y = emit.reshape(replaced(emit, s), shape);
  if (node.in(2)) {
    const Dims wanted = node.out().is_static() ? node.out().dims() : node.in(2).read<std::int64_t>();
    decline_if(wanted.size() != shape.size(), "output_shape ", text(wanted), " for rank ", shape.size());
    std::vector<std::int32_t> more;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      decline_if(wanted[i] < shape[i], "output_shape ", text(wanted), " is below ", text(shape));
      more.push_back(0);
      more.push_back(static_cast<std::int32_t>(wanted[i] - shape[i]));
    }
    if (wanted != shape) y = emit.op("PAD", {y, emit.constant<std::int32_t>({x.rank(), 2}, more)});
  }
  return y;
}

}  // namespace core_ops
