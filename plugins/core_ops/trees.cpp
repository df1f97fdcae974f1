// TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier. All trees go down together: `at` [n, trees] holds the
// node where each row stands in each tree; a step gathers that node's feature, threshold and children. A leaf is its
// own child. Operators: ONNX operator specification, ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "ml.hpp"

namespace core_ops {
namespace {

enum class Mode { leq, lt, gte, gt, eq, neq, member, leaf };

struct Forest {
  std::vector<Mode> modes;
  std::vector<std::int32_t> feature, yes, no;  // of every node
  std::vector<float> threshold;
  std::vector<bool> missing_true;
  std::vector<std::vector<float>> members;
  std::vector<std::int32_t> roots;
  std::int64_t targets = 1;
  std::vector<float> weights;  // [nodes, targets]
  std::vector<bool> voted;     // the same: whether a leaf says something about a target

  std::size_t size() const { return modes.size(); }
  void resize(std::size_t n) {
    modes.resize(n, Mode::leaf), feature.resize(n), yes.resize(n), no.resize(n), threshold.resize(n);
    missing_true.resize(n), members.resize(n);
    for (std::size_t i = 0; i < n; ++i) yes[i] = no[i] = static_cast<std::int32_t>(i);
  }
  void vote(std::size_t node, std::int64_t target, float w) {
    decline_if(node >= size() || target < 0 || target >= targets, "a leaf for target ", target, " of ", targets);
    const std::size_t i = node * static_cast<std::size_t>(targets) + static_cast<std::size_t>(target);
    weights[i] += w;
    voted[i] = true;
  }
  /// Steps from a root to the deepest leaf; declines for a cycle.
  int depth() const {
    int steps = 0;
    std::set<std::int32_t> level(roots.begin(), roots.end());
    for (;; ++steps) {
      std::set<std::int32_t> below;
      for (std::int32_t i : level)
        if (modes.at(static_cast<std::size_t>(i)) != Mode::leaf)
          below.insert({yes.at(static_cast<std::size_t>(i)), no.at(static_cast<std::size_t>(i))});
      if (below.empty()) return steps;
      decline_if(steps > 64, "trees deeper than 64");
      level = std::move(below);
    }
  }
};

template <class T>
Value constant_vector(const Emit& emit, const std::vector<T>& v) {
  return emit.constant<T>({static_cast<std::int64_t>(v.size())}, v);
}
Value lookup(const Emit& emit, const Value& table, const Value& at) {
  return emit.op("GATHER", {table, at}, {{"axis", 0}, {"batch_dims", 0}});
}

/// Whether each row takes the first branch, [n, trees].
Value taken(const Emit& emit, const Forest& f, const Value& x, const Value& at) {
  std::set<Mode> kinds;
  for (Mode m : f.modes)
    if (m != Mode::leaf) kinds.insert(m);
  const Value number =
      emit.op("GATHER", {x, lookup(emit, constant_vector(emit, f.feature), at)}, {{"axis", 1}, {"batch_dims", 1}});
  const Value threshold = lookup(emit, constant_vector(emit, f.threshold), at);
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
    return reduce_axes(emit, "REDUCE_ANY", emit.op("EQUAL", {insert_axis(emit, number, 2), lookup(emit, table, at)}),
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
        emit.op("EQUAL", {lookup(emit, constant_vector(emit, of_mode), at), emit.scalar(DType::int32, 1)});
    yes = emit.op("LOGICAL_OR", {emit.op("LOGICAL_AND", {here, holds}),
                                 emit.op("LOGICAL_AND", {emit.op("LOGICAL_NOT", {here}), yes})});
  }
  if (std::find(f.missing_true.begin(), f.missing_true.end(), true) != f.missing_true.end()) {
    std::vector<std::int32_t> tracks(f.missing_true.begin(), f.missing_true.end());
    const Value here =
        emit.op("EQUAL", {lookup(emit, constant_vector(emit, tracks), at), emit.scalar(DType::int32, 1)});
    yes = emit.op("LOGICAL_OR", {yes, emit.op("LOGICAL_AND", {here, emit.op("NOT_EQUAL", {number, number})})});
  }
  return yes;
}

/// The leaf where each row ends in each tree, [n, trees].
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
    const Value yes = lookup(emit, constant_vector(emit, f.yes), at),
                no = lookup(emit, constant_vector(emit, f.no), at);
    // A leaf's two children are itself, so what is compared there does not matter.
    at = emit.op("SELECT_V2", {taken(emit, f, x, at), yes, no});
  }
  return at;
}

