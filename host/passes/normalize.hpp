// The worklist of the source's dialect, also used for function bodies that appear later. Private to host/passes.
#pragma once

#include "host/passes/pass.hpp"
#include "host/passes/sweep.hpp"

namespace gantry::passes {

/// "Name", or "domain::Name".
std::string op_text(const Op& op);
/// "MyOp of domain com.example, since version 3"
std::string op_description(const Op& op);
/// Who knows the operator: the plugins, else the reader; null if nobody does.
const Semantics* semantics_of(const PassContext& c, const Op& op);
/// The error with the node's name and operator, where it has none.
Diagnostic about_node(Diagnostic d, const Graph& g, NodeId n);

/// Brings nodes to the form that the rest of Gantry expects, and holds for each of them afterwards:
/// - it is the newest form of its operator that a plugin can make of it;
/// - the types of its results are what follows from its operands;
/// - its operands are not all constants, or nobody can fold it, or the result would be giant;
/// - a manifest offers a converter for it to the target, or it has no function body.
class Normalizer {
 public:
  explicit Normalizer(PassContext& c) : c_(c) {}

  /// The nodes of a region and of the regions in it.
  Status region(RegionId r);
  /// The nodes between two neighbours, each of which may be none: the region's ends.
  Status range(RegionId r, NodeId after, NodeId until);

 private:
  Status sweep(Sweep s);
  Result<bool> replaced(NodeId n);
  Result<bool> upgraded(NodeId n);
  Status infer(NodeId n);
  Result<bool> folded(NodeId n);
  Result<bool> expanded(NodeId n);
  void progress();

  PassContext& c_;
  std::size_t visited_ = 0;
};

}  // namespace gantry::passes
