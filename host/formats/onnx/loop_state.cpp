#include "host/formats/onnx/loop_state.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/formats/onnx/types.hpp"

namespace gantry::onnx_format {

namespace {

constexpr int kRounds = 4;        // a value that changes may change others a round later
constexpr int kMostNested = 3;    // loops within loops multiply the rounds
constexpr std::size_t kLead = 2;  // operands and body inputs before the carried values: count, condition
constexpr std::size_t kLeadOut = 1;

int loops_around(const Graph& graph, NodeId node) {
  int count = 0;
  for (RegionId r = graph.node(node).region; r != graph.main(); r = graph.region(r).parent) ++count;
  return count;
}

// The types of everything inside of a region.
class Types {
 public:
  Types(const Graph& graph, RegionId region) { add(graph, region); }

  void restore(Graph& graph) const {
    for (const auto& [value, type] : types_) graph.set_type(value, type);
  }

 private:
  void add(const Graph& graph, RegionId outer) {
    std::vector<RegionId> work{outer};
    while (!work.empty()) {
      const RegionId region = work.back();
      work.pop_back();
      for (const ValueId input : graph.region(region).inputs) types_.emplace_back(input, graph.value(input).type);
      for (NodeId n = graph.region(region).first; n; n = graph.node(n).next) {
        for (const ValueId result : graph.node(n).outputs) {
          if (result) types_.emplace_back(result, graph.value(result).type);
        }
        for (const auto& [name, inner] : graph.node(n).regions) work.push_back(inner);
      }
    }
  }

  std::vector<std::pair<ValueId, Type>> types_;
};

struct Trial {
  const Semantics& semantics;
  Graph& graph;
  NodeId loop;
  RegionId body;
  std::vector<bool> kept;  // carried values that are taken to keep their shape

  ValueId before(std::size_t i) const { return graph.node(loop).inputs[kLead + i]; }
  ValueId inside(std::size_t i) const { return graph.region(body).inputs[kLead + i]; }
  ValueId after(std::size_t i) const { return graph.region(body).outputs[kLeadOut + i].value; }

  // False if the body does not fit those shapes at all.
  bool infer() {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i]) continue;
      Type type = graph.value(inside(i)).type;
      if (!merge(type, graph.value(before(i)).type)) return false;
      graph.set_type(inside(i), std::move(type));
    }
    for (const NodeId n : graph.nodes(body)) {
      if (!semantics.infer(graph, n).ok()) return false;
    }
    return true;
  }

  // Gives up the values that came out differently; true if there were none.
  bool settle() {
    bool settled = true;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i] || graph.value(after(i)).type == graph.value(inside(i)).type) continue;
      kept[i] = settled = false;
    }
    return settled;
  }
};

bool is_true(const Graph& graph, ValueId value) {
  const Constant& constant = graph.value(value).constant;
  if (!constant || constant.dtype() != DType::boolean || constant.elements() != 1) return false;
  const auto held = constant.read<std::int64_t>();
  return held.ok() && held->front() != 0;
}

}  // namespace

Dim trip_count(const Graph& graph, NodeId loop) {
  const Node& node = graph.node(loop);
  const ValueId count = node.input(0), condition = node.input(1);
  if (!count || node.regions.size() != 1 || (condition && !is_true(graph, condition))) return {};
  const Constant& constant = graph.value(count).constant;
  if (!constant || constant.elements() != 1) return {};

  const Region& body = graph.region(node.regions.front().second);
  if (body.inputs.size() < kLead || body.outputs.empty()) return {};
  ValueId goes_on = body.outputs.front().value;
  while (graph.value(goes_on).producer && graph.node(graph.value(goes_on).producer).op.is("onnx", "Identity")) {
    goes_on = graph.node(graph.value(goes_on).producer).input(0);
  }
  if (goes_on != body.inputs[1] && !is_true(graph, goes_on)) return {};
  const auto held = constant.read<std::int64_t>();
  return held.ok() && held->front() >= 0 ? Dim(held->front()) : Dim();
}

void infer_loop_state(const Semantics& semantics, Graph& graph, NodeId loop) {
  const Node& node = graph.node(loop);
  if (node.regions.size() != 1 || node.inputs.size() <= kLead || loops_around(graph, loop) >= kMostNested) return;
  Trial trial{semantics, graph, loop, node.regions.front().second, {}};
  const std::size_t count = node.inputs.size() - kLead;
  const Region& body = graph.region(trial.body);
  if (body.inputs.size() != node.inputs.size() || body.outputs.size() < kLeadOut + count) return;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId operand = trial.before(i);
    trial.kept.push_back(operand && graph.value(operand).type.ranked);
  }

  const Types original(graph, trial.body);
  for (int round = 0; round < kRounds; ++round) {
    if (std::ranges::find(trial.kept, true) == trial.kept.end() || !trial.infer()) break;
    if (!trial.settle()) {
      original.restore(graph);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const ValueId result = node.output(i);
      if (!trial.kept[i] || !result) continue;
      Type type = graph.value(result).type;
      if (merge(type, graph.value(trial.inside(i)).type)) graph.set_type(result, std::move(type));
    }
    return;
  }
  original.restore(graph);
}

}  // namespace gantry::onnx_format
