// Decision trees by gathers: `at` [n, trees] holds the node where each row stands in each tree.
#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace core_ops {
namespace {

template <class T>
Value constant_vector(const Emit& emit, const std::vector<T>& v) {
  return emit.constant<T>({static_cast<std::int64_t>(v.size())}, v);
}

/// Whether each row takes the first branch, [n, trees].
Value taken(const Emit& emit, const Forest& f, const Value& x, const Value& at) {
  std::set<Mode> kinds;
  for (Mode m : f.modes)
    if (m != Mode::leaf) kinds.insert(m);
  const Value number =
      emit.op("GATHER", {x, gather(emit, constant_vector(emit, f.feature), at)}, {{"axis", 1}, {"batch_dims", 1}});
  const Value threshold = gather(emit, constant_vector(emit, f.threshold), at);
  const auto compare = [&](Mode m) {
    constexpr std::string_view names[] = {"LESS_EQUAL", "LESS", "GREATER_EQUAL", "GREATER", "EQUAL", "NOT_EQUAL"};
    if (m != Mode::member) return emit.op(names[static_cast<int>(m)], {number, threshold});
    std::size_t most = 1;
    for (const auto& list : f.members) most = std::max(most, list.size());
    std::vector<float> sets;
    for (auto list : f.members) {
      list.resize(most, std::nanf(""));
      sets.insert(sets.end(), list.begin(), list.end());
    }
    const Value table =
        emit.constant<float>({static_cast<std::int64_t>(f.size()), static_cast<std::int64_t>(most)}, sets);
    return reduce_axes(emit, "REDUCE_ANY", emit.op("EQUAL", {insert_axis(emit, number, 2), gather(emit, table, at)}),
                       {2}, false);
  };
  Value yes;
  for (Mode m : kinds) {
    const Value holds = compare(m);
    if (!yes) {
      yes = holds;
      continue;
    }
    std::vector<std::int32_t> of_mode;
    for (Mode k : f.modes) of_mode.push_back(k == m);
    const Value here =
        emit.op("EQUAL", {gather(emit, constant_vector(emit, of_mode), at), emit.scalar(DType::int32, 1)});
    yes = emit.op("LOGICAL_OR", {emit.op("LOGICAL_AND", {here, holds}),
                                 emit.op("LOGICAL_AND", {emit.op("LOGICAL_NOT", {here}), yes})});
  }
  if (std::find(f.missing_true.begin(), f.missing_true.end(), true) != f.missing_true.end()) {
    std::vector<std::int32_t> tracks(f.missing_true.begin(), f.missing_true.end());
    const Value here =
        emit.op("EQUAL", {gather(emit, constant_vector(emit, tracks), at), emit.scalar(DType::int32, 1)});
    yes = emit.op("LOGICAL_OR", {yes, emit.op("LOGICAL_AND", {here, emit.op("NOT_EQUAL", {number, number})})});
  }
  return yes;
}

}  // namespace

Value leaves(const Emit& emit, const Forest& f, const Value& x) {
  decline_if(f.roots.empty(), "no trees");
  const int depth = f.depth();
  const std::int64_t trees = static_cast<std::int64_t>(f.roots.size());
  for (std::size_t i = 0; i < f.size(); ++i)
    decline_if(f.modes[i] != Mode::leaf && (f.feature[i] < 0 || (x.dim(1) >= 0 && f.feature[i] >= x.dim(1))),
               "feature ", f.feature[i], " of ", x.dim(1));
  // The roots for every row: a column of zeros plus the roots.
  const Value zeros = emit.mul(emit.cast(slice_axis(emit, emit.op("NOT_EQUAL", {x, x}), 1, 0, 1), DType::int32), 0);
  Value at = emit.add(zeros, emit.constant<std::int32_t>({1, trees}, f.roots));
  for (int step = 0; step < depth; ++step) {
    const Value yes = gather(emit, constant_vector(emit, f.yes), at),
                no = gather(emit, constant_vector(emit, f.no), at);
    // A leaf's two children are itself, so what is compared there does not matter.
    at = emit.op("SELECT_V2", {taken(emit, f, x, at), yes, no});
  }
  return at;
}

Value scores(const Emit& emit, const Forest& f, const Value& at, const std::string& aggregate) {
  const std::int64_t trees = static_cast<std::int64_t>(f.roots.size());
  const Value table = emit.constant<float>({static_cast<std::int64_t>(f.size()), f.targets}, f.weights);
  const Value votes = gather(emit, table, at);  // [n, trees, targets]
  if (aggregate == "SUM") return reduce_axes(emit, "SUM", votes, {1}, false);
  if (aggregate == "AVERAGE") return emit.div(reduce_axes(emit, "SUM", votes, {1}, false), static_cast<double>(trees));
  decline_if(aggregate != "MIN" && aggregate != "MAX", "aggregate_function ", aggregate);
  for (std::size_t i = 0; i < f.size(); ++i)
    for (std::int64_t k = 0; f.modes[i] == Mode::leaf && k < f.targets; ++k)
      decline_if(!f.voted[i * static_cast<std::size_t>(f.targets) + static_cast<std::size_t>(k)], "aggregate_function ",
                 aggregate, " where a leaf has no weight for a target");
  return reduce_axes(emit, aggregate == "MIN" ? "REDUCE_MIN" : "REDUCE_MAX", votes, {1}, false);
}

Value of_voted(const Emit& emit, const Forest& f, const Value& at, const Value& y) {
  std::vector<float> table(f.voted.begin(), f.voted.end());
  const Value votes = gather(emit, emit.constant<float>({static_cast<std::int64_t>(f.size()), f.targets}, table), at);
  const Value none =
      emit.op("EQUAL", {reduce_axes(emit, "REDUCE_MAX", votes, {1}, false), emit.scalar(DType::float32, 0)});
  return emit.op("SELECT_V2", {none, emit.scalar(DType::float32, std::numeric_limits<float>::lowest()), y});
}

}  // namespace core_ops
