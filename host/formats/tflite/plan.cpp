#include "host/formats/tflite/plan.hpp"

#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "host/formats/tflite/reader.hpp"
#include "host/formats/tflite/types.hpp"
#include "host/formats/tflite/versions.hpp"
#include "host/passes/states.hpp"
#include "host/version.hpp"

namespace gantry::tflite_format {
namespace {

constexpr std::uint64_t kSmall = 4096;  // constants up to this many bytes are compared by content
constexpr std::size_t kRuntimeVersionBytes = 16;
constexpr std::string_view kRuntimeVersionKey = "min_runtime_version", kGantryKey = "gantry", kPrefix = "gantry.";

Diagnostic in_node(Code code, const Node& node, const std::string& what) {
  return error(code, what).on_node(node.name).on_op(node.op.str());
}

/// Gives every distinct constant one buffer.
class Buffers {
 public:
  explicit Buffers(std::deque<BufferPlan>& buffers) : buffers_(buffers) { buffers_.emplace_back(); }

  std::uint32_t add_bytes(std::string bytes) {
    if (const auto it = by_content_.find(bytes); it != by_content_.end()) return it->second;
    const std::uint32_t index = next();
    by_content_.emplace(buffers_.emplace_back(BufferPlan{.bytes = std::move(bytes)}).bytes, index);
    return index;
  }

  Result<std::uint32_t> add(const Constant& c, std::string_view name) {
    if (c.dtype() == DType::string) {
      std::optional<std::string> packed = pack_strings(c.string_values());
      if (!packed) return error(Code::output_too_large, "the strings of " + std::string(name) + " exceed 2 GB");
      return add_bytes(*std::move(packed));
    }
    if (c.byte_size() <= kSmall) {
      std::string bytes(c.byte_size(), '\0');
      GANTRY_TRY(c.write(std::as_writable_bytes(std::span(bytes))));
      return add_bytes(std::move(bytes));
    }
    std::vector<std::uint32_t>& candidates = by_handle_[c.hash()];
    for (const std::uint32_t i : candidates) {
      if (buffers_[i].constant.same(c)) return i;
    }
    candidates.push_back(next());
    buffers_.push_back({.constant = c});
    return candidates.back();
  }

 private:
  std::uint32_t next() const { return static_cast<std::uint32_t>(buffers_.size()); }

  std::deque<BufferPlan>& buffers_;  // elements do not move
  std::unordered_map<std::string_view, std::uint32_t> by_content_;
  std::unordered_map<std::size_t, std::vector<std::uint32_t>> by_handle_;
};

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
  explicit Planner(const Graph& g) : g_(g), buffers_(plan_.buffers), index_(g.value_slots(), -1) {}

  Result<ModelPlan> run() {
    if (const auto lost = g_.metadata.find(std::string(kNotKept)); lost != g_.metadata.end()) {
      return error(Code::declined, "the source file has " + lost->second + ", which would be lost");
    }
    number_subgraphs();
    for (SubgraphPlan& s : plan_.subgraphs) GANTRY_TRY(plan_subgraph(s));
    for (const BufferPlan& b : plan_.buffers) plan_.weight_bytes += b.size();
    plan_metadata();
    return std::move(plan_);
  }

 private:
  void number_subgraphs() {
    plan_.subgraph_of.assign(g_.region_slots(), -1);
    for (const RegionId r : g_.regions()) {
      plan_.subgraph_of[r.index] = static_cast<std::int32_t>(plan_.subgraphs.size());
      plan_.subgraphs.push_back({.region = r});
    }
  }

  Status plan_subgraph(SubgraphPlan& s) {
    const Region& region = g_.region(s.region);
    reserve_names(region);
    for (const ValueId v : region.inputs) {
      GANTRY_ASSIGN(s.inputs.emplace_back(), tensor(s, v, nullptr));
    }
    for (NodeId n = region.first; n; n = g_.node(n).next) GANTRY_TRY(plan_node(s, n));
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
    const std::string wanted(g_.value(v).name);
    std::string name = wanted;
    for (int n = 1; !taken_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    return name;
  }

  Status plan_node(SubgraphPlan& s, NodeId n) {
    const Node& node = g_.node(n);
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
    const Value& value = g_.value(v);
    const RegionId home = value.producer ? g_.node(value.producer).region : value.input_of;
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
      const OperatorVersion v = lowest_version(g_, node);
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
    add_metadata(kGantryKey, gantry_entry(g_));
    for (const auto& [key, value] : g_.metadata) {
      if (key != kRuntimeVersionKey && key != kGantryKey && !key.starts_with(kPrefix)) add_metadata(key, value);
    }
  }

  void add_metadata(std::string_view key, std::string value) {
    plan_.metadata.emplace_back(key, buffers_.add_bytes(std::move(value)));
  }

  const Graph& g_;
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

std::uint64_t ModelPlan::structure_bytes(const Graph& g) const {
  std::uint64_t n = 65536;  // the tables' shapes, the signature's fixed part
  for (const SubgraphPlan& s : subgraphs) {
    n += 256 + 8 * (s.inputs.size() + s.outputs.size());
    for (const TensorPlan& t : s.tensors) n += 256 + 2 * t.name.size() + 16 * g.value(t.value).type.rank();
    for (const OperatorPlan& op : s.operators) {
      n += 256 + 8 * (op.inputs.size() + op.outputs.size());
      for (const auto& [name, attr] : g.node(op.node).attrs) n += name.size() + attr_bytes(attr);
    }
    for (const Output& o : g.region(s.region).outputs) n += 64 + o.name.size();
    for (const std::string& name : g.region(s.region).input_names) n += 64 + name.size();
  }
  for (const auto& [name, buffer] : metadata) n += 64 + name.size();
  return n + 64 * buffers.size() + 128 * codes.size() + g.name.size();
}

Result<ModelPlan> plan_model(const Graph& g) { return Planner(g).run(); }

}  // namespace gantry::tflite_format
