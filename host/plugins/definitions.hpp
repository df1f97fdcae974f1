// The operator definitions of the open plugins, beside what the reader knows of its own dialect. Private to
// host/plugins.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gantry/abi.h"
#include "host/passes/extensions.hpp"
#include "host/passes/semantics.hpp"
#include "host/plugins/element_types.hpp"
#include "host/plugins/index.hpp"
#include "host/plugins/store.hpp"

namespace gantry::plugins {

struct Definition {
  const OpenPlugin* plugin = nullptr;
  const gantry_operator* record = nullptr;
  Limits limits;
};

/// As Semantics it answers for what plugins infer; `source` (may be null) is asked where emitted operators are its own.
class Definitions final : public Semantics {
 public:
  explicit Definitions(const Semantics* source) : source_(source) {}

  /// Errors: plugin_conflict if another plugin defines one of its operators.
  Status add(const OpenPlugin& plugin);
  /// null if no open plugin defines the operator.
  const Definition* find(const Op& op) const;
  /// Whether a plugin or the source defines some form of the operator.
  bool has(const OpName& op) const;
  /// Newest form that a plugin or the source knows; 1 if none does.
  int newest(const OpName& op) const;
  /// Whether infer_emitted has somebody to ask.
  bool infers(const Op& op) const;
  /// Types of a node that a plugin just made. Unlike infer it is an error if the definition declines, of code declined.
  Status infer_emitted(Graph& g, NodeId n) const;
  /// The element type that the kernel lacks, of operand 0 or result 0; undefined if it takes both.
  DType lacking_type(const Graph& g, NodeId n) const;
  /// How to go round it, if there is a way: see element_types.hpp.
  std::optional<Detour> detour(const Op& op, DType lacking) const;
  /// Whether nothing may be computed in fewer digits than the source says (--strict-types).
  bool strict_types = false;
  /// An operand or result that the kernel does not take, as an error of code target_limit.
  Status check_limits(const Graph& g, NodeId n) const;

  // Semantics
  bool knows(const Op& op) const override;
  Status infer(Graph& g, NodeId n) const override;
  Result<bool> expand(Graph&, NodeId) const override { return false; }
  int newest_version(const Op& op) const override;

 private:
  Status infer_by(const Definition& d, Graph& g, NodeId n, bool strict) const;

  const Semantics* source_;
  std::unordered_map<OpName, std::vector<Definition>, OpNameHash> by_name_;  // keys view the descriptors
};

/// What both say together: known beats unknown. Nothing if they contradict each other.
std::optional<Type> merge(const Type& a, const Type& b);

}  // namespace gantry::plugins
