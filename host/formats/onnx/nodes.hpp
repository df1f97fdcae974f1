// NodeProtos and GraphProtos -> nodes and regions of a graph: for a model that is read, and for a function body that
// takes the place of a node.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/formats/onnx/functions.hpp"
#include "host/formats/onnx/order.hpp"
#include "host/formats/onnx/schemas.hpp"
#include "host/formats/onnx/tensor.hpp"
#include "host/ir/graph.hpp"

namespace onnx {
class GraphProto;
class OperatorSetIdProto;
class ValueInfoProto;
}  // namespace onnx

namespace gantry::onnx_format {

/// The names that one graph or function defines; what it does not define, the graph around it may.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string_view, ValueId> values;  // none: a parameter that the caller omitted

  /// Null if no graph around defines the name.
  const ValueId* find(std::string_view name) const;
};

using Opsets = std::map<std::string, std::int64_t>;  // domain ("" for ai.onnx) -> version

/// What the nodes are read with; all of it outlives the importer.
struct ImportSettings {
  const Schemas& schemas;
  const FunctionTable& functions;
  TensorSource& tensors;
  const Opsets& opsets;
  bool keep_shapes = true;  // of value_info and outputs; else only their element types count
  bool is_library = false;  // a body out of the ONNX library, which is not checked again
  // In a function body:
  const Attrs* parameters = nullptr;  // its attributes, to which nodes may refer
  std::string_view node_name;         // every node gets this name, if there is one
  std::string prefix;                 // before the names of values
};

class NodeImporter {
 public:
  NodeImporter(Graph& graph, const ImportSettings& settings) : graph_(graph), settings_(settings) {}

  /// Everything of `proto` but its inputs, which are in the scope, goes into the region.
  Status import_graph(const onnx::GraphProto& proto, RegionId region, Scope& scope);
  /// Nodes in topological order, placed at `at`; their results enter the scope.
  Status import_nodes(const NodeProtos& nodes, InsertPoint at, Scope& scope);
  /// Subgraphs of the nodes imported so far, and theirs. (Later than the nodes, so that the values of outer graphs get
  /// their names first.)
  Status import_subgraphs();

  /// Enters a name; one that is there already is an error of code input_graph.
  static Status define(Scope& scope, std::string_view name, ValueId value);

 private:
  struct Subgraph {
    const onnx::GraphProto* proto;
    RegionId region;
    const Scope* outer;
  };

  Status import_initializers(const onnx::GraphProto& proto, Scope& scope);
  Status import_node(const onnx::NodeProto& node, InsertPoint at, Scope& scope);
  Status import_constant(const onnx::NodeProto& node, const Attrs& attrs, Scope& scope);
  Status import_subgraph(const Subgraph& subgraph);
  Status import_outputs(const onnx::GraphProto& proto, RegionId region, const Scope& scope);
  Status declare(const onnx::ValueInfoProto& info, const Scope& scope);
  Result<int> since_version(const onnx::NodeProto& node, std::string_view domain) const;
  Result<Attrs> attributes(const onnx::NodeProto& node) const;
  Result<std::vector<ValueId>> operands(const onnx::NodeProto& node, const Scope& scope) const;
  std::string value_name(std::string_view name) const;

  Graph& graph_;
  const ImportSettings& settings_;
  std::deque<Subgraph> subgraphs_;
  std::deque<Scope> scopes_;  // of subgraphs
};

/// The opset imports as a map. Errors of code input_opset: versions that the library does not know, contradictions.
Result<Opsets> opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                         std::string_view whose);

}  // namespace gantry::onnx_format
