// TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier. Operators: ONNX operator specification, ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <map>

#include "forest.hpp"

namespace core_ops {
namespace {

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
  return base.empty() ? y : emit.add(y, emit.constant<float>({static_cast<std::int64_t>(base.size())}, base));
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
