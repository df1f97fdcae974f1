#include "host/passes/sweep.hpp"

#include <string>

namespace gantry::passes {

Sweep::Sweep(const Graph& g, RegionId region) : Sweep(g, region, NodeId{}, NodeId{}) {}

Sweep::Sweep(const Graph& g, RegionId region, NodeId after, NodeId until) : graph_(g), region_(region), until_(until) {
  arrive(first_after(after));
}

NodeId Sweep::first_after(NodeId n) const { return n ? graph_.node(n).next : graph_.region(region_).first; }

void Sweep::arrive(NodeId n) {
  while (!levels_.empty() && levels_.back() == n) levels_.pop_back();
  if (!levels_.empty()) ++replacements_;
  if (n == until_) n = NodeId{};
  current_ = n;
  before_ = n ? graph_.node(n).prev : NodeId{};
  after_ = n ? graph_.node(n).next : NodeId{};
}

Status Sweep::descend() {
  const NodeId first = first_after(before_);
  if (first != after_) {
    levels_.push_back(after_);
    if (levels_.size() > kMaxDepth) {
      return error(Code::input_too_large,
                   "functions expand to functions more than " + std::to_string(kMaxDepth) + " levels deep");
    }
    if (replacements_ > kMaxReplacements) {
      return error(Code::input_too_large,
                   "function bodies expand to more than " + std::to_string(kMaxReplacements) + " nodes");
    }
  }
  arrive(first);
  return {};
}

}  // namespace gantry::passes