/// What the trees say together, [n, targets]: SUM, AVERAGE, MIN, MAX.
Value scores(const Emit& emit, const Forest& f, const Value& at, const std::string& aggregate) {
  const std::int64_t trees = static_cast<std::int64_t>(f.roots.size());
  const Value table = emit.constant<float>({static_cast<std::int64_t>(f.size()), f.targets}, f.weights);
  const Value votes = lookup(emit, table, at);  // [n, trees, targets]
  if (aggregate == "SUM") return reduce_axes(emit, "SUM", votes, {1}, false);
  if (aggregate == "AVERAGE") return emit.div(reduce_axes(emit, "SUM", votes, {1}, false), static_cast<double>(trees));
  decline_if(aggregate != "MIN" && aggregate != "MAX", "aggregate_function ", aggregate);
  for (std::size_t i = 0; i < f.size(); ++i)
    for (std::int64_t k = 0; f.modes[i] == Mode::leaf && k < f.targets; ++k)
      decline_if(!f.voted[i * static_cast<std::size_t>(f.targets) + static_cast<std::size_t>(k)], "aggregate_function ",
                 aggregate, " where a leaf has no weight for a target");
  return reduce_axes(emit, aggregate == "MIN" ? "REDUCE_MIN" : "REDUCE_MAX", votes, {1}, false);
}

/// Scores of classes that no tree has spoken of are less than any, for ONNX Runtime: a sum that is negative may win.
Value of_voted(const Emit& emit, const Forest& f, const Value& at, const Value& y) {
  std::vector<float> table(f.voted.begin(), f.voted.end());
  const Value votes = lookup(emit, emit.constant<float>({static_cast<std::int64_t>(f.size()), f.targets}, table), at);
  const Value none =
      emit.op("EQUAL", {reduce_axes(emit, "REDUCE_MAX", votes, {1}, false), emit.scalar(DType::float32, 0)});
  return emit.op("SELECT_V2", {none, emit.scalar(DType::float32, std::numeric_limits<float>::lowest()), y});
}

Mode mode_named(const std::string& name) {
  constexpr std::string_view names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  for (int i = 0; i < 6; ++i)
    if (names[i] == name) return static_cast<Mode>(i);
  decline_if(name != "LEAF", "nodes_modes '", name, "'");
  return Mode::leaf;
}

