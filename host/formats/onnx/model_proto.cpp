#include "host/formats/onnx/model_proto.hpp"

#include <limits>

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "host/formats/onnx/attributes.hpp"
#include "host/formats/onnx/message.hpp"
#include "host/formats/onnx/opset.hpp"
#include "host/formats/onnx/tensor.hpp"
#include "host/formats/onnx/types.hpp"
#include "host/formats/onnx/written_names.hpp"
#include "host/version.hpp"

namespace gantry::onnx_format {
namespace {

class Maker {
 public:
  Maker(const Graph& g, std::uint64_t most_inline, WrittenModel& out)
      : g_(g), most_inline_(most_inline), out_(out), names_(g) {}

  void run() {
    onnx::GraphProto& graph = *out_.proto->mutable_graph();
    fill(g_.main(), graph);
    graph.set_name(g_.name.empty() ? "main" : g_.name);
    initializers(graph);
  }

 private:
  void fill(RegionId r, onnx::GraphProto& graph) {
    const Region& region = g_.region(r);
    graph.set_name(region.name);
    for (const ValueId v : region.inputs) declare(names_.value(v), g_.value(v).type, *graph.add_input());
    for (NodeId n = region.first; n; n = g_.node(n).next) {
      add_node(g_.node(n), *graph.add_node());
      for (const ValueId v : g_.node(n).outputs)
        if (v && !is_output(v, r) && g_.value(v).type.dtype != DType::undefined)
          declare(names_.value(v), g_.value(v).type, *graph.add_value_info());
    }
    for (std::size_t i = 0; i < region.outputs.size(); ++i) {
      const ValueId v = region.outputs[i].value;
      const std::string& name = names_.output(r, i);
      if (name != names_.value(v)) copy(names_.value(v), name, *graph.add_node());
      declare(name, g_.value(v).type, *graph.add_output());
    }
  }

  bool is_output(ValueId v, RegionId r) const {
    for (const OutputUse& use : g_.output_uses(v))
      if (use.region == r && names_.output(r, use.index) == names_.value(v)) return true;
    return false;
  }

  static void declare(const std::string& name, const Type& type, onnx::ValueInfoProto& info) {
    info.set_name(name);
    to_proto(type, *info.mutable_type());
  }

  static void copy(const std::string& from, const std::string& to, onnx::NodeProto& proto) {
    proto.set_op_type("Identity");
    proto.set_name(to);
    proto.add_input(from);
    proto.add_output(to);
  }

  void add_node(const Node& n, onnx::NodeProto& proto) {
    proto.set_op_type(std::string(n.op.name));
    proto.set_domain(std::string(n.op.domain));
    proto.set_name(names_.node(n));
    for (const ValueId v : n.inputs) proto.add_input(names_.value(v));
    for (const ValueId v : n.outputs) proto.add_output(names_.value(v));
    for (const auto& [name, attr] : n.attrs)
      to_proto(name, attr, std::numeric_limits<std::uint64_t>::max(), *proto.add_attribute());
    for (const auto& [name, region] : n.regions) {
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::GRAPH);
      fill(region, *attribute.mutable_g());
      if (attribute.g().name().empty()) attribute.mutable_g()->set_name(name);
    }
  }

  // Subgraphs see the main graph's, so that is where all are.
  void initializers(onnx::GraphProto& graph) {
    for (std::uint32_t i = 1; i < g_.value_slots(); ++i) {
      const Value& v = g_.value(ValueId{i});
      if (!v.alive || !v.is_constant() || v.unused()) continue;
      out_.weight_bytes += v.constant.byte_size();
      if (v.constant.dtype() != DType::string && v.constant.byte_size() >= most_inline_) {
        out_.large.push_back({names_.value(ValueId{i}), v.constant});
        continue;
      }
      onnx::TensorProto& tensor = *graph.add_initializer();
      to_proto(v.constant, true, tensor);
      tensor.set_name(names_.value(ValueId{i}));
    }
  }

  const Graph& g_;
  std::uint64_t most_inline_;
  WrittenModel& out_;
  WrittenNames names_;
};

}  // namespace

WrittenModel make_model(const Graph& g, const std::map<std::string, std::int64_t>& opsets, std::uint64_t most_inline) {
  WrittenModel out;
  out.proto = std::make_unique<onnx::ModelProto>();
  out.proto->set_ir_version(ir_version_of(opsets.at("")));
  out.proto->set_producer_name("gantry");
  out.proto->set_producer_version(std::string(kVersion));
  for (const auto& [domain, version] : opsets) {
    auto& import = *out.proto->add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  for (const auto& [key, value] : g.metadata) {
    auto& entry = *out.proto->add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  Maker(g, most_inline, out).run();
  return out;
}

Status check_model(WrittenModel& model) {
  onnx::GraphProto& graph = *model.proto->mutable_graph();
  const int inputs = graph.input_size();
  // The checker would want the payloads; as inputs the large constants need none.
  for (const LargeConstant& c : model.large) {
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(c.name);
    to_proto(c.constant.type(), *info.mutable_type());
  }
  Status status;
  try {
    onnx::checker::check_model(*model.proto);
  } catch (const std::exception& e) {
    status = error(Code::output_format, cat("ONNX's checker refuses the model: ", printable(e.what())));
  }
  graph.mutable_input()->DeleteSubrange(inputs, graph.input_size() - inputs);
  return status;
}

}  // namespace gantry::onnx_format
