// What the passes ask of the plugins. host/plugins implements it; passes include this and nothing of host/plugins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/passes/semantics.hpp"

namespace gantry {

/// What became of one node.
struct Outcome {
  enum class Kind : std::uint8_t {
    done,      // the node is gone, or was changed
    declined,  // every candidate declined; `reasons` says why; the graph is as before
    none,      // nothing is registered for the operator
  };
  Kind kind = Kind::none;
  std::string plugin;               // who did it
  std::vector<Diagnostic> reasons;  // one for each candidate that declined (code declined, with node, op, plugin)
};

struct PatternInfo {
  std::string name, plugin;  // "conv_batch_norm", "org.gantry.core-ops"
  Op root;                   // version is not looked at
};

/// Limits of a target operator's kernel.
struct Limits {
  int min_rank = 0, max_rank = 0;    // max_rank 0 = none
  std::uint64_t dtypes = 0;          // of result 0, bit 1 << DType; 0 = any
  std::uint64_t operand_dtypes = 0;  // of operand 0
};

class Extensions {
 public:
  virtual ~Extensions() = default;

  /// Opens the plugins that the graph's operators need, for converting to `target` and for patterns; asked again after
  /// each step that brings new operators. Returns how many were opened now. Errors: plugin_* codes.
  virtual Result<std::size_t> open_for(const Graph& g, std::string_view target) = 0;

  /// Whether a manifest on the search path offers a converter of this operator to `target` (the plugin need not be
  /// open).
  virtual bool offers_converter(const Op& op, std::string_view target) const = 0;

  /// Rewrites an old form of an operator within its dialect.
  virtual Result<Outcome> upgrade(Graph& g, NodeId n) = 0;
  /// Tries the converters to `target`, the highest priority first. What a converter that declines or fails had emitted
  /// is dropped. An error (plugin_failed, internal) ends the conversion; declining is an Outcome.
  virtual Result<Outcome> convert(Graph& g, NodeId n, std::string_view target) = 0;
  /// Evaluates a node whose operands are all constants; true when done.
  virtual Result<bool> fold(Graph& g, NodeId n) = 0;

  /// Patterns of the open plugins for a dialect whose operators all occur in the graph; highest priority first.
  virtual std::vector<PatternInfo> patterns(const Graph& g, std::string_view dialect) const = 0;
  /// Tries one of patterns() with the node as its root; true when the graph was changed.
  virtual Result<bool> apply(const PatternInfo& p, Graph& g, NodeId root) = 0;

  /// Operators that plugins define (target dialect and third-party domains).
  virtual const Semantics& semantics() const = 0;
  /// null if the operator is not defined by an open plugin.
  virtual const Limits* limits(const Op& op) const = 0;

  /// Layout rule in the notation of host/layout/rules.hpp; empty if there is none.
  virtual std::string_view layout_rule(const Op&) const { return {}; }

  /// From now on nothing is computed in fewer digits than the source says; what would be is declined.
  virtual void forbid_inexact_types() {}

  /// Called with each note or warning of a plugin, as it comes.
  virtual std::vector<Diagnostic> take_messages() = 0;
};

}  // namespace gantry
