#include "host/recording.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gantry::recording {
namespace {

std::string op_text(const Op& op) {
  return op.domain.empty() ? std::string(op.name) : std::string(op.domain) + "::" + std::string(op.name);
}

// An unknown dimension counts as 1.
std::uint64_t bytes_of(const Type& t) {
  std::uint64_t elements = 1;
  for (const Dim& d : t.dims) elements *= static_cast<std::uint64_t>(d.known() ? d.size : 1);
  return packed_bytes(t.dtype, elements).value_or(0);
}

bool is_transpose(const Node& n) { return n.op.is("tflite", "TRANSPOSE") || n.op.is("onnx", "Transpose"); }
bool is_move(const Node& n) {
  return is_transpose(n) || n.op.is("tflite", "RESHAPE") || n.op.is("onnx", "Reshape") || n.op.is("onnx", "Squeeze") ||
         n.op.is("onnx", "Unsqueeze") || n.op.is("onnx", "Flatten");
}

// A transpose or reshape that the layout engine did not put there: it does not see through it, it left its region as it
// was, or a later clean-up made it.
MoveRecord plain_move(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  const ValueId x = node.input(0), y = node.output(0);
  const auto side = [&](NodeId at, ValueId v) -> MoveSide {
    if (!at) return {g.value(v).input_of ? "input" : "constant", std::string(g.value(v).name), g.value(v).type.str()};
    return {op_text(g.node(at).op), std::string(g.node(at).name), g.value(v).type.str()};
  };
  MoveRecord r{n.index, op_text(node.op), std::string(node.name), bytes_of(g.value(y).type),
               side(g.value(x).producer, x)};
  for (const Use& use : g.value(y).uses) r.consumers.push_back(side(use.node, y));
  for (const OutputUse& use : g.output_uses(y))
    r.consumers.push_back({"output", g.region(use.region).outputs[use.index].name, g.value(y).type.str()});
  r.needs = "the layout engine left it as it was: it cannot see through it, or its part of the graph was not improved";
  return r;
}

}  // namespace

std::size_t count_ops(const Graph& g, std::map<std::string, std::size_t>& ops) {
  for (const RegionId r : g.regions()) {
    for (NodeId n = g.region(r).first; n; n = g.node(n).next) ++ops[op_text(g.node(n).op)];
  }
  return g.live_nodes();
}

void record_target(const Graph& g, Report& report) {
  report.target_nodes = count_ops(g, report.target_ops);
  // Of what the engine put in, what is still there.
  std::map<std::uint32_t, MoveRecord> why;
  for (MoveRecord& m : report.layout.moves) why.emplace(m.id, std::move(m));
  report.layout.moves.clear();
  for (const RegionId r : g.regions()) {
    for (NodeId n = g.region(r).first; n; n = g.node(n).next) {
      if (!is_move(g.node(n))) continue;
      const bool transpose = is_transpose(g.node(n));
      (transpose ? report.transpose_bytes : report.reshape_bytes) += bytes_of(g.value(g.node(n).output(0)).type);
      (transpose ? report.transposes : report.reshapes) += 1;
      const auto told = why.find(n.index);
      report.layout.moves.push_back(told == why.end() ? plain_move(g, n) : std::move(told->second));
    }
  }
}

std::vector<TensorRecord> ports(const Graph& g, bool inputs) {
  std::vector<TensorRecord> records;
  const Region& main = g.region(g.main());
  for (std::size_t i = 0; inputs && i < main.inputs.size(); ++i) {
    records.push_back({main.input_names[i], g.value(main.inputs[i]).type.str(), ""});
  }
  for (std::size_t i = 0; !inputs && i < main.outputs.size(); ++i) {
    records.push_back({main.outputs[i].name, g.value(main.outputs[i].value).type.str(), ""});
  }
  return records;
}

std::vector<TensorRecord> with_layout(std::vector<TensorRecord> now, const std::vector<TensorRecord>& before,
                                      const std::vector<IoRecord>& reordered, bool inputs) {
  for (TensorRecord& t : now) t.layout = "as in the source";
  for (const IoRecord& r : reordered) {
    if (r.input != inputs || r.position >= std::min(now.size(), before.size())) continue;
    now[r.position].layout = "reordered from " + before[r.position].type;
    now[r.position].perm = r.perm;
  }
  return now;
}

std::string reordered_text(const Report& report, const std::string& prefix) {
  std::string text;
  for (const auto* list : {&report.inputs, &report.outputs})
    for (const TensorRecord& t : *list) {
      if (t.perm.empty()) continue;
      text += (text.empty() ? "" : "; ") + prefix + t.name + ": ";
      for (std::size_t i = 0; i < t.perm.size(); ++i) text += (i ? "," : "") + std::to_string(t.perm[i]);
    }
  return text;
}

std::uint64_t constant_bytes(const Graph& g) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 1; i < g.value_slots(); ++i) {
    const Value& v = g.value(ValueId{i});
    if (v.alive && v.is_constant()) sum += v.constant.byte_size();
  }
  return sum;
}

}  // namespace gantry::recording