/// Nodes of TreeEnsembleRegressor and -Classifier; `kind` is "target" or "class".
Forest read_forest(const Node& node, const std::string& kind, std::int64_t targets) {
  for (const char* name : {"nodes_values_as_tensor", "nodes_hitrates_as_tensor", "base_values_as_tensor"})
    decline_if(node.has_attr(name), "attribute ", name, ": trees in float64");
  const Dims trees = node.attr<Dims>("nodes_treeids"), ids = node.attr<Dims>("nodes_nodeids"),
             features = node.attr<Dims>("nodes_featureids"), yes = node.attr<Dims>("nodes_truenodeids"),
             no = node.attr<Dims>("nodes_falsenodeids"), tracks = node.attr("nodes_missing_value_tracks_true", Dims{});
  const auto modes = node.attr<std::vector<std::string>>("nodes_modes");
  const auto values = node.attr<std::vector<float>>("nodes_values");
  Forest f;
  f.targets = targets;
  f.resize(ids.size());
  decline_if(trees.size() != ids.size() || features.size() != ids.size() || yes.size() != ids.size() ||
                 no.size() != ids.size() || modes.size() != ids.size() || values.size() != ids.size(),
             "nodes_* of different lengths");
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> place;
  for (std::size_t i = 0; i < ids.size(); ++i) place[{trees[i], ids[i]}] = static_cast<std::int32_t>(i);
  const auto find = [&](std::int64_t tree, std::int64_t id) {
    const auto it = place.find({tree, id});
    decline_if(it == place.end(), "tree ", tree, " has no node ", id);
    return it->second;
  };
  std::set<std::int32_t> children;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    f.modes[i] = mode_named(modes[i]);
    if (f.modes[i] == Mode::leaf) continue;
    f.feature[i] = static_cast<std::int32_t>(features[i]);
    f.threshold[i] = values[i];
    f.yes[i] = find(trees[i], yes[i]);
    f.no[i] = find(trees[i], no[i]);
    children.insert({f.yes[i], f.no[i]});
    f.missing_true[i] = i < tracks.size() && tracks[i] != 0;
  }
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!children.contains(static_cast<std::int32_t>(i))) f.roots.push_back(static_cast<std::int32_t>(i));
  f.weights.resize(f.size() * static_cast<std::size_t>(targets));
  f.voted.resize(f.weights.size());
  const Dims leaf_trees = node.attr<Dims>(kind + "_treeids"), leaf_ids = node.attr<Dims>(kind + "_nodeids"),
             leaf_targets = node.attr<Dims>(kind + "_ids");
  const auto weights = node.attr<std::vector<float>>(kind + "_weights");
  decline_if(
      leaf_ids.size() != weights.size() || leaf_trees.size() != weights.size() || leaf_targets.size() != weights.size(),
      kind, "_* of different lengths");
  for (std::size_t i = 0; i < weights.size(); ++i)
    f.vote(static_cast<std::size_t>(find(leaf_trees[i], leaf_ids[i])), leaf_targets[i], weights[i]);
  return f;
}

Value with_base(const Node& node, const Emit& emit, const Value& y) {
  const auto base = node.attr<std::vector<float>>("base_values", {});
  return base.empty() ? y : emit.add(y, constant_vector(emit, base));
}

}  // namespace

GANTRY_CONVERT(kMl, "TreeEnsembleRegressor", since(1), to(tflite)) {
  const Forest f = read_forest(node, "target", node.attr<std::int64_t>("n_targets", 1));
  const Value y = scores(emit, f, leaves(emit, f, ml_rows(emit, node.in(0))), node.attr("aggregate_function", "SUM"));
  return post_transform(emit, with_base(node, emit, y), node.attr("post_transform", "NONE"));
}

/// Labels and scores. Two labels and weights for one class only: that class's score decides, against 0.5 where all
/// weights are positive, else against 0, as ONNX Runtime has it.
GANTRY_CONVERT(kMl, "TreeEnsembleClassifier", since(1), to(tflite)) {
  decline_if(
      node.has_attr("classlabels_strings") && !node.attr<std::vector<std::string>>("classlabels_strings").empty(),
      "LiteRT has no operators on strings");
  const Dims labels = node.attr<Dims>("classlabels_int64s"), ids = node.attr<Dims>("class_ids");
  const auto weights = node.attr<std::vector<float>>("class_weights");
  const Forest f = read_forest(node, "class", static_cast<std::int64_t>(labels.size()));
  const Value at = leaves(emit, f, ml_rows(emit, node.in(0)));
  Value y = scores(emit, f, at, "SUM");
  const std::string transform = node.attr("post_transform", "NONE");
  std::vector<Value> results(node.out_count());
  const std::set<std::int64_t> classes(ids.begin(), ids.end());
  if (labels.size() == 2 && classes.size() == 1) {
    decline_if(node.has_attr("base_values") && !node.attr<std::vector<float>>("base_values").empty(),
               "base_values where one class has weights");
    const bool positive = std::all_of(weights.begin(), weights.end(), [](float w) { return w >= 0; });
    decline_if(transform != "NONE" && (positive || transform != "LOGISTIC"), "post_transform ", transform,
               " where one class has weights");
    const Value score = slice_axis(emit, y, 1, *classes.begin(), 1);
    if (node.out(0)) results[0] = label_above(emit, score, positive ? 0.5 : 0, labels);
    const Value other = positive ? emit.sub(1, score) : emit.op("NEG", {score});
    if (node.out(1)) results[1] = post_transform(emit, concatenation(emit, {other, score}, 1), transform);
    return results;
  }
  decline_if(labels.size() == 2 && node.out(0) && node.out(0).use_count() > 0,
             "two labels with weights for both: ONNX Runtime gives 0 or 1 by the sign of the second score, the "
             "specification the label of the greater one");
  const bool base = node.has_attr("base_values") && !node.attr<std::vector<float>>("base_values").empty();
  y = with_base(node, emit, y);
  if (node.out(0)) results[0] = greatest_label(emit, base ? y : of_voted(emit, f, at, y), labels);
  if (node.out(1)) results[1] = post_transform(emit, y, transform);
  return results;
}

