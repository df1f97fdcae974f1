#include "host/formats/onnx/nodes.hpp"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/attributes.hpp"
#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

namespace {

using onnx::AttributeProto;
using onnx::NodeProto;

std::string shown_operator(const NodeProto& node) {
  const std::string_view domain = plain_domain(node.domain());
  return domain.empty() ? node.op_type() : cat(domain, "::", node.op_type());
}

Diagnostic on(Diagnostic d, const NodeProto& node) {
  if (d.node.empty()) d.node = printable(label(node));
  if (d.op.empty()) d.op = printable(shown_operator(node));
  return d;
}

// ONNX's own check of the number of operands and results and of the attributes.
Status verify(const onnx::OpSchema& schema, const NodeProto& node) {
  try {
    schema.Verify(node);
  } catch (const std::exception& e) {
    return error(Code::input_malformed, cat("the node is not a valid ", node.op_type(), ": ", printable(e.what())));
  }
  // It lets operands of a variadic list be omitted, for which ONNX's inference functions are not made.
  const auto& formal = schema.inputs();
  for (int i = 0; i < node.input_size(); ++i) {
    const auto& parameter = formal[std::min(static_cast<std::size_t>(i), formal.size() - 1)];
    if (node.input(i).empty() && parameter.GetOption() == onnx::OpSchema::Variadic) {
      return error(Code::input_malformed, cat("operand ", i, " of the list '", parameter.GetName(), "' is missing"));
    }
  }
  return {};
}

}  // namespace

const ValueId* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer) {
    if (const auto it = scope->values.find(name); it != scope->values.end()) return &it->second;
  }
  return nullptr;
}

Status NodeImporter::define(Scope& scope, std::string_view name, ValueId value) {
  if (name.empty()) return error(Code::input_malformed, "an input of a graph or function has no name");
  if (!is_text(name)) return error(Code::input_malformed, cat("the name ", quote(name), " is not text"));
  if (scope.values.emplace(name, value).second) return {};
  return error(Code::input_graph, cat("value ", quote(name), " is defined twice"));
}

std::string NodeImporter::value_name(std::string_view name) const {
  return settings_.prefix.empty() || name.empty() ? std::string(name) : cat(settings_.prefix, "/", name);
}

// ---- one node ----

Result<int> NodeImporter::since_version(const NodeProto& node, std::string_view domain) const {
  const auto imported = settings_.opsets.find(std::string(domain));
  if (imported == settings_.opsets.end()) {
    if (domain == "onnx.brevitas") return 1;  // Brevitas wrote it so, when QONNX had no versions
    return error(Code::input_opset, cat("the model uses an operator of domain ", quote(shown_domain(domain)),
                                        " without importing a version of that domain"))
        .try_this("add the domain to the model's opset_import");
  }
  const auto version = static_cast<int>(imported->second);
  if (settings_.functions.find(domain, operator_name(node))) return version;
  const onnx::OpSchema* const schema = settings_.schemas.find(domain, node.op_type(), version);
  if (!schema) {
    const onnx::OpSchema* const newest = settings_.schemas.newest(domain, node.op_type());
    if (!newest) return version;
    // ONNX Runtime's optimiser writes it into models of any opset, with what it was to mean from opset 17 on.
    if (domain.empty() && node.op_type() == "LayerNormalization") return newest->since_version();
    return error(Code::input_opset, cat("operator ", node.op_type(), " is newer than opset ", version, " of ",
                                        shown_domain(domain), ", which the model imports"));
  }
  if (schema->deprecated()) {
    // A form that a newer one has replaced (GroupNormalization before opset 21) is upgraded like any other old form.
    const onnx::OpSchema* const newest = settings_.schemas.newest(domain, node.op_type());
    if (newest && !newest->deprecated()) return schema->since_version();
    return error(Code::input_opset, cat("operator ", node.op_type(), " was removed in opset ", schema->since_version(),
                                        " of ", shown_domain(domain), ", and the model imports ", version));
  }
  if (!settings_.is_library) GANTRY_TRY(verify(*schema, node));
  return schema->since_version();
}

