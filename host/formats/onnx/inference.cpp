// Types of a node's results, by the inference function that the ONNX library has for its operator.
#include <algorithm>
#include <map>
#include <memory>

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "host/formats/onnx/known_elements.hpp"
#include "host/formats/onnx/loop_state.hpp"
#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/node_view.hpp"
#include "host/formats/onnx/onnx_semantics.hpp"
#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

namespace {

using onnx::TypeProto;

// "[ShapeInferenceError] ..." in one line.
std::string plain(std::string_view what) {
  if (const auto end = what.find("] "); what.starts_with('[') && end != what.npos) what.remove_prefix(end + 2);
  return printable(what.substr(0, what.find("\n\n==> Context")));
}

Diagnostic on(Diagnostic d, const Node& node) {
  return std::move(d).on_node(node.name).on_op(node.op.domain.empty() ? std::string(node.op.name)
                                                                      : cat(node.op.domain, "::", node.op.name));
}

// ---- subgraphs ----

class RegionInferencer final : public onnx::GraphInferencer {
 public:
  RegionInferencer(const Semantics& semantics, Graph& graph, RegionId region)
      : semantics_(semantics), graph_(graph), region_(region) {}

  std::vector<const TypeProto*> doInferencing(const std::vector<const TypeProto*>& input_types,
                                              const std::vector<const onnx::TensorProto*>&) override {
    const Region& region = graph_.region(region_);
    if (input_types.size() != region.inputs.size()) {
      throw onnx::InferenceError(
          cat("the subgraph has ", region.inputs.size(), " inputs, but is given ", input_types.size()));
    }
    for (std::size_t i = 0; i < input_types.size(); ++i) {
      if (input_types[i]) give(region.inputs[i], to_type(*input_types[i]));
    }
    for (const NodeId n : graph_.nodes(region_)) {
      status_ = semantics_.infer(graph_, n);
      if (!status_.ok()) throw onnx::InferenceError(status_.error().message);
    }
    outputs_.assign(graph_.region(region_).outputs.size(), TypeProto());
    std::vector<const TypeProto*> types;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      to_proto(graph_.value(graph_.region(region_).outputs[i].value).type, outputs_[i]);
      types.push_back(&outputs_[i]);
    }
    return types;
  }

  /// Not ok if a node of the subgraph could not be inferred.
  Status& status() { return status_; }

 private:
  void give(ValueId input, const Type& type) {
    Type merged = graph_.value(input).type;
    if (!merge(merged, type)) {
      if (merged.dtype == type.dtype && is_single(merged) && is_single(type)) return;
      status_ = error(Code::input_type, cat("input ", quote(graph_.value(input).name), " of a subgraph is ",
                                            merged.str(), ", but is given ", type.str()));
      throw onnx::InferenceError(status_.error().message);
    }
    graph_.set_type(input, std::move(merged));
  }

  // A condition may be a scalar here and a list of one there.
  static bool is_single(const Type& type) {
    return type.ranked && (type.rank() == 0 || (type.rank() == 1 && (!type.dims[0].known() || type.dims[0].size == 1)));
  }

  const Semantics& semantics_;
  Graph& graph_;
  RegionId region_;
  Status status_;
  std::vector<TypeProto> outputs_;
};

// ---- one node ----

class NodeContext final : public onnx::InferenceContext {
 public:
  NodeContext(const OnnxSemantics& semantics, Graph& graph, NodeId node)
      : semantics_(semantics),
        graph_(graph),
        view_(graph, node),
        outputs_(view_.node().outputs.size()),
        elements_(graph, semantics.schemas()) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return view_.attribute(name); }
  std::size_t getNumInputs() const override { return view_.node().inputs.size(); }
  const TypeProto* getInputType(std::size_t i) const override { return view_.input_type(checked(i, getNumInputs())); }
  bool hasInput(std::size_t i) const override { return view_.has_input(i); }
  const onnx::TensorProto* getInputData(std::size_t i) const override {
    return view_.input_data(checked(i, getNumInputs()));
  }
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  TypeProto* getOutputType(std::size_t i) override { return &outputs_[checked(i, outputs_.size())]; }
  bool hasOutput(std::size_t i) override { return view_.has_output(i); }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t i) const override {
    return elements_.of(view_.node().input(i));
  }
  std::string getDisplayName() const override { return std::string(view_.node().op.name); }

  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    for (const auto& [attribute, region] : view_.node().regions) {
      if (attribute != name) continue;
      auto& inferencer = regions_[name];
      if (!inferencer) inferencer = std::make_unique<RegionInferencer>(semantics_, graph_, region);
      return inferencer.get();
    }
    return nullptr;
  }

  /// The error inside of a subgraph, if there was one.
  Status take_inner_error() {
    for (auto& [name, inferencer] : regions_) {
      if (!inferencer->status().ok()) return std::move(inferencer->status());
    }
    return {};
  }

 private:
  static std::size_t checked(std::size_t i, std::size_t count) {
    if (i >= count) throw onnx::InferenceError(cat("there is no operand or result ", i));
    return i;
  }

  const OnnxSemantics& semantics_;
  Graph& graph_;
  NodeView view_;
  std::vector<TypeProto> outputs_;
  mutable KnownElements elements_;
  std::map<std::string, std::unique_ptr<RegionInferencer>> regions_;
};

