#include "host/formats/tflite/plan.hpp"

#include <limits>
#include <map>
#include <unordered_set>

#include "host/formats/tflite/buffers.hpp"
#include "host/formats/tflite/reader.hpp"
#include "host/formats/tflite/types.hpp"
#include "host/formats/tflite/versions.hpp"
#include "host/passes/states.hpp"
#include "host/version.hpp"

namespace gantry::tflite_format {
namespace {

constexpr std::size_t kRuntimeVersionBytes = 16;
constexpr std::string_view kRuntimeVersionKey = "min_runtime_version", kGantryKey = "gantry", kPrefix = "gantry.";

Diagnostic in_node(Code code, const Node& node, const std::string& what) {
  return error(code, what).on_node(node.name).on_op(node.op.str());
}

std::string json_string(std::string_view s) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20) {
      out += std::string("\\u00") + kHex[u >> 4] + kHex[u & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

// The "gantry" entry: a JSON object of where the file comes from, and of the metadata whose keys begin with "gantry.".
std::string gantry_entry(const Graph& g) {
  std::map<std::string, std::string> members{{"version", std::string(kVersion)}};
  if (!g.source.empty()) members["source"] = g.source;
  if (!g.producer.empty()) members["producer"] = g.producer;
  for (const auto& [key, value] : g.metadata) {
    if (key.starts_with(kPrefix)) members[key.substr(kPrefix.size())] = value;
  }
  std::string json;
  for (const auto& [key, value] : members) {
    json += (json.empty() ? "{" : ", ") + json_string(key) + ": " + json_string(value);
  }
  return json + "}";
}

class Planner {
 public:
  explicit Planner(std::span<const SignatureGraph> graphs) : graphs_(graphs), buffers_(plan_.buffers) {}

  Result<ModelPlan> run() {
    for (const SignatureGraph& s : graphs_) {
      const auto lost = s.graph->metadata.find(std::string(kNotKept));
      if (lost == s.graph->metadata.end()) continue;
      return error(Code::declined, "the source file has " + lost->second + ", which would be lost");
    }
    for (const SignatureGraph& s : graphs_) GANTRY_TRY(plan_graph(s));
    for (const BufferPlan& b : plan_.buffers) plan_.weight_bytes += b.size();
    plan_metadata();
    return std::move(plan_);
  }

 private:
  Status plan_graph(const SignatureGraph& signature) {
    g_ = signature.graph;
    index_.assign(g_->value_slots(), -1);
    buffers_.next_graph();
    const std::size_t main = plan_.subgraphs.size();
    plan_.signatures.push_back({signature.name, main});
    std::vector<std::int32_t>& subgraph_of = plan_.subgraph_of[g_];
    subgraph_of.assign(g_->region_slots(), -1);
    for (const RegionId r : g_->regions()) {
      subgraph_of[r.index] = static_cast<std::int32_t>(plan_.subgraphs.size());
      const std::string& own = r != g_->main() ? g_->region(r).name : graphs_.size() > 1 ? signature.name : g_->name;
      plan_.subgraphs.push_back({.graph = g_, .region = r, .name = own});
    }
    for (std::size_t i = main; i < plan_.subgraphs.size(); ++i) GANTRY_TRY(plan_subgraph(plan_.subgraphs[i]));
    return {};
  }

  Status plan_subgraph(SubgraphPlan& s) {
    const Region& region = g_->region(s.region);
    reserve_names(region);
    for (const ValueId v : region.inputs) {
      GANTRY_ASSIGN(s.inputs.emplace_back(), tensor(s, v, nullptr));
    }
    for (NodeId n = region.first; n; n = g_->node(n).next) GANTRY_TRY(plan_node(s, n));
    for (const Output& o : region.outputs) {
      GANTRY_ASSIGN(s.outputs.emplace_back(), tensor(s, o.value, nullptr));
    }
    for (const TensorPlan& t : s.tensors) index_[t.value.index] = -1;  // a constant may stand in many subgraphs
    return {};
  }

  // Inputs and outputs have the source's names; other tensors that have such a name by chance get another.
  void reserve_names(const Region& region) {
    names_.clear();
    taken_.clear();
    for (std::size_t i = 0; i < region.inputs.size(); ++i) {
      const std::string& name = i < region.input_names.size() ? region.input_names[i] : std::string();
      if (!name.empty()) names_.try_emplace(region.inputs[i], name);
    }
    for (const Output& o : region.outputs) {
      if (!o.name.empty()) names_.try_emplace(o.value, o.name);
    }
    for (const auto& [value, name] : names_) taken_.insert(name);
  }

  std::string tensor_name(ValueId v) {
    if (const auto it = names_.find(v); it != names_.end()) return it->second;
    const std::string wanted(g_->value(v).name);
    std::string name = wanted;
    for (int n = 1; !taken_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    return name;
  }

  Status plan_node(SubgraphPlan& s, NodeId n) {
    const Node& node = g_->node(n);
    OperatorPlan op{.node = n};
    GANTRY_ASSIGN(op.code, code_of(node));
    for (const ValueId v : node.inputs) {
      if (!v) {
        op.inputs.push_back(-1);
      } else {
        GANTRY_ASSIGN(op.inputs.emplace_back(), tensor(s, v, &node));
      }
    }
    for (const std::size_t i : states_of(node).operands) {
      if (op.inputs.size() > i && op.inputs[i] >= 0)
        s.tensors[static_cast<std::size_t>(op.inputs[i])].is_variable = true;
    }
    for (const ValueId v : node.outputs) {
      if (!v) return in_node(Code::internal, node, "a result is omitted, which the format cannot say");
      GANTRY_ASSIGN(op.outputs.emplace_back(), tensor(s, v, &node));
    }
    s.operators.push_back(std::move(op));
    return {};
  }

  // The index of the value's tensor in the subgraph, which is added when it is first seen.
  Result<std::int32_t> tensor(SubgraphPlan& s, ValueId v, const Node* user) {
    std::int32_t& index = index_[v.index];
    if (index >= 0) return index;
    const Value& value = g_->value(v);
    const RegionId home = value.producer ? g_->node(value.producer).region : value.input_of;
    if (!value.is_constant() && home != s.region) {
      const std::string what =
          "value \"" + std::string(value.name) + "\" of another region is used; the format has no captures";
      return user ? in_node(Code::internal, *user, what) : error(Code::internal, what);
    }
    GANTRY_TRY(check_type(value));
    TensorPlan t{.name = tensor_name(v), .value = v};
    if (value.is_constant()) {
      GANTRY_ASSIGN(t.buffer, buffers_.add(value.constant, value.name));
    }
    index = static_cast<std::int32_t>(s.tensors.size());
    s.tensors.push_back(std::move(t));
    return index;
  }

  static Status check_type(const Value& value) {
    const std::string name = "value \"" + std::string(value.name) + "\"";
    if (!tensor_type(value.type.dtype)) {
      return error(Code::unsupported_type, name + " is of type " + value.type.str() + ", which TFLite cannot hold");
    }
    for (const Dim& d : value.type.dims) {
      if (d.size > std::numeric_limits<std::int32_t>::max()) {
        return error(Code::target_limit, name + " is of type " + value.type.str() + "; TFLite's sizes have 32 bits");
      }
    }
    return {};
  }

  Result<std::uint32_t> code_of(const Node& node) {
    CodePlan code;
    if (node.op.dialect == "tflite" && node.op.domain == "custom") {
      code.op = Schema::get().find("CUSTOM");
      code.custom = node.op.name;
      code.version = node.op.version;
      if (!node.regions.empty()) return in_node(Code::internal, node, "a custom operator cannot have regions");
    } else {
      code.op = node.op.dialect == "tflite" && node.op.domain.empty() ? Schema::get().find(node.op.name) : nullptr;
      if (!code.op) return in_node(Code::internal, node, node.op.str() + " is no operator of TFLite");
      const OperatorVersion v = lowest_version(*g_, node);
      code.version = v.version;
      if (runtime_before(plan_.min_runtime_version, v.runtime)) plan_.min_runtime_version = v.runtime;
    }
    const auto [it, is_new] =
        codes_.try_emplace({code.op->code, code.version, code.custom}, static_cast<std::uint32_t>(plan_.codes.size()));
    if (is_new) plan_.codes.push_back(std::move(code));
    return it->second;
  }

  void plan_metadata() {
    std::string version = plan_.min_runtime_version;
    version.resize(kRuntimeVersionBytes);
    add_metadata(kRuntimeVersionKey, std::move(version));
    add_metadata(kGantryKey, gantry_entry(*graphs_.front().graph));
    std::map<std::string, std::string> others;
    for (const SignatureGraph& s : graphs_) {
      for (const auto& [key, value] : s.graph->metadata) {
        if (key == kRuntimeVersionKey || key == kGantryKey || key.starts_with(kPrefix)) continue;
        const auto [it, is_new] = others.emplace(key, value);
        if (!is_new && it->second != value) others.emplace(s.name + "." + key, value);
      }
    }
    for (const auto& [key, value] : others) add_metadata(key, value);
  }

  void add_metadata(std::string_view key, std::string value) {
    plan_.metadata.emplace_back(key, buffers_.add_bytes(std::move(value)));
  }

  std::span<const SignatureGraph> graphs_;
  const Graph* g_ = nullptr;  // the one at hand
  ModelPlan plan_;
  Buffers buffers_;
  std::vector<std::int32_t> index_;        // tensor of a value in the subgraph at hand
  std::map<ValueId, std::string> names_;   // of inputs and outputs of that subgraph
  std::unordered_set<std::string> taken_;  // names of tensors of that subgraph
  std::map<std::tuple<std::int32_t, int, std::string>, std::uint32_t> codes_;
};

std::uint64_t attr_bytes(const Attr& a) {
  struct Size {
    std::uint64_t operator()(std::int64_t) { return 8; }
    std::uint64_t operator()(float) { return 4; }
    std::uint64_t operator()(const std::string& s) { return s.size(); }
    std::uint64_t operator()(const std::vector<std::int64_t>& v) { return 8 * v.size(); }
    std::uint64_t operator()(const std::vector<float>& v) { return 8 * v.size(); }
    std::uint64_t operator()(const std::vector<std::string>& v) {
      std::uint64_t n = 0;
      for (const std::string& s : v) n += s.size() + 16;
      return n;
    }
    std::uint64_t operator()(const Constant&) { return 0; }
  };
  return 64 + std::visit(Size(), a);
}

}  // namespace

std::uint64_t ModelPlan::structure_bytes() const {
  std::uint64_t n = 65536;  // the tables' shapes, the signature's fixed part
  for (const SubgraphPlan& s : subgraphs) {
    const Graph& g = *s.graph;
    n += 256 + s.name.size() + 8 * (s.inputs.size() + s.outputs.size());
    for (const TensorPlan& t : s.tensors) n += 256 + 2 * t.name.size() + 16 * g.value(t.value).type.rank();
    for (const OperatorPlan& op : s.operators) {
      n += 256 + 8 * (op.inputs.size() + op.outputs.size());
      for (const auto& [name, attr] : g.node(op.node).attrs) n += name.size() + attr_bytes(attr);
    }
    for (const Output& o : g.region(s.region).outputs) n += 64 + o.name.size();
    for (const std::string& name : g.region(s.region).input_names) n += 64 + name.size();
  }
  for (const SignaturePlan& s : signatures) n += 256 + s.name.size();
  for (const auto& [name, buffer] : metadata) n += 64 + name.size();
  return n + 64 * buffers.size() + 128 * codes.size();
}

Result<ModelPlan> plan_model(std::span<const SignatureGraph> graphs) { return Planner(graphs).run(); }

}  // namespace gantry::tflite_format
