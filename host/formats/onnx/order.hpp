// The order of the nodes of one ONNX graph.
#pragma once

#include <string_view>
#include <vector>

#include "host/ir/result.hpp"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace onnx {
class NodeProto;
}

namespace gantry::onnx_format {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Indices of the nodes so that every value is computed before it is used, by a node or inside of its subgraphs: the
/// given order where that is one, else the topological order that stays closest to it. Names that no node here computes
/// come from elsewhere. Errors of code input_graph: a cycle (its nodes are named), a name that two nodes compute.
Result<std::vector<int>> topological_order(const NodeProtos& nodes);

/// For messages: the node's name, else its first output's.
std::string_view label(const onnx::NodeProto& node);

}  // namespace gantry::onnx_format
