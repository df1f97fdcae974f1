// A forest of decision trees, whatever operator it comes from, and what it says of a row.
#pragma once

#include <set>

#include "ml.hpp"

namespace core_ops {

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

/// The leaf where each row ends in each tree, [n, trees]. All trees go down together: a step gathers each node's
/// feature, threshold and children. A leaf is its own child.
Value leaves(const Emit& emit, const Forest& f, const Value& x);
/// What the trees say together, [n, targets]: SUM, AVERAGE, MIN, MAX.
Value scores(const Emit& emit, const Forest& f, const Value& at, const std::string& aggregate);
/// Scores of classes that no tree has spoken of are less than any, for ONNX Runtime: a sum that is negative may win.
Value of_voted(const Emit& emit, const Forest& f, const Value& at, const Value& y);

}  // namespace core_ops