// Subgraphs are left out; a reference to an attribute that the caller does not give leaves the node's default.
Result<Attrs> NodeImporter::attributes(const NodeProto& node) const {
  Attrs attrs;
  for (const AttributeProto& proto : node.attribute()) {
    if (proto.name().empty() || !is_text(proto.name())) return error(Code::input_malformed, "an attribute has no name");
    if (proto.ref_attr_name().empty()) {
      if (proto.type() == AttributeProto::GRAPH) continue;
      if (proto.type() == AttributeProto::UNDEFINED && settings_.is_library) continue;  // an optional one, not given
      GANTRY_ASSIGN(Attr attr, to_attr(proto, settings_.tensors));
      if (attrs.emplace(proto.name(), std::move(attr)).second) continue;
      return error(Code::input_malformed, cat("attribute ", quote(proto.name()), " is given twice"));
    }
    if (!settings_.parameters) {
      return error(Code::input_malformed, cat("attribute ", quote(proto.name()), " refers to ",
                                              quote(proto.ref_attr_name()), " of a function, but is in none"));
    }
    const auto given = settings_.parameters->find(proto.ref_attr_name());
    if (given != settings_.parameters->end()) attrs.emplace(proto.name(), given->second);
  }
  return attrs;
}

Result<std::vector<ValueId>> NodeImporter::operands(const NodeProto& node, const Scope& scope) const {
  std::vector<ValueId> values;
  values.reserve(static_cast<std::size_t>(node.input_size()));
  for (const std::string& name : node.input()) {
    const ValueId* const value = name.empty() ? nullptr : scope.find(name);
    if (!value && !name.empty()) {
      return error(Code::input_graph, cat("value ", quote(name), " is used, but nothing defines it"))
          .try_this("an initializer may have been lost when the model was saved");
    }
    values.push_back(value ? *value : ValueId{});
  }
  while (!values.empty() && !values.back()) values.pop_back();
  return values;
}

Status NodeImporter::import_constant(const NodeProto& node, const Attrs& attrs, Scope& scope) {
  if (node.output_size() != 1 || node.output(0).empty())
    return error(Code::input_malformed, "a Constant needs one result");
  GANTRY_ASSIGN(Constant constant, constant_of(attrs));
  return define(scope, node.output(0), graph_.add_constant(std::move(constant), value_name(node.output(0))));
}

Status NodeImporter::import_node(const NodeProto& node, InsertPoint at, Scope& scope) {
  const std::string_view domain = plain_domain(node.domain());
  if (node.op_type().empty()) return error(Code::input_malformed, "a node has no operator");
  if (!is_text(node.op_type()) || !is_text(domain) || !is_text(node.name())) {
    return error(Code::input_malformed, "a name in the node is not text");
  }
  GANTRY_ASSIGN(const int version, since_version(node, domain));
  GANTRY_ASSIGN(Attrs attrs, attributes(node));
  if (domain.empty() && node.op_type() == "Constant") return import_constant(node, attrs, scope);
  GANTRY_ASSIGN(const std::vector<ValueId> inputs, operands(node, scope));

  int results = node.output_size();
  while (results > 0 && node.output(results - 1).empty()) --results;
  std::vector<std::string> names;
  for (int i = 0; i < results; ++i) names.push_back(value_name(node.output(i)));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string name = operator_name(node);
  const NodeId id = graph_.add_node_named(at, Op{"onnx", domain, name, version}, inputs, views, std::move(attrs),
                                          settings_.node_name.empty() ? node.name() : settings_.node_name);
  for (int i = 0; i < results; ++i) {
    const ValueId value = graph_.node(id).output(static_cast<std::size_t>(i));
    if (value) GANTRY_TRY(define(scope, node.output(i), value));
  }
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.type() != AttributeProto::GRAPH) continue;
    if (!attribute.ref_attr_name().empty()) {
      return error(Code::unsupported_op,
                   cat("attribute ", quote(attribute.name()), " refers to a subgraph of a function's caller"));
    }
    const RegionId region = graph_.add_region(id, attribute.name(), as_text(attribute.g().name()));
    subgraphs_.push_back({&attribute.g(), region, &scope});
  }
  return {};
}

Status NodeImporter::import_nodes(const NodeProtos& nodes, InsertPoint at, Scope& scope) {
  GANTRY_ASSIGN(const std::vector<int> order, topological_order(nodes));
  for (const int i : order) {
    if (Status status = import_node(nodes[i], at, scope); !status.ok()) return on(status.take_error(), nodes[i]);
  }
  return {};
}

// ---- graphs ----

