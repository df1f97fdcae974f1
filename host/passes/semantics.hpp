// What a pass may ask about operators. Two sources answer: the ONNX library for ONNX's own domains (formats/onnx), and
// the plugins for everything that they define (plugins/). The passes know neither.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/ir/result.hpp"

namespace gantry {

class Semantics {
 public:
  virtual ~Semantics() = default;

  /// Whether this source knows the operator at all.
  virtual bool knows(const Op& op) const = 0;
  /// Sets the types of the node's results from its operands and attributes, as far as they follow; merges with what is
  /// known already (a contradiction is an error of code input_type). Small constants (rank <= 1, <= 1,024 elements) are
  /// looked at. For a node with regions the regions are inferred too.
  virtual Status infer(Graph& g, NodeId n) const = 0;
  /// Replaces the node by its function body, placed before it: returns true when done, false when the operator has no
  /// body for this form. New nodes carry the source name of the node.
  virtual Result<bool> expand(Graph& g, NodeId n) const = 0;
  /// Whether only the model itself defines it: a function of the file.
  virtual bool is_local(const Op&) const { return false; }
  /// Newest since-version of the operator in this source, 0 if unknown.
  virtual int newest_version(const Op& op) const = 0;
};

}  // namespace gantry
