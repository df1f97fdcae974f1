#include "host/formats/onnx/known_elements.hpp"

#include <onnx/defs/schema.h>

#include "host/formats/onnx/node_view.hpp"
#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

namespace {
constexpr unsigned kMostDepth = 64;          // nodes one behind another
constexpr std::size_t kMostValues = 512;     // in one search
constexpr std::int64_t kMostElements = 256;  // shapes are short
}  // namespace

// One node between what is known of its operands and what follows for its results.
class KnownElements::Context final : public onnx::DataPropagationContext {
 public:
  Context(KnownElements& known, NodeId node, unsigned depth) : known_(known), view_(known.graph_, node), depth_(depth) {
    for (const ValueId result : view_.node().outputs) {
      onnx::TypeProto& type = result_types_.emplace_back();
      if (result) to_proto(known.graph_.value(result).type, type);
    }
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return view_.attribute(name); }
  std::size_t getNumInputs() const override { return view_.node().inputs.size(); }
  const onnx::TypeProto* getInputType(std::size_t i) const override { return view_.input_type(i); }
  std::size_t getNumOutputs() const override { return result_types_.size(); }
  const onnx::TypeProto* getOutputType(std::size_t i) const override { return &result_types_.at(i); }
  const onnx::TensorShapeProto* getInputData(std::size_t i) override {
    return known_.of(view_.node().input(i), depth_ + 1);
  }
  void addOutputData(std::size_t i, onnx::TensorShapeProto&& elements) override {
    const ValueId result = view_.node().output(i);
    if (result) known_.found_[result] = std::make_unique<onnx::TensorShapeProto>(std::move(elements));
  }

 private:
  KnownElements& known_;
  NodeView view_;
  unsigned depth_;
  std::vector<onnx::TypeProto> result_types_;
};

KnownElements::~KnownElements() = default;

std::unique_ptr<onnx::TensorShapeProto> KnownElements::of_constant(ValueId value) const {
  const Constant& constant = graph_.value(value).constant;
  if (constant.dtype() != DType::int64 && constant.dtype() != DType::int32) return nullptr;
  if (constant.dims().size() > 1 || constant.elements() > kMostElements) return nullptr;
  const Result<std::vector<std::int64_t>> numbers = constant.read<std::int64_t>();
  if (!numbers.ok()) return nullptr;
  auto elements = std::make_unique<onnx::TensorShapeProto>();
  for (const std::int64_t number : *numbers) elements->add_dim()->set_dim_value(number);
  return elements;
}

// A list of known length is at least so many unknown elements.
std::unique_ptr<onnx::TensorShapeProto> KnownElements::unknown(ValueId value) const {
  const Type& type = graph_.value(value).type;
  if (!type.ranked || type.rank() != 1 || !type.dims[0].known() || type.dims[0].size > kMostElements) return nullptr;
  auto elements = std::make_unique<onnx::TensorShapeProto>();
  for (std::int64_t i = 0; i < type.dims[0].size; ++i) elements->add_dim();
  return elements;
}

void KnownElements::propagate(NodeId producer, unsigned depth) {
  const Node& node = graph_.node(producer);
  if (node.op.dialect != "onnx" || depth >= kMostDepth || found_.size() >= kMostValues) return;
  const onnx::OpSchema* const schema = schemas_.find(node.op.domain, node.op.name, node.op.version);
  if (!schema || !schema->has_data_propagation_function()) return;
  Context context(*this, producer, depth);
  try {
    schema->GetDataPropagationFunction()(context);
  } catch (const std::exception&) {  // then nothing is known; inference proper finds what is wrong
  }
}

const onnx::TensorShapeProto* KnownElements::of(ValueId value, unsigned depth) {
  if (!value) return nullptr;
  const auto [it, fresh] = found_.try_emplace(value);
  if (!fresh) return it->second.get();
  if (graph_.value(value).is_constant()) {
    it->second = of_constant(value);
  } else if (const NodeId producer = graph_.value(value).producer) {
    propagate(producer, depth);
  }
  if (!it->second) it->second = unknown(value);
  return it->second.get();
}

}  // namespace gantry::onnx_format