Status NodeImporter::import_initializers(const onnx::GraphProto& proto, Scope& scope) {
  const auto add = [&](const auto& tensor, const std::string& name) -> Status {
    if (name.empty()) return error(Code::input_malformed, "an initializer has no name");
    GANTRY_ASSIGN(Constant constant, settings_.tensors.constant(tensor, cat("tensor ", quote(name))));
    // The input of a subgraph comes from its node; an initializer of that name is only a default.
    if (scope.values.contains(name) && scope.outer) return {};
    return define(scope, name, graph_.add_constant(std::move(constant), value_name(name)));
  };
  for (const auto& tensor : proto.initializer()) GANTRY_TRY(add(tensor, tensor.name()));
  for (const auto& tensor : proto.sparse_initializer()) GANTRY_TRY(add(tensor, tensor.values().name()));
  return {};
}

Status NodeImporter::declare(const onnx::ValueInfoProto& info, const Scope& scope) {
  const auto it = scope.values.find(info.name());
  if (it == scope.values.end() || !it->second) return {};  // of a value that is gone: exporters leave such behind
  Type declared = to_type(info.type());
  if (!settings_.keep_shapes) declared = Type::unranked(declared.dtype);
  const Value& value = graph_.value(it->second);
  Type merged = value.type;
  if (!merge(merged, declared)) {
    return error(Code::input_type,
                 cat("the model declares ", quote(info.name()), " as ", declared.str(),
                     value.is_constant() ? ", but its tensor is " : " and elsewhere as ", value.type.str()));
  }
  if (!value.is_constant()) graph_.set_type(it->second, std::move(merged));
  return {};
}

Status NodeImporter::import_outputs(const onnx::GraphProto& proto, RegionId region, const Scope& scope) {
  std::unordered_map<std::string_view, int> seen;
  for (const auto& output : proto.output()) {
    const ValueId* const value = scope.find(output.name());
    if (!value || !*value) {
      return error(Code::input_graph, cat("output ", quote(output.name()), " of graph ", quote(proto.name()),
                                          " is not computed by any node"));
    }
    if (seen[output.name()]++ != 0) {
      return error(Code::input_graph,
                   cat("graph ", quote(proto.name()), " has output ", quote(output.name()), " twice"));
    }
    graph_.add_output(region, output.name(), *value);
  }
  return {};
}

Status NodeImporter::import_graph(const onnx::GraphProto& proto, RegionId region, Scope& scope) {
  GANTRY_TRY(import_initializers(proto, scope));
  GANTRY_TRY(import_nodes(proto.node(), graph_.end(region), scope));
  GANTRY_TRY(import_outputs(proto, region, scope));
  for (const auto& info : proto.input()) GANTRY_TRY(declare(info, scope));
  for (const auto& info : proto.output()) GANTRY_TRY(declare(info, scope));
  for (const auto& info : proto.value_info()) GANTRY_TRY(declare(info, scope));
  return {};
}

Status NodeImporter::import_subgraph(const Subgraph& subgraph) {
  Scope& scope = scopes_.emplace_back();
  scope.outer = subgraph.outer;
  for (const auto& input : subgraph.proto->input()) {
    GANTRY_TRY(define(scope, input.name(), graph_.add_input(subgraph.region, value_name(input.name()), {})));
  }
  return import_graph(*subgraph.proto, subgraph.region, scope);
}

Status NodeImporter::import_subgraphs() {
  while (!subgraphs_.empty()) {
    const Subgraph next = subgraphs_.front();
    subgraphs_.pop_front();
    Status status = import_subgraph(next);
    if (status.ok()) continue;
    Diagnostic d = status.take_error();
    if (d.node.empty()) d.node = graph_.node(graph_.region(next.region).owner).name;
    return d;
  }
  return {};
}

// ---- opsets ----

Result<Opsets> opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                         std::string_view whose) {
  Opsets opsets;
  for (const auto& import : imports) {
    const std::string domain(plain_domain(import.domain()));
    if (!is_text(domain)) return error(Code::input_malformed, "the name of a domain is not text");
    const std::string shown(shown_domain(domain));
    const int newest = newest_opset(domain);
    if (newest != 0 && import.version() > newest) {
      return error(Code::input_opset, cat(whose, " needs opset ", import.version(), " of ", shown,
                                          "; this build knows opsets up to ", newest))
          .try_this(cat("export the model with opset ", newest, " or older"));
    }
    if (import.version() < 1 || import.version() > std::numeric_limits<int>::max()) {
      return error(Code::input_opset,
                   cat(whose, " imports version ", import.version(), " of ", shown, ", which cannot be"));
    }
    const auto [it, fresh] = opsets.emplace(domain, import.version());
    if (!fresh && it->second != import.version()) {
      return error(Code::input_opset,
                   cat(whose, " imports both version ", it->second, " and version ", import.version(), " of ", shown));
    }
  }
  return opsets;
}

}  // namespace gantry::onnx_format