// Whether enough is known around the node that a complaint of its inference function is a contradiction in the model,
// and not want of knowledge.
bool is_informed(const Graph& graph, const Node& node) {
  const auto is_known = [&](ValueId v) {
    const Type& type = graph.value(v).type;
    return type.dtype != DType::undefined && type.ranked;
  };
  for (const ValueId input : node.inputs) {
    if (input && !is_known(input)) return false;
  }
  for (const auto& [attribute, region] : node.regions) {
    for (const Output& output : graph.region(region).outputs) {
      if (!is_known(output.value)) return false;
    }
  }
  return true;
}

// What a Loop stacks up has as many parts as it runs iterations.
void set_trip_count(const Graph& graph, NodeId loop, NodeContext& context) {
  const Dim count = trip_count(graph, loop);
  const std::size_t carried = graph.node(loop).inputs.size() - std::min<std::size_t>(graph.node(loop).inputs.size(), 2);
  for (std::size_t i = carried; count.known() && i < context.getNumOutputs(); ++i) {
    auto* const type = context.getOutputType(i)->mutable_tensor_type();
    if (type->shape().dim_size() > 0) type->mutable_shape()->mutable_dim(0)->set_dim_value(count.size);
  }
}

Status merge_results(Graph& graph, NodeId n, NodeContext& context) {
  for (std::size_t i = 0; i < graph.node(n).outputs.size(); ++i) {
    const ValueId result = graph.node(n).outputs[i];
    if (!result) continue;
    const Type inferred = to_type(*context.getOutputType(i));
    Type merged = graph.value(result).type;
    if (!merge(merged, inferred)) {
      return on(error(Code::input_type, cat("value ", quote(graph.value(result).name), " should be ", inferred.str(),
                                            " by its operator, but is declared or known to be ", merged.str())),
                graph.node(n));
    }
    if (merged != graph.value(result).type) graph.set_type(result, std::move(merged));
  }
  return {};
}

// The schemas for ONNX's own walk through a body, without its registry, which makes all of them.
class Registry final : public onnx::ISchemaRegistry {
 public:
  explicit Registry(const Schemas& schemas) : schemas_(schemas) {}
  const onnx::OpSchema* GetSchema(const std::string& name, int version, const std::string& domain) const override {
    return schemas_.find(plain_domain(domain), name, version);
  }

 private:
  const Schemas& schemas_;
};

/// ONNX's inference counts axes in 32 bits and takes some as they are.
Status check_axes(const Node& node) {
  for (const char* name : {"axis", "axes", "perm", "batch_axis", "time_axis", "batch_dims"}) {
    const Attr* const a = node.attr(name);
    if (!a) continue;
    std::vector<std::int64_t> axes;
    if (const auto* one = std::get_if<std::int64_t>(a)) axes = {*one};
    if (const auto* all = std::get_if<std::vector<std::int64_t>>(a)) axes = *all;
    const std::int64_t least = name == std::string_view("batch_dims") ? 0 : INT32_MIN;
    for (const std::int64_t axis : axes)
      if (axis < least || axis > INT32_MAX)
        return on(error(Code::input_type,
                        cat("attribute ", quote(name), " is ", std::to_string(axis), ", which no tensor has")),
                  node);
  }
  return {};
}

// By the types of the function's body. What the body complains of is found, with its place, when it is expanded.
void infer_by_body(const onnx::FunctionProto& body, const OnnxSemantics& semantics, NodeContext& context) {
  const Registry registry(semantics.schemas());
  try {
    onnx::shape_inference::InferShapeForFunctionNode(body, &registry, context, onnx::ShapeInferenceOptions(),
                                                     semantics.functions().called_by(body));
  } catch (const std::exception&) {  // nothing is known then
  }
}

}  // namespace

Status OnnxSemantics::infer(Graph& g, NodeId n) const {
  const Node& node = g.node(n);
  if (node.op.dialect != "onnx") return {};
  NodeContext context(*this, g, n);
  if (const onnx::FunctionProto* const function = functions_.find(node.op.domain, node.op.name)) {
    infer_by_body(*function, *this, context);
    return merge_results(g, n, context);
  }
  const onnx::OpSchema* const schema = schemas_.find(node.op.domain, node.op.name, node.op.version);
  if (!schema) return {};
  GANTRY_TRY(check_axes(node));
  if (!schema->has_type_and_shape_inference_function()) {
    if (const onnx::FunctionProto* const body = schema->GetFunction()) infer_by_body(*body, *this, context);
    return merge_results(g, n, context);
  }
  if (node.op.is("onnx", "Loop")) infer_loop_state(*this, g, n);
  try {
    schema->GetTypeAndShapeInferenceFunction()(context);
    if (node.op.is("onnx", "Loop")) set_trip_count(g, n, context);
  } catch (const onnx::InferenceError& e) {
    if (Status inner = context.take_inner_error(); !inner.ok()) return inner;
    if (is_informed(g, node)) return on(error(Code::input_type, plain(e.what())), node);
  } catch (const std::exception&) {  // a failure of the function itself: what it had found out holds
  }
  return merge_results(g, n, context);
}

}  // namespace gantry::onnx_format
