// Concat and Split. Operators: ONNX operator specification, ai.onnx.
#include <algorithm>

#include "runtime.hpp"

namespace core_ops {

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
    if (s != 0) {
      results.push_back(parts.at(next++));
    } else {
      decline_if(!Value::known(none), "a part without elements of a value of unknown shape");
      results.push_back(emit.numbers(x.dtype(), none, {}));
    }
  }
  return results;
}

/// Sizes that the graph computes.
std::vector<Value> split_at_run_time(const Emit& emit, const Value& x, int axis, const Value& sizes,
                                     std::size_t parts) {
  return emit.ops("SPLIT_V", parts, {x, sizes, emit.constant<std::int32_t>({}, {axis})},
                  {{"num_splits", static_cast<std::int64_t>(parts)}});
}

/// n in `parts` parts of ceil(n / parts), the last of what is left.
Value even_sizes(const Emit& emit, const Extent& n, std::int64_t parts) {
  const Extent chunk = over(emit, plus(emit, n, Extent(parts - 1)), parts);
  Extents sizes(static_cast<std::size_t>(parts - 1), chunk);
  sizes.push_back(less_by(emit, n, times(emit, chunk, Extent(parts - 1))));
  return vector_of(emit, sizes);
}

}  // namespace

/// Parts of given sizes, or num_outputs parts of which the last may be smaller.
GANTRY_CONVERT(onnx, "Split", since(2), to(tflite)) {
  const Value x = node.in(0), given = node.in(1);
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const auto parts = static_cast<std::int64_t>(node.out_count());
  if (parts == 1) return x;
  if (given && !given.constant()) {
    const Value sizes = int_vector(emit, given);
    decline_if(length_of(sizes) != parts, length_of(sizes), " sizes for ", parts, " parts");
    return split_at_run_time(emit, x, axis, sizes, node.out_count());
  }
  auto sizes = ints(node, 1, "split");
  const std::int64_t n = x.dim(axis);
  if (!sizes && n >= 0) {
    const std::int64_t chunk = (n + parts - 1) / parts;
    sizes = Dims(static_cast<std::size_t>(parts), chunk);
    sizes->back() = n - chunk * (parts - 1);
    decline_if(sizes->back() < 0, n, " elements in ", parts, " parts of ", chunk);
  }
  if (sizes) return split(emit, x, axis, *sizes);
  return split_at_run_time(emit, x, axis, even_sizes(emit, extent_of(emit, x, axis), parts), node.out_count());
}

}  // namespace core_ops
