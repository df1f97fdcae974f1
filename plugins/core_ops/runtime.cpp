#include "runtime.hpp"

#include <algorithm>
#include <limits>

namespace core_ops {
namespace {

constexpr std::int64_t kLowest = -std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kHighest = std::numeric_limits<std::int32_t>::max();

/// Both as numbers, else as one node.
Extent combined(const Emit& emit, std::string_view op, const Extent& a, const Extent& b) {
  return Extent(emit.op(op, {a.scalar(emit), b.scalar(emit)}));
}

}  // namespace

Value saturated(const Emit& emit, const Value& v) {
  if (v.constant()) {
    std::vector<std::int32_t> numbers;
    for (std::int64_t n : v.read<std::int64_t>())
      numbers.push_back(static_cast<std::int32_t>(std::clamp(n, kLowest, kHighest)));
    return emit.constant<std::int32_t>(v.dims(), numbers);
  }
  if (v.dtype() != DType::int64) return emit.cast(v, DType::int32);
  const Value low = emit.constant<std::int64_t>({}, {kLowest}), high = emit.constant<std::int64_t>({}, {kHighest});
  return emit.cast(emit.minimum(emit.maximum(v, low), high), DType::int32);
}

Value int_vector(const Emit& emit, const Value& v) {
  const Value narrow = saturated(emit, v);
  return narrow.rank() == 1 ? narrow : emit.reshape(narrow, {-1});
}

Value shape_of(const Emit& emit, const Value& v) {
  if (v.is_static()) return emit.i32(v.dims());
  return emit.op("SHAPE", {v}, {{"out_type", "INT32"}});
}

Value part_of(const Emit& emit, const Value& vector, std::int64_t first, std::int64_t count) {
  if (vector.constant()) return emit.slice_constant(vector, {first}, {1}, {count});
  if (first == 0 && vector.dim(0) == count) return vector;
  return emit.op("SLICE", {vector, emit.i32({first}), emit.i32({count})});
}

Value joined(const Emit& emit, const std::vector<Value>& vectors) {
  std::vector<Value> parts;
  for (const Value& v : vectors)
    if (v.dim(0) != 0) parts.push_back(v);
  if (parts.empty()) return vectors.at(0);
  if (parts.size() == 1) return parts[0];
  return emit.op("CONCATENATION", parts, {{"axis", 0}, no_activation()});
}

Extent element(const Emit& emit, const Value& vector, std::int64_t i) {
  if (vector.constant()) {
    const std::int64_t n = vector.read<std::int64_t>().at(static_cast<std::size_t>(i));
    return n >= 0 ? Extent(n) : Extent(emit.scalar(DType::int32, static_cast<double>(n)));
  }
  return Extent(gather(emit, vector, emit.constant<std::int32_t>({}, {static_cast<std::int32_t>(i)})));
}

std::int64_t length_of(const Value& vector) {
  const std::int64_t n = vector.rank() == 0 ? 1 : vector.dim(0);
  decline_if(n < 0, "the length of '", vector.name(), "', and with it a rank, is not known");
  return n;
}

Axes read_axes(const Node& node, const Emit& emit, std::size_t operand, int rank, std::int64_t count) {
  Axes a;
  a.count = count;
  const Value v = node.in(operand);
  if (v && !v.constant()) {
    decline_if(length_of(v) != count, length_of(v), " axes for ", count, " numbers");
    a.runtime = int_vector(emit, v);
    return a;
  }
  if (v) {
    a.known = v.read<std::int64_t>();
  } else {
    a.known.resize(static_cast<std::size_t>(count));
    std::iota(a.known.begin(), a.known.end(), 0);
  }
  decline_if(static_cast<std::int64_t>(a.known.size()) != count, a.known.size(), " axes for ", count, " numbers");
  for (std::int64_t& n : a.known) n = normalize_axis(n, rank);
  return a;
}

Value spread(const Emit& emit, const Value& given, const Axes& axes, int rank, std::int32_t otherwise) {
  const Value rest = emit.i32({otherwise});
  if (axes.count == 0) return emit.i32(Dims(static_cast<std::size_t>(rank), otherwise));
  if (!axes.runtime) {
    Dims from(static_cast<std::size_t>(rank), axes.count);
    for (std::size_t j = 0; j < axes.known.size(); ++j)
      from[static_cast<std::size_t>(axes.known[j])] = static_cast<std::int64_t>(j);
    Dims same(static_cast<std::size_t>(rank));
    std::iota(same.begin(), same.end(), 0);
    if (from == same && axes.count == rank) return given;
    if (given.constant()) {
      Dims numbers = given.read<std::int64_t>(), all;
      numbers.push_back(otherwise);
      for (std::int64_t j : from) all.push_back(numbers[static_cast<std::size_t>(j)]);
      return emit.i32(all);
    }
    return gather(emit, joined(emit, {given, rest}), emit.i32(from));
  }
  // Row j of the table is 1 at the axis that is named j-th: its largest entry says which number an axis gets.
  const Value named = from_end(emit, axes.runtime, Extent(rank)), all = counting(emit, Extent(rank));
  const Value hit = emit.op("EQUAL", {emit.reshape(named, {axes.count, 1}), emit.reshape(all, {1, rank})});
  const Value place = emit.mul(emit.cast(hit, DType::int32),
                               emit.reshape(emit.add(counting(emit, Extent(axes.count)), 1), {axes.count, 1}));
  const Value from = emit.op("REDUCE_MAX", {place, emit.i32({0})}, {{"keep_dims", false}});
  return gather(emit, joined(emit, {rest, given}), from);
}

Extent plus(const Emit& emit, const Extent& a, const Extent& b) {
  if (a.is_known() && b.is_known()) return a.known + b.known;
  if (a.known == 0) return b;
  return b.known == 0 ? a : combined(emit, "ADD", a, b);
}
Extent less_by(const Emit& emit, const Extent& a, const Extent& b) {
  if (a.is_known() && b.is_known()) return std::max<std::int64_t>(0, a.known - b.known);
  if (b.known == 0) return a;
  return Extent(emit.maximum(combined(emit, "SUB", a, b).value, 0));
}
Extent times(const Emit& emit, const Extent& a, const Extent& b) {
  if (a.is_known() && b.is_known()) return a.known * b.known;
  if (a.known == 1) return b;
  return b.known == 1 ? a : combined(emit, "MUL", a, b);
}
Extent halved(const Emit& emit, const Extent& a) { return over(emit, a, 2); }
Extent over(const Emit& emit, const Extent& a, std::int64_t by) {
  if (by == 1) return a;
  return a.is_known() ? Extent(a.known / by) : combined(emit, "FLOOR_DIV", a, Extent(by));
}
Extent smaller(const Emit& emit, const Extent& a, const Extent& b) {
  if (a.is_known() && b.is_known()) return std::min(a.known, b.known);
  return combined(emit, "MINIMUM", a, b);
}

bool same_size(const Value& a, int axis_a, const Value& b, int axis_b) {
  const std::int64_t x = a.dim(axis_a), y = b.dim(axis_b);
  if (x >= 0 || y >= 0) return x == y;
  return !a.symbol(axis_a).empty() && a.symbol(axis_a) == b.symbol(axis_b);
}

}  // namespace core_ops
