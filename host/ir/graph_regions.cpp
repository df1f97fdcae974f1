// Regions as wholes: what they use of outside, and copies of what is in them.
#include <unordered_set>

#include "host/ir/graph.hpp"

namespace gantry {
namespace {

ValueId mapped(const std::unordered_map<ValueId, ValueId>& values, ValueId v) {
  const auto it = values.find(v);
  return it == values.end() ? v : it->second;
}

}  // namespace

std::vector<NodeId> Graph::copy_nodes(RegionId from, InsertPoint at, std::unordered_map<ValueId, ValueId>& values) {
  std::vector<NodeId> copies;
  for (NodeId n = region(from).first; n; n = node(n).next) {
    const Node& old = node(n);  // the arenas are deques: it stays where it is
    std::vector<ValueId> inputs;
    for (const ValueId v : old.inputs) inputs.push_back(mapped(values, v));
    std::vector<std::string_view> names;
    for (const ValueId v : old.outputs) names.push_back(v ? value(v).name : std::string_view());
    const NodeId copy = add_node_named(at, old.op, inputs, names, old.attrs, old.name);
    copies.push_back(copy);
    for (std::size_t i = 0; i < old.outputs.size(); ++i) {
      if (!old.outputs[i]) continue;
      set_type(node(copy).outputs[i], value(old.outputs[i]).type);
      values[old.outputs[i]] = node(copy).outputs[i];
    }
    for (const auto& [attribute, inner] : old.regions) {
      const RegionId into = add_region(copy, attribute, region(inner).name);
      for (std::size_t i = 0; i < region(inner).inputs.size(); ++i) {
        const ValueId v = region(inner).inputs[i];
        values[v] = add_input(into, region(inner).input_names[i], value(v).type);
      }
      copy_nodes(inner, end(into), values);
      for (const Output& o : region(inner).outputs) add_output(into, o.name, mapped(values, o.value));
    }
  }
  return copies;
}

std::vector<ValueId> Graph::captures(RegionId r) const {
  std::vector<ValueId> found;
  std::unordered_set<ValueId> seen;
  std::unordered_set<RegionId> inside{r};
  const auto use = [&](ValueId v) {
    if (!v || value(v).is_constant() || !seen.insert(v).second) return;
    const RegionId home = value(v).producer ? node(value(v).producer).region : value(v).input_of;
    if (!inside.contains(home)) found.push_back(v);
  };
  const auto walk = [&](const auto& self, RegionId region_id) -> void {
    for (NodeId n = region(region_id).first; n; n = node(n).next) {
      for (const ValueId v : node(n).inputs) use(v);
      for (const auto& [attribute, inner] : node(n).regions) {
        inside.insert(inner);
        self(self, inner);
      }
    }
    for (const Output& o : region(region_id).outputs) use(o.value);
  };
  walk(walk, r);
  return found;
}

}  // namespace gantry
