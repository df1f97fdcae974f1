// Puts the function body of an operator in the place of its node.
#include <algorithm>

#include <onnx/defs/function.h>
#include <onnx/defs/schema.h>

#include "host/formats/onnx/attributes.hpp"
#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/node_view.hpp"
#include "host/formats/onnx/nodes.hpp"
#include "host/formats/onnx/onnx_semantics.hpp"
#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

namespace {

using onnx::FunctionProto;

class BodyContext final : public onnx::FunctionBodyBuildContext {
 public:
  BodyContext(const Graph& graph, NodeId node) : view_(graph, node) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return view_.attribute(name); }
  bool hasInput(int i) const override { return i >= 0 && view_.has_input(static_cast<std::size_t>(i)); }
  bool hasOutput(int i) const override { return i >= 0 && view_.has_output(static_cast<std::size_t>(i)); }
  const onnx::TypeProto* getInputType(int i) const override {
    const onnx::TypeProto* const type = i < 0 ? nullptr : view_.input_type(static_cast<std::size_t>(i));
    return type && type->value_case() != onnx::TypeProto::VALUE_NOT_SET ? type : nullptr;
  }

 private:
  NodeView view_;
};

// The library's body for the operator: a fixed one, or one that depends on the node. Each is written in terms of the
// opset that it names; a node of ours carries its own version, so the newest body of this form of the operator is right
// whatever the model imports. Null if there is none for this node; `built` holds one that is made for it.
const FunctionProto* library_body(const onnx::OpSchema& schema, const Graph& graph, NodeId n, FunctionProto& built) {
  if (schema.HasFunction()) return schema.GetFunction();
  if (!schema.HasContextDependentFunction()) return nullptr;
  const BodyContext context(graph, n);
  const std::vector<int> versions = schema.context_dependent_function_opset_versions();
  try {
    return schema.BuildContextDependentFunction(context, built, std::ranges::max(versions)) ? &built : nullptr;
  } catch (const std::exception&) {  // it needs to know more of the operands than is known
    return nullptr;
  }
}

// The first characters of a name: one of a hostile length must not be repeated in every value of a body.
std::string beginning(std::string_view name) {
  std::size_t end = std::min<std::size_t>(name.size(), 120);
  while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return std::string(name.substr(0, end));
}

// The node's attributes and the defaults of those that it leaves out.
Result<Attrs> parameters_of(const Node& node, const onnx::OpSchema* schema, const FunctionProto& body,
                            TensorSource& tensors) {
  Attrs parameters = node.attrs;
  const auto add = [&](const std::string& name, const onnx::AttributeProto& value) -> Status {
    if (parameters.contains(name) || value.type() == onnx::AttributeProto::UNDEFINED) return {};
    GANTRY_ASSIGN(Attr attr, to_attr(value, tensors));
    parameters.emplace(name, std::move(attr));
    return {};
  };
  for (const auto& value : body.attribute_proto()) GANTRY_TRY(add(value.name(), value));
  if (schema) {
    for (const auto& [name, attribute] : schema->attributes()) GANTRY_TRY(add(name, attribute.default_value));
  }
  return parameters;
}

// The results of the body's nodes become those of the node, with its names and what was known of their types.
Status hand_over(Graph& g, NodeId n, const FunctionProto& body, const Scope& scope) {
  for (std::size_t i = 0; i < g.node(n).outputs.size(); ++i) {
    const ValueId old = g.node(n).outputs[i];
    if (!old) continue;
    const std::string& name = body.output(static_cast<int>(i));
    const auto found = scope.values.find(name);
    if (found == scope.values.end() || !found->second) {
      return error(Code::input_graph,
                   cat("function ", quote(body.name()), " does not compute its output ", quote(name)));
    }
    const ValueId made = found->second;
    Type type = g.value(made).type;
    if (!merge(type, g.value(old).type)) {
      return error(Code::input_type, cat("value ", quote(g.value(old).name), " is ", g.value(old).type.str(),
                                         ", but the function computes ", type.str()));
    }
    if (!g.value(made).is_constant()) g.set_type(made, std::move(type));
    g.replace_uses(old, made);
    if (g.value(made).producer && std::ranges::find(body.input(), name) == body.input().end()) g.swap_names(old, made);
  }
  return {};
}

}  // namespace

Status OnnxSemantics::put_body(Graph& g, NodeId n, const FunctionProto& body, const onnx::OpSchema* schema) const {
  const Node& node = g.node(n);
  GANTRY_ASSIGN(const Attrs parameters, parameters_of(node, schema, body, tensors_));
  GANTRY_ASSIGN(Opsets opsets, opsets_of(body.opset_import(), "it"));
  if (schema) opsets.emplace("", newest_opset(""));  // bodies of ONNX's other domains need not say it
  const std::string_view first = node.outputs.empty() ? node.op.name : g.value(node.outputs.front()).name;
  const ImportSettings settings{.schemas = schemas_,
                                .functions = functions_,
                                .tensors = tensors_,
                                .opsets = opsets,
                                .is_library = schema != nullptr,
                                .parameters = &parameters,
                                .node_name = node.name,
                                .prefix = beginning(node.name.empty() ? first : node.name)};
  Scope scope;
  for (int i = 0; i < body.input_size(); ++i) {
    GANTRY_TRY(NodeImporter::define(scope, body.input(i), node.input(static_cast<std::size_t>(i))));
  }
  NodeImporter importer(g, settings);
  GANTRY_TRY(importer.import_nodes(body.node(), g.before(n), scope));
  GANTRY_TRY(importer.import_subgraphs());
  GANTRY_TRY(hand_over(g, n, body, scope));
  g.erase_node(n);
  return {};
}

Result<bool> OnnxSemantics::expand(Graph& g, NodeId n) const {
  const Node& node = g.node(n);
  if (node.op.dialect != "onnx") return false;
  const onnx::OpSchema* schema = nullptr;
  FunctionProto built;
  const FunctionProto* body = functions_.find(node.op.domain, node.op.name);
  if (!body) {
    schema = schemas_.find(node.op.domain, node.op.name, node.op.version);
    body = schema ? library_body(*schema, g, n, built) : nullptr;
  }
  if (!body) return false;
  if (node.inputs.size() > static_cast<std::size_t>(body->input_size()) ||
      node.outputs.size() > static_cast<std::size_t>(body->output_size())) {
    if (schema) return false;  // a list of operands, which a body cannot name
    return error(Code::input_graph, "the function is called with too many operands or results")
        .on_node(node.name)
        .on_op(node.op.name);
  }
  const std::string name(node.name);
  const std::string op = node.op.domain.empty() ? std::string(node.op.name) : cat(node.op.domain, "::", node.op.name);
  if (Status status = put_body(g, n, *body, schema); !status.ok()) {
    Diagnostic d = status.take_error();
    d.message =
        cat("in the function that it calls", d.node.empty() ? "" : cat(", at ", quote(d.node)), ": ", d.message);
    return std::move(d).on_node(name).on_op(op);
  }
  return true;
}

}  // namespace gantry::onnx_format
