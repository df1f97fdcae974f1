// One of our nodes in ONNX's own messages, each made when it is asked for.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "host/ir/graph.hpp"

namespace onnx {
class AttributeProto;
class TensorProto;
class TypeProto;
}  // namespace onnx

namespace gantry::onnx_format {

/// Valid while the node and the types of its operands do not change.
class NodeView {
 public:
  NodeView(const Graph& graph, NodeId node);
  ~NodeView();
  NodeView(const NodeView&) = delete;
  NodeView& operator=(const NodeView&) = delete;

  const Node& node() const { return node_; }
  bool has_input(std::size_t i) const { return static_cast<bool>(node_.input(i)); }
  bool has_output(std::size_t i) const { return static_cast<bool>(node_.output(i)); }

  /// Null if the node has none of the name. Large tensors come without data.
  const onnx::AttributeProto* attribute(const std::string& name) const;
  /// Null if the operand is omitted; empty if nothing is known of its type.
  const onnx::TypeProto* input_type(std::size_t i) const;
  /// The operand's data if it is a small constant (rank <= 1, <= 1,024 elements, numbers), else null.
  const onnx::TensorProto* input_data(std::size_t i) const;

 private:
  struct Protos;
  const Graph& graph_;
  const Node& node_;
  std::unique_ptr<Protos> protos_;
};

}  // namespace gantry::onnx_format
