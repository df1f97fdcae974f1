#include "host/formats/onnx/node_view.hpp"

#include <array>
#include <map>

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/attributes.hpp"
#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

namespace {
constexpr std::int64_t kMostElements = 1024;
constexpr std::uint64_t kMostAttributeBytes = 8 << 10;
}  // namespace

struct NodeView::Protos {
  explicit Protos(std::size_t inputs) : types(inputs), data(inputs) {}

  google::protobuf::Arena arena;
  std::vector<const onnx::TypeProto*> types;
  std::vector<const onnx::TensorProto*> data;
  std::map<std::string_view, const onnx::AttributeProto*> attributes;  // by the node's own keys
};

NodeView::NodeView(const Graph& graph, NodeId node)
    : graph_(graph), node_(graph.node(node)), protos_(std::make_unique<Protos>(node_.inputs.size())) {}

NodeView::~NodeView() = default;

const onnx::AttributeProto* NodeView::attribute(const std::string& name) const {
  const auto it = node_.attrs.find(name);
  if (it == node_.attrs.end()) return nullptr;
  const onnx::AttributeProto*& made = protos_->attributes[it->first];
  if (!made) {
    auto* const proto = google::protobuf::Arena::CreateMessage<onnx::AttributeProto>(&protos_->arena);
    to_proto(name, it->second, kMostAttributeBytes, *proto);
    made = proto;
  }
  return made;
}

const onnx::TypeProto* NodeView::input_type(std::size_t i) const {
  if (!has_input(i)) return nullptr;
  const onnx::TypeProto*& made = protos_->types[i];
  if (!made) {
    auto* const proto = google::protobuf::Arena::CreateMessage<onnx::TypeProto>(&protos_->arena);
    to_proto(graph_.value(node_.inputs[i]).type, *proto);
    made = proto;
  }
  return made;
}

const onnx::TensorProto* NodeView::input_data(std::size_t i) const {
  if (!has_input(i)) return nullptr;
  const Constant& constant = graph_.value(node_.inputs[i]).constant;
  if (!constant || constant.dims().size() > 1 || constant.elements() > kMostElements) return nullptr;
  if (constant.dtype() == DType::string) return nullptr;
  const onnx::TensorProto*& made = protos_->data[i];
  if (!made) {
    auto* const proto = google::protobuf::Arena::CreateMessage<onnx::TensorProto>(&protos_->arena);
    to_proto(constant, true, *proto);
    made = proto;
  }
  return made;
}

}  // namespace gantry::onnx_format
