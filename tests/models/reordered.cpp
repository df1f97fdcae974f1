#include "tests/models/reordered.hpp"

#include <fstream>

#include <onnx/onnx_pb.h>

namespace gantry::test {
namespace {

using Perm = std::vector<std::int64_t>;

Perm inverse(const Perm& p) {
  Perm q(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) q[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
  return q;
}

void add_transpose(onnx::NodeProto& node, const std::string& from, const std::string& to, const Perm& perm) {
  node.set_op_type("Transpose");
  node.add_input(from);
  node.add_output(to);
  auto& attribute = *node.add_attribute();
  attribute.set_name("perm");
  attribute.set_type(onnx::AttributeProto::INTS);
  attribute.mutable_ints()->Add(perm.begin(), perm.end());
}

void reorder(onnx::ValueInfoProto& info, const Perm& perm) {
  auto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  if (static_cast<std::size_t>(shape.dim_size()) != perm.size()) return;
  const onnx::TensorShapeProto old = shape;
  for (std::size_t i = 0; i < perm.size(); ++i)
    *shape.mutable_dim(static_cast<int>(i)) = old.dim(static_cast<int>(perm[i]));
}

void rename(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for (auto& node : *graph.mutable_node()) {
    for (auto& name : *node.mutable_input())
      if (name == from) name = to;
    for (auto& name : *node.mutable_output())
      if (name == from) name = to;
  }
}

}  // namespace

void write_reordered(const std::filesystem::path& model, const std::filesystem::path& out, const Report& report) {
  onnx::ModelProto proto;
  std::ifstream in(model, std::ios::binary);
  if (!proto.ParseFromIstream(&in)) throw std::runtime_error("no model at " + model.string());
  onnx::GraphProto& graph = *proto.mutable_graph();
  onnx::GraphProto before;
  for (std::size_t i = 0; i < report.inputs.size(); ++i) {
    const TensorRecord& t = report.inputs[i];
    if (t.perm.empty()) continue;
    rename(graph, t.name, t.name + "_source");
    add_transpose(*before.add_node(), t.name, t.name + "_source", inverse(t.perm));
    reorder(*graph.mutable_input(static_cast<int>(i)), t.perm);
  }
  before.mutable_node()->MergeFrom(graph.node());
  graph.mutable_node()->Swap(before.mutable_node());
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const TensorRecord& t = report.outputs[i];
    if (t.perm.empty()) continue;
    rename(graph, t.name, t.name + "_source");
    add_transpose(*graph.add_node(), t.name + "_source", t.name, t.perm);
    reorder(*graph.mutable_output(static_cast<int>(i)), t.perm);
  }
  std::ofstream(out, std::ios::binary) << proto.SerializeAsString();
}

}  // namespace gantry::test
