// Operators that order elements: TopK and Unique, by LiteRT's TOPK_V2, which keeps the order of equal elements.
// Operators: ONNX operator specification, ai.onnx.
#include "carrier.hpp"
#include "elements.hpp"

namespace core_ops {
/// k was an attribute.
GANTRY_UPGRADE(onnx, "TopK", versions(1, 9)) {
  return emit.ops("TopK", 2, {node.in(0), emit.i64({node.attr<std::int64_t>("k")})},
                  {{"axis", node.attr<std::int64_t>("axis", -1)}});
}

/// The k largest or smallest along an axis, and where they stood; of equal ones the first.
GANTRY_CONVERT(onnx, "TopK", since(10), to(tflite)) {
  const int rank = node.in(0).rank(), axis = normalize_axis(node.attr("axis", -1), rank);
  const Dims perm = swap_with_last(axis, rank);
  const bool largest = node.attr("largest", 1) != 0;
  const Value x = bitcast(emit, emit.transpose(carried(emit, node.in(0)), perm), node.in(0).dtype());
  const Value key = sort_key(emit, x, largest);
  const Sorted s = top_k(emit, key, emit.reshape(as_int32(emit, node.in(1)), {}));
  Value values = s.values;
  if (key.dtype() != x.dtype() || !largest) values = pick(emit, carried(emit, x), s.indices, rank - 1, rank - 1);
  const Value y = bitcast(emit, emit.transpose(carried(emit, values), perm), x.dtype());
  return std::vector<Value>{y, emit.cast(emit.transpose(s.indices, perm), DType::int64)};
}

namespace {

/// Most columns of the rows that Unique tells apart: each is a sort of its own.
constexpr std::int64_t kMostColumns = 256;

/// Rows in ascending order, as their numbers: sorted by the last column first, each sort keeping the order of equals.
Value ascending_order(const Emit& emit, const Value& keys, const Extent& rows) {
  const std::int64_t columns = keys.dim(1);
  const Value n = rows.scalar(emit);
  if (columns == 1) return top_k(emit, flat(emit, keys), n).indices;
  const Value by_column = emit.transpose(keys, {1, 0});
  Value order;
  for (std::int64_t c = columns; c-- > 0;) {
    const Value column =
        emit.op("GATHER", {by_column, emit.scalar(DType::int32, static_cast<double>(c))}, {{"axis", 0}});
    const Value key = order ? pick(emit, column, order) : column;
    const Value next = top_k(emit, key, n).indices;
    order = order ? pick(emit, order, next) : next;
  }
  return order;
}

/// Places [n] as SCATTER_ND takes them.
Value places(const Emit& emit, const Value& at) { return emit.reshape(at, {-1, 1}); }

/// What Unique finds, in ascending order: first and count for each group, group for each row.
struct Groups {
  Value first, group, count, shape;
};

Groups find_groups(const Emit& emit, const Value& keys, const Extent& rows) {
  const Value order = ascending_order(emit, keys, rows), number = counting(emit, rows);
  const Value zero = emit.scalar(DType::int32, 0), one = emit.scalar(DType::int32, 1);
  const Value before = emit.maximum(emit.sub(number, one), zero);
  const Value sorted = pick(emit, keys, order);
  const Value differs =
      emit.op("REDUCE_ANY", {emit.op("NOT_EQUAL", {sorted, pick(emit, sorted, before)}), emit.i32({1})},
              {{"keep_dims", false}});
  const Value starts = emit.op("LOGICAL_OR", {differs, emit.op("EQUAL", {number, zero})});
  const Value in_order = emit.sub(emit.op("CUMSUM", {emit.cast(starts, DType::int32), zero}), one);
  const Value at = flat(emit, emit.op("WHERE", {starts}));
  Groups g;
  g.shape = emit.op("SHAPE", {at}, {{"out_type", "INT32"}});
  g.first = pick(emit, order, at);
  const Value ones = emit.op("FILL", {vector_of(emit, {rows}), one});
  g.count = emit.op("SCATTER_ND", {places(emit, in_order), ones, g.shape});
  g.group = emit.op("SCATTER_ND", {places(emit, order), in_order, vector_of(emit, {rows})});
  return g;
}

/// The groups in the order in which they first occur.
Groups by_occurrence(const Emit& emit, const Groups& g) {
  const Value size = emit.reshape(g.shape, {});
  const Value order = top_k(emit, emit.sub(emit.scalar(DType::int32, -1), g.first), size).indices;
  const Value rank = emit.op("SCATTER_ND", {places(emit, order), counting(emit, Extent(size)), g.shape});
  return {pick(emit, g.first, order), pick(emit, rank, g.group), pick(emit, g.count, order), g.shape};
}

}  // namespace

/// Different elements, or slices of an axis; where each first occurs, which of them each is, how often each occurs.
GANTRY_CONVERT(onnx, "Unique", since(11), to(tflite)) {
  const bool by_axis = node.has_attr("axis");
  const Value x = by_axis ? node.in(0) : flat(emit, node.in(0));
  const int axis = by_axis ? normalize_axis(node.attr<std::int64_t>("axis"), x.rank()) : 0;
  const Extent rows = extent_of(emit, x, axis);
  Dims perm{axis};  // the axis to the front
  for (int a = 0; a < x.rank(); ++a)
    if (a != axis) perm.push_back(a);
  const Value front = emit.transpose(carried(emit, x), perm);
  std::int64_t columns = 1;
  for (std::size_t i = 1; i < perm.size(); ++i) {
    const std::int64_t n = x.dim(static_cast<int>(perm[i]));
    decline_if(n < 1, "slices of ", text(x.dims()), ": their size must be known");
    columns *= n;
  }
  decline_if(columns > kMostColumns, "slices of ", columns, " elements; up to ", kMostColumns, " are sorted");
  const Value keys = emit.reshape(sort_key(emit, bitcast(emit, front, x.dtype()), false), {rows.known, columns});
  Groups g = find_groups(emit, keys, rows);
  if (node.attr("sorted", 1) == 0) g = by_occurrence(emit, g);
  const auto wide = [&](const Value& v) { return emit.cast(v, DType::int64); };
  std::vector<Value> results{bitcast(emit, pick(emit, carried(emit, x), g.first, axis), x.dtype()), wide(g.first),
                             wide(g.group), wide(g.count)};
  results.resize(node.out_count());
  return results;
}

}  // namespace core_ops
