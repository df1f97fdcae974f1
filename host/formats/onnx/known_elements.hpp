// What is known of the elements of a tensor that is no constant: a shape computed from the shape of something else has
// elements that are sizes or symbols. By the data propagation functions of the ONNX library.
#pragma once

#include <map>
#include <memory>

#include "host/formats/onnx/schemas.hpp"
#include "host/ir/graph.hpp"

namespace onnx {
class TensorShapeProto;
}

namespace gantry::onnx_format {

/// Looks back from a value through the nodes that computed it, as far as that is cheap. Valid while the graph does not
/// change.
class KnownElements {
 public:
  KnownElements(const Graph& graph, const Schemas& schemas) : graph_(graph), schemas_(schemas) {}
  ~KnownElements();
  KnownElements(const KnownElements&) = delete;
  KnownElements& operator=(const KnownElements&) = delete;

  /// Of an integer tensor of rank 0 or 1; each element a size, a symbol or unknown. Null if nothing is known.
  const onnx::TensorShapeProto* of(ValueId value) { return of(value, 0); }

 private:
  class Context;
  const onnx::TensorShapeProto* of(ValueId value, unsigned depth);
  std::unique_ptr<onnx::TensorShapeProto> of_constant(ValueId value) const;
  std::unique_ptr<onnx::TensorShapeProto> unknown(ValueId value) const;
  void propagate(NodeId producer, unsigned depth);

  const Graph& graph_;
  const Schemas& schemas_;
  std::map<ValueId, std::unique_ptr<onnx::TensorShapeProto>> found_;  // null: being looked at, or nothing known
};

}  // namespace gantry::onnx_format
