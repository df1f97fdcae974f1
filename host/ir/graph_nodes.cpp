// Making, changing and erasing nodes.
#include <algorithm>
#include <cassert>

#include "host/ir/graph.hpp"

namespace gantry {

// ---- order ----

void Graph::link(NodeId n, InsertPoint at) {
  Node& node = nodes_[n.index];
  Region& region = regions_[at.region.index];
  assert(region.alive && (!at.before || nodes_[at.before.index].region == at.region));
  node.region = at.region;
  node.next = at.before;
  node.prev = at.before ? nodes_[at.before.index].prev : region.last;
  (node.prev ? nodes_[node.prev.index].next : region.first) = n;
  (node.next ? nodes_[node.next.index].prev : region.last) = n;
}

void Graph::unlink(NodeId n) {
  Node& node = nodes_[n.index];
  Region& region = regions_[node.region.index];
  (node.prev ? nodes_[node.prev.index].next : region.first) = node.next;
  (node.next ? nodes_[node.next.index].prev : region.last) = node.prev;
  node.prev = node.next = NodeId{};
}

void Graph::move_before(NodeId n, InsertPoint at) {
  if (at.before == n) return;
  unlink(n);
  link(n, at);
  for (const auto& [attribute, inner] : nodes_[n.index].regions) regions_[inner.index].parent = at.region;
}

// ---- making ----

NodeId Graph::add_node(InsertPoint at, Op op, std::span<const ValueId> inputs, std::size_t outputs, Attrs attrs,
                       std::string_view node_name) {
  const std::string_view base = !node_name.empty() ? node_name : !op.name.empty() ? op.name : "v";
  const std::vector<std::string_view> names(outputs, base);
  return add_node_named(at, op, inputs, names, std::move(attrs), node_name);
}

NodeId Graph::add_node_named(InsertPoint at, Op op, std::span<const ValueId> inputs,
                             std::span<const std::string_view> results, Attrs attrs, std::string_view node_name) {
  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  Node& n = nodes_.emplace_back();
  ++live_nodes_;
  n.alive = true;
  n.name = intern(node_name);
  n.attrs = std::move(attrs);
  set_op(id, op);
  link(id, at);
  set_operands(id, inputs);
  n.outputs.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].empty()) {
      n.outputs.emplace_back();
      continue;
    }
    const ValueId v = new_value(results[i]);
    values_[v.index].producer = id;
    values_[v.index].result = static_cast<std::uint32_t>(i);
    n.outputs.push_back(v);
  }
  return id;
}

// ---- changing ----

void Graph::set_op(NodeId n, Op op) {
  nodes_[n.index].op = Op{intern(op.dialect), intern(op.domain), intern(op.name), op.version};
}

void Graph::set_operand(NodeId n, std::size_t i, ValueId v) {
  Node& node = nodes_[n.index];
  assert(i < node.inputs.size());
  const Use use{n, static_cast<std::uint32_t>(i)};
  drop_use(node.inputs[i], use);
  node.inputs[i] = v;
  add_use(v, use);
}

void Graph::set_operands(NodeId n, std::span<const ValueId> inputs) {
  Node& node = nodes_[n.index];
  std::vector<ValueId> next(inputs.begin(), inputs.end());  // first: `inputs` may be the node's own list
  for (std::size_t i = 0; i < node.inputs.size(); ++i) drop_use(node.inputs[i], {n, static_cast<std::uint32_t>(i)});
  node.inputs = std::move(next);
  node.use_slots.assign(node.inputs.size(), 0);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) add_use(node.inputs[i], {n, static_cast<std::uint32_t>(i)});
}

void Graph::set_attr(NodeId n, std::string_view attr_name, Attr a) {
  nodes_[n.index].attrs.insert_or_assign(std::string(attr_name), std::move(a));
}

void Graph::remove_attr(NodeId n, std::string_view attr_name) {
  Attrs& attrs = nodes_[n.index].attrs;
  if (const auto it = attrs.find(attr_name); it != attrs.end()) attrs.erase(it);
}

void Graph::omit_result(NodeId n, std::size_t i) {
  ValueId& result = nodes_[n.index].outputs[i];
  if (!result) return;
  assert(values_[result.index].unused());
  kill_value(result);
  result = ValueId{};
}

// ---- erasing ----

// The node and every node in its regions, outer before inner.
std::vector<NodeId> Graph::tree(NodeId n) const {
  std::vector<NodeId> found{n};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [attribute, inner] : node(found[i]).regions) {
      for (NodeId m = region(inner).first; m; m = node(m).next) found.push_back(m);
    }
  }
  return found;
}

// Erases node and regions; returns the values that they used (some may be dead now, some may occur twice).
std::vector<ValueId> Graph::erase_tree(NodeId n) {
  const std::vector<NodeId> all = tree(n);
  std::vector<ValueId> used;
  unlink(n);
  // First every use goes, then the values: a value is never dead while something uses it.
  for (const NodeId id : all) {
    const Node& node = nodes_[id.index];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      drop_use(node.inputs[i], {id, static_cast<std::uint32_t>(i)});
      if (node.inputs[i]) used.push_back(node.inputs[i]);
    }
    for (const auto& [attribute, inner] : node.regions) {
      const std::vector<Output>& outputs = regions_[inner.index].outputs;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        drop_output_use(outputs[i].value, {inner, static_cast<std::uint32_t>(i)});
        if (outputs[i].value) used.push_back(outputs[i].value);
      }
    }
  }
  for (const NodeId id : all) {
    for (const ValueId v : nodes_[id.index].outputs) {
      if (v) kill_value(v);
    }
    for (const auto& [attribute, inner] : nodes_[id.index].regions) {
      for (const ValueId v : regions_[inner.index].inputs) kill_value(v);
      regions_[inner.index] = Region{};
    }
    nodes_[id.index] = Node{};
    --live_nodes_;
  }
  return used;
}

void Graph::erase_node(NodeId n) {
  assert(contains(n));
  assert(std::ranges::all_of(nodes_[n.index].outputs, [&](ValueId v) { return !v || value(v).unused(); }));
  erase_tree(n);
}

void Graph::erase_value(ValueId v) {
  const Value& value = values_[v.index];
  assert(value.alive && value.unused() && !value.producer);
  if (value.input_of) {
    Region& r = regions_[value.input_of.index];
    const auto at = std::ranges::find(r.inputs, v) - r.inputs.begin();
    r.inputs.erase(r.inputs.begin() + at);
    r.input_names.erase(r.input_names.begin() + at);
  }
  kill_value(v);
}

bool Graph::is_dead(const Node& n) const {
  return n.alive && !n.outputs.empty() &&
         std::ranges::all_of(n.outputs, [&](ValueId v) { return !v || value(v).unused(); });
}

std::size_t Graph::erase_dead() {
  const std::size_t before = live_nodes_;
  std::vector<NodeId> work;
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    if (is_dead(nodes_[i])) work.push_back(NodeId{i});
  }
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    if (!nodes_[n.index].alive) continue;  // went with an outer node, or was noted twice
    for (const ValueId v : erase_tree(n)) {
      const NodeId maker = value(v).producer;
      if (maker && is_dead(node(maker))) work.push_back(maker);
    }
  }
  for (std::uint32_t i = 1; i < values_.size(); ++i) {
    if (values_[i].alive && values_[i].is_constant() && values_[i].unused()) kill_value(ValueId{i});
  }
  return before - live_nodes_;
}

}  // namespace gantry
