#include "host/ir/graph.hpp"

#include <algorithm>
#include <cassert>

namespace gantry {

std::string Op::str() const {
  std::string s{dialect};
  s += '.';
  if (!domain.empty()) {
    s += domain;
    s += "::";
  }
  return s += name;
}

const Attr* Node::attr(std::string_view n) const {
  const auto it = attrs.find(n);
  return it == attrs.end() ? nullptr : &it->second;
}

Graph::Graph() : nodes_(1), values_(1), regions_(2) { regions_[1].alive = true; }

// ---- names ----

std::string_view Graph::intern(std::string_view s) {
  const auto it = strings_.find(s);
  return it != strings_.end() ? *it : *strings_.emplace(s).first;
}

std::string_view Graph::unique_name(std::string_view wanted) {
  if (wanted.empty()) wanted = "v";
  const std::string_view base = intern(wanted);
  if (!by_name_.contains(base)) return base;
  std::uint32_t& n = suffix_[base];
  std::string candidate;
  do {
    candidate = std::string(base) + '_' + std::to_string(++n);
  } while (by_name_.contains(candidate));
  return intern(candidate);
}

ValueId Graph::find_value(std::string_view value_name) const {
  const auto it = by_name_.find(value_name);
  return it == by_name_.end() ? ValueId{} : it->second;
}

void Graph::set_name(ValueId v, std::string_view wanted) {
  Value& changed = values_[v.index];
  if (changed.name == wanted) return;
  by_name_.erase(changed.name);
  changed.name = unique_name(wanted);
  by_name_.emplace(changed.name, v);
}

void Graph::swap_names(ValueId a, ValueId b) {
  std::swap(values_[a.index].name, values_[b.index].name);
  by_name_[values_[a.index].name] = a;
  by_name_[values_[b.index].name] = b;
}

void Graph::set_node_name(NodeId n, std::string_view node_name) { nodes_[n.index].name = intern(node_name); }

// ---- values ----

ValueId Graph::new_value(std::string_view wanted_name) {
  const ValueId id{static_cast<std::uint32_t>(values_.size())};
  Value& v = values_.emplace_back();
  v.alive = true;
  v.name = unique_name(wanted_name);
  by_name_.emplace(v.name, id);
  return id;
}

void Graph::kill_value(ValueId v) {
  by_name_.erase(values_[v.index].name);
  output_uses_.erase(v);
  values_[v.index] = Value{};
}

ValueId Graph::add_input(RegionId region, std::string_view wanted, Type type) {
  const ValueId id = new_value(wanted);
  Value& v = values_[id.index];
  v.type = std::move(type);
  v.input_of = region;
  Region& r = regions_[region.index];
  r.inputs.push_back(id);
  r.input_names.emplace_back(wanted.empty() ? v.name : wanted);
  return id;
}

ValueId Graph::add_constant(Constant c, std::string_view wanted) {
  assert(c);
  const ValueId id = new_value(wanted.empty() ? "const" : wanted);
  values_[id.index].type = c.type();
  values_[id.index].constant = std::move(c);
  return id;
}

// ---- uses ----
// Every operand knows where its use stands in the value's list, so that adding and dropping a use take constant time
// however many uses there are.

void Graph::add_use(ValueId v, Use u) {
  if (!v) return;
  assert(contains(v));
  std::vector<Use>& uses = values_[v.index].uses;
  nodes_[u.node.index].use_slots[u.operand] = static_cast<std::uint32_t>(uses.size());
  uses.push_back(u);
}

void Graph::drop_use(ValueId v, Use u) {
  if (!v) return;
  std::vector<Use>& uses = values_[v.index].uses;
  const std::uint32_t slot = nodes_[u.node.index].use_slots[u.operand];
  assert(slot < uses.size() && uses[slot] == u);
  uses[slot] = uses.back();
  nodes_[uses[slot].node.index].use_slots[uses[slot].operand] = slot;
  uses.pop_back();
}

void Graph::add_output_use(ValueId v, OutputUse u) {
  if (!v) return;
  assert(contains(v));
  output_uses_[v].push_back(u);
  ++values_[v.index].output_uses;
}

void Graph::drop_output_use(ValueId v, OutputUse u) {
  if (!v) return;
  std::vector<OutputUse>& uses = output_uses_[v];
  const auto it = std::ranges::find(uses, u);
  assert(it != uses.end());
  *it = uses.back();
  uses.pop_back();
  if (uses.empty()) output_uses_.erase(v);
  --values_[v.index].output_uses;
}

std::span<const OutputUse> Graph::output_uses(ValueId v) const {
  const auto it = output_uses_.find(v);
  return it == output_uses_.end() ? std::span<const OutputUse>{} : std::span<const OutputUse>(it->second);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  for (const Use u : std::exchange(values_[from.index].uses, {})) {
    nodes_[u.node.index].inputs[u.operand] = to;
    add_use(to, u);
  }
  const auto it = output_uses_.find(from);
  if (it == output_uses_.end()) return;
  const std::vector<OutputUse> outputs = std::move(it->second);
  output_uses_.erase(it);
  values_[from.index].output_uses = 0;
  for (const OutputUse u : outputs) {
    regions_[u.region.index].outputs[u.index].value = to;
    add_output_use(to, u);
  }
}

// ---- regions ----

RegionId Graph::add_region(NodeId owner, std::string_view attribute, std::string_view region_name) {
  assert(contains(owner));
  const RegionId id{static_cast<std::uint32_t>(regions_.size())};
  Region& r = regions_.emplace_back();
  r.name = region_name;
  r.owner = owner;
  r.parent = nodes_[owner.index].region;
  r.alive = true;
  nodes_[owner.index].regions.emplace_back(attribute, id);
  return id;
}

void Graph::move_region(RegionId r, NodeId owner, std::string_view attribute) {
  Region& region = regions_[r.index];
  assert(region.owner && contains(owner));
  auto& old = nodes_[region.owner.index].regions;
  std::erase_if(old, [&](const auto& entry) { return entry.second == r; });
  nodes_[owner.index].regions.emplace_back(attribute, r);
  region.owner = owner;
  region.parent = nodes_[owner.index].region;
}

void Graph::add_output(RegionId r, std::string_view output_name, ValueId v) {
  std::vector<Output>& outputs = regions_[r.index].outputs;
  outputs.push_back({std::string(output_name), v});
  add_output_use(v, {r, static_cast<std::uint32_t>(outputs.size() - 1)});
}

void Graph::set_output(RegionId r, std::size_t i, ValueId v) {
  const OutputUse use{r, static_cast<std::uint32_t>(i)};
  ValueId& slot = regions_[r.index].outputs[i].value;
  drop_output_use(slot, use);
  slot = v;
  add_output_use(v, use);
}

void Graph::remove_output(RegionId r, std::size_t i) {
  std::vector<Output>& outputs = regions_[r.index].outputs;
  // Those behind it move up by one.
  for (std::size_t k = i; k < outputs.size(); ++k) {
    drop_output_use(outputs[k].value, {r, static_cast<std::uint32_t>(k)});
  }
  outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(i));
  for (std::size_t k = i; k < outputs.size(); ++k) {
    add_output_use(outputs[k].value, {r, static_cast<std::uint32_t>(k)});
  }
}

std::vector<RegionId> Graph::regions() const {
  std::vector<RegionId> found{main()};
  if (regions_.size() == 2) return found;  // ids are never reused: there never was another region
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (NodeId n = region(found[i]).first; n; n = node(n).next) {
      for (const auto& [attribute, inner] : node(n).regions) found.push_back(inner);
    }
  }
  return found;
}

std::vector<NodeId> Graph::nodes(RegionId r) const {
  std::vector<NodeId> ids;
  for (NodeId n = region(r).first; n; n = node(n).next) ids.push_back(n);
  return ids;
}

}  // namespace gantry
