#include "host/formats/onnx/order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <onnx/onnx_pb.h>

#include "host/formats/onnx/message.hpp"

namespace gantry::onnx_format {

namespace {

using Names = std::unordered_set<std::string_view>;

// Adds the names that the graph uses but does not define. Depth is limited by the walk over the file.
void add_captures(const onnx::GraphProto& graph, std::vector<std::string_view>& captures);

// Adds every name that the node uses: operands, and what its subgraphs capture.
void add_uses(const onnx::NodeProto& node, std::vector<std::string_view>& uses) {
  for (const std::string& name : node.input()) {
    if (!name.empty()) uses.push_back(name);
  }
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_captures(attribute.g(), uses);
  }
}

void add_captures(const onnx::GraphProto& graph, std::vector<std::string_view>& captures) {
  Names own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
  for (const auto& node : graph.node()) own.insert(node.output().begin(), node.output().end());

  std::vector<std::string_view> used;
  for (const auto& node : graph.node()) add_uses(node, used);
  for (const auto& output : graph.output()) used.push_back(output.name());
  std::ranges::copy_if(used, std::back_inserter(captures), [&](std::string_view name) { return !own.contains(name); });
}

// For every node the nodes that must come before it.
using Before = std::vector<std::vector<int>>;

Diagnostic cycle(const NodeProtos& nodes, const Before& before, const std::vector<bool>& placed, int start) {
  // Every node that is not placed waits for another such node, so walking back must come around.
  std::vector<int> path;
  std::vector<bool> seen(placed.size());
  int at = start;
  while (!seen[static_cast<std::size_t>(at)]) {
    seen[static_cast<std::size_t>(at)] = true;
    path.push_back(at);
    at = *std::ranges::find_if(before[static_cast<std::size_t>(at)],
                               [&](int b) { return !placed[static_cast<std::size_t>(b)]; });
  }
  path.erase(path.begin(), std::ranges::find(path, at));
  std::ranges::reverse(path);

  constexpr std::size_t kMostNamed = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(path.size(), kMostNamed); ++i) text += cat(quote(label(nodes[path[i]])), " -> ");
  if (path.size() > kMostNamed) text += cat("... (", path.size(), " nodes) -> ");
  text += quote(label(nodes[path.front()]));
  return error(Code::input_graph, cat("the graph has a cycle: ", text))
      .on_node(printable(nodes[path.front()].name()))
      .on_op(printable(nodes[path.front()].op_type()));
}

Result<std::vector<int>> sorted(const NodeProtos& nodes, const Before& before) {
  const auto count = before.size();
  std::vector<std::vector<int>> after(count);
  std::vector<std::size_t> waits(count);
  for (std::size_t i = 0; i < count; ++i) {
    waits[i] = before[i].size();
    for (const int b : before[i]) after[static_cast<std::size_t>(b)].push_back(static_cast<int>(i));
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (waits[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  std::vector<bool> placed(count);
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(next);
    placed[static_cast<std::size_t>(next)] = true;
    for (const int a : after[static_cast<std::size_t>(next)]) {
      if (--waits[static_cast<std::size_t>(a)] == 0) ready.push(a);
    }
  }
  if (order.size() == count) return order;
  const auto left = std::ranges::find(placed, false) - placed.begin();
  return cycle(nodes, before, placed, static_cast<int>(left));
}

}  // namespace

std::string_view label(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return node.op_type();
}

Result<std::vector<int>> topological_order(const NodeProtos& nodes) {
  std::unordered_map<std::string_view, int> maker;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      const auto [it, fresh] = maker.emplace(output, i);
      if (fresh) continue;
      return error(Code::input_graph, cat("value ", quote(output), " is computed twice, by ",
                                          quote(label(nodes[it->second])), " and by ", quote(label(nodes[i]))))
          .on_node(printable(nodes[i].name()))
          .on_op(printable(nodes[i].op_type()));
    }
  }
  bool in_order = true;
  Before before(static_cast<std::size_t>(nodes.size()));
  std::vector<std::string_view> uses;
  for (int i = 0; i < nodes.size(); ++i) {
    uses.clear();
    add_uses(nodes[i], uses);
    for (const std::string_view name : uses) {
      const auto it = maker.find(name);
      if (it == maker.end()) continue;
      before[static_cast<std::size_t>(i)].push_back(it->second);
      in_order = in_order && it->second < i;
    }
  }
  if (!in_order) return sorted(nodes, before);
  std::vector<int> order(before.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  return order;
}

}  // namespace gantry::onnx_format
