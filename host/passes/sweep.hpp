// A walk over the nodes of a region in which a node may be replaced by others, which are visited in its place. Private
// to host/passes.
#pragma once

#include <cstddef>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry::passes {

/// Visits every node of a region in order. While a node is visited, only it may be removed, and nodes may be added only
/// right before or after it. Ends for any input: what stands in a node's place lies one level deeper than the node, and
/// both the depth and the number of nodes visited below level 0 are bounded (a function that calls another twice, and
/// so on, would double at each level).
class Sweep {
 public:
  static constexpr std::size_t kMaxDepth = 100;
  static constexpr std::size_t kMaxReplacements = 200'000;

  Sweep(const Graph& g, RegionId region);
  /// Only the nodes after `after` (none: the region's first) and before `until` (none: the region's end).
  Sweep(const Graph& g, RegionId region, NodeId after, NodeId until);

  /// The node to look at; none at the end.
  NodeId current() const { return current_; }
  /// Neighbours of current() when it was reached: whatever replaces it stands between them.
  NodeId before() const { return before_; }
  NodeId after() const { return after_; }

  /// Current stays as it is: goes on to the next.
  void advance() { arrive(after_); }
  /// Current was replaced or changed: goes on to what stands in its place now, then to the next. An error of code
  /// input_too_large beyond the bounds.
  Status descend();

 private:
  void arrive(NodeId n);
  NodeId first_after(NodeId n) const;

  const Graph& graph_;
  RegionId region_;
  NodeId until_, current_, before_, after_;
  std::vector<NodeId> levels_;  // of each level: the first node behind it
  std::size_t replacements_ = 0;
};

}  // namespace gantry::passes
