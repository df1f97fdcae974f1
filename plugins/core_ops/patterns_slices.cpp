// Patterns of parts: fewer operators that take parts of a value. Dimensions along the axis are known, the numbers are
// constants.
#include <algorithm>
#include <limits>

#include "common.hpp"

namespace core_ops {
namespace {

/// A Slice by constants: [first, last) along axes that are not negative, in steps. Ends are as given.
struct Cut {
  Dims starts, ends, axes, steps;
};
std::optional<Cut> cut(const Node& slice) {
  if (!slice.is("Slice") || slice.dialect() != "onnx" || !slice.in(0).ranked()) return std::nullopt;
  for (std::size_t i = 1; i < slice.in_count(); ++i)
    if (slice.in(i) && !slice.in(i).constant()) return std::nullopt;
  if (!slice.in(1) || !slice.in(2)) return std::nullopt;
  Cut c{slice.in(1).read<std::int64_t>(), slice.in(2).read<std::int64_t>(), {}, {}};
  if (slice.in(3)) c.axes = slice.in(3).read<std::int64_t>();
  if (slice.in(4)) c.steps = slice.in(4).read<std::int64_t>();
  const std::size_t n = c.starts.size();
  if (!slice.in(3))
    for (std::size_t i = 0; i < n; ++i) c.axes.push_back(static_cast<std::int64_t>(i));
  if (!slice.in(4)) c.steps.assign(n, 1);
  if (c.ends.size() != n || c.axes.size() != n || c.steps.size() != n) return std::nullopt;
  for (std::int64_t& a : c.axes) {
    if (a < 0) a += slice.in(0).rank();
    if (a < 0 || a >= slice.in(0).rank()) return std::nullopt;
  }
  return c;
}

/// The places that a cut along one axis of size n takes, in steps of 1: first and how many.
std::optional<std::pair<std::int64_t, std::int64_t>> span_along(const Cut& c, std::int64_t axis, std::int64_t n) {
  if (c.axes.size() != 1 || c.axes[0] != axis || c.steps[0] != 1) return std::nullopt;
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + n : at, 0, n); };
  const std::int64_t first = place(c.starts[0]), last = place(c.ends[0]);
  return std::pair(first, std::max<std::int64_t>(0, last - first));
}

std::optional<std::int64_t> one_place(const Node& gather, const Value& x, int axis) {
  if (!gather.is("Gather") || gather.dialect() != "onnx" || !(gather.in(0) == x)) return std::nullopt;
  const Value at = gather.in(1);
  if (!at.constant() || at.rank() != 0 || gather.in(1) == x) return std::nullopt;
  if (normalize_axis(gather.attr("axis", 0), x.rank()) != axis) return std::nullopt;
  const auto place = at.scalar<std::int64_t>();
  return place < 0 ? place + x.dim(axis) : place;
}

}  // namespace

/// Gathers of each single place along an axis: one Split.
GANTRY_PATTERN("gathers_split", onnx, "Gather") {
  constexpr std::int64_t kMost = 64;
  const Value x = node.in(0);
  if (!x.ranked() || x.constant() || x.rank() < 2 || !node.in(1).constant()) return false;
  const int axis = normalize_axis(node.attr("axis", 0), x.rank());
  const std::int64_t n = x.dim(axis);
  if (n < 2 || n > kMost) return false;
  std::vector<std::vector<Node>> readers(static_cast<std::size_t>(n));
  for (const Node& user : x.users()) {
    const auto place = one_place(user, x, axis);
    if (place && *place >= 0 && *place < n) readers[static_cast<std::size_t>(*place)].push_back(user);
  }
  if (std::ranges::any_of(readers, [](const auto& r) { return r.empty(); })) return false;
  const std::vector<Value> parts = emit.ops("Split", static_cast<std::size_t>(n),
                                            {x, emit.i64(Dims(static_cast<std::size_t>(n), 1))}, {{"axis", axis}});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Value part = emit.op("Squeeze", {parts[i], emit.i64({axis})});
    // The parts are made here: where a Gather in a subgraph stands before, its readers would not know them.
    for (const Node& reader : readers[i])
      if (!emit.try_replace(reader.out(), part)) return false;
  }
  return true;
}

/// Concat(x[k:], x[:k]) along the axis of the cuts: one Gather in that order.
GANTRY_PATTERN("roll", onnx, "Concat", also("Slice")) {
  constexpr std::int64_t kMost = 1 << 16;
  if (node.in_count() != 2 || !node.in(0).ranked()) return false;
  const auto a = node.in(0).producer(), b = node.in(1).producer();
  if (!a || !b) return false;
  const auto first = cut(*a), second = cut(*b);
  if (!first || !second || !(a->in(0) == b->in(0))) return false;
  const Value x = a->in(0);
  const int axis = normalize_axis(node.attr<std::int64_t>("axis"), x.rank());
  const std::int64_t n = x.dim(axis);
  if (n < 2 || n > kMost || x.constant()) return false;
  const auto tail = span_along(*first, axis, n), head = span_along(*second, axis, n);
  if (!tail || !head || head->first != 0 || tail->first != head->second || tail->first + tail->second != n)
    return false;
  if (tail->second == 0 || head->second == 0) return false;
  if (node.in(0).use_count() != 1 || node.in(1).use_count() != 1) return false;
  Dims places;
  for (std::int64_t i = 0; i < n; ++i) places.push_back((tail->first + i) % n);
  emit.replace(node.out(), emit.op("Gather", {x, emit.i64(places)}, {{"axis", axis}}));
  return true;
}

/// A Slice of a Slice along other axes, which only Slices read: one Slice of both.
GANTRY_PATTERN("slice_slice", onnx, "Slice") {
  const auto inner = node.in(0).producer();
  if (!inner || node.in(0).is_output()) return false;
  const auto a = cut(*inner), b = cut(node);
  if (!a || !b) return false;
  for (const std::int64_t axis : b->axes)
    if (std::ranges::find(a->axes, axis) != a->axes.end()) return false;
  for (const Node& user : inner->out().users())
    if (!cut(user) || !(user.in(0) == inner->out())) return false;
  const auto both = [](Dims x, const Dims& y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
  };
  emit.replace(node.out(),
               emit.op("Slice", {inner->in(0), emit.i64(both(a->starts, b->starts)), emit.i64(both(a->ends, b->ends)),
                                 emit.i64(both(a->axes, b->axes)), emit.i64(both(a->steps, b->steps))}));
  return true;
}

}  // namespace core_ops