/// The newer form: nodes and leaves are numbered apart, thresholds are tensors, nodes may ask for membership in a set.
GANTRY_CONVERT(kMl, "TreeEnsemble", since(5), to(tflite)) {
  const Dims features = node.attr<Dims>("nodes_featureids"), yes = node.attr<Dims>("nodes_truenodeids"),
             no = node.attr<Dims>("nodes_falsenodeids"), yes_leaf = node.attr<Dims>("nodes_trueleafs"),
             no_leaf = node.attr<Dims>("nodes_falseleafs"),
             tracks = node.attr("nodes_missing_value_tracks_true", Dims{}), targets = node.attr<Dims>("leaf_targetids"),
             roots = node.attr<Dims>("tree_roots");
  const auto modes = node.attr<Value>("nodes_modes").read<std::int64_t>();
  const auto splits = node.attr<Value>("nodes_splits").read<float>(),
             weights = node.attr<Value>("leaf_weights").read<float>();
  const std::size_t n = modes.size();
  decline_if(features.size() != n || yes.size() != n || no.size() != n || yes_leaf.size() != n || no_leaf.size() != n ||
                 splits.size() != n || targets.size() != weights.size(),
             "nodes_* of different lengths");
  Forest f;
  f.targets = node.attr<std::int64_t>("n_targets", 1);
  f.resize(n + weights.size());
  const auto child = [&](std::int64_t id, bool leaf) {
    decline_if(id < 0 || id >= static_cast<std::int64_t>(leaf ? weights.size() : n), "no node or leaf ", id);
    return static_cast<std::int32_t>(leaf ? static_cast<std::int64_t>(n) + id : id);
  };
  std::vector<float> sets;
  if (node.has_attr("membership_values")) sets = node.attr<Value>("membership_values").read<float>();
  std::size_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    decline_if(modes[i] < 0 || modes[i] > 6, "nodes_modes ", modes[i]);
    constexpr Mode kinds[] = {Mode::leq, Mode::lt, Mode::gte, Mode::gt, Mode::eq, Mode::neq, Mode::member};
    f.modes[i] = kinds[modes[i]];
    f.feature[i] = static_cast<std::int32_t>(features[i]);
    f.threshold[i] = splits[i];
    f.yes[i] = child(yes[i], yes_leaf[i] != 0);
    f.no[i] = child(no[i], no_leaf[i] != 0);
    f.missing_true[i] = i < tracks.size() && tracks[i] != 0;
    if (f.modes[i] != Mode::member) continue;
    for (; next < sets.size() && !std::isnan(sets[next]); ++next) f.members[i].push_back(sets[next]);
    ++next;  // NaN ends a set
  }
  f.weights.resize(f.size() * static_cast<std::size_t>(f.targets));
  f.voted.resize(f.weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) f.vote(n + i, targets[i], weights[i]);
  for (std::int64_t r : roots) f.roots.push_back(child(r, false));
  constexpr const char* aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto aggregate = node.attr<std::int64_t>("aggregate_function", 1),
             transform = node.attr<std::int64_t>("post_transform", 0);
  decline_if(aggregate < 0 || aggregate > 3 || transform < 0 || transform > 2, "aggregate_function ", aggregate,
             ", post_transform ", transform);
  constexpr const char* transforms[] = {"NONE", "SOFTMAX", "LOGISTIC"};
  const Value y = scores(emit, f, leaves(emit, f, in_float32(emit, node.in(0))), aggregates[aggregate]);
  return from_float32(emit, post_transform(emit, y, transforms[transform]), node.in(0).dtype());
}

}  // namespace core_ops
