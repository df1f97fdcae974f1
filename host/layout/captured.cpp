#include "host/layout/captured.hpp"

namespace gantry::layout {
namespace {

/// Values that the nodes of these regions use, and their outputs, from other regions than these.
std::vector<ValueId> from_outside(const Graph& g, const std::set<RegionId>& inside) {
  std::set<ValueId> found;
  const auto see = [&](ValueId v) {
    const RegionId home = v ? home_of(g, v) : RegionId{};
    if (home && !inside.contains(home)) found.insert(v);
  };
  for (const RegionId r : inside) {
    for (NodeId n = g.region(r).first; n; n = g.node(n).next)
      for (const ValueId v : g.node(n).inputs) see(v);
    for (const Output& o : g.region(r).outputs) see(o.value);
  }
  return {found.begin(), found.end()};
}

void add_within(const Graph& g, RegionId r, std::set<RegionId>& all) {
  if (!all.insert(r).second) return;
  for (NodeId n = g.region(r).first; n; n = g.node(n).next)
    for (const auto& [name, inner] : g.node(n).regions) add_within(g, inner, all);
}

}  // namespace

RegionId home_of(const Graph& g, ValueId v) {
  const Value& value = g.value(v);
  return value.producer ? g.node(value.producer).region : value.input_of;
}

std::set<RegionId> regions_within(const Graph& g, NodeId n) {
  std::set<RegionId> all;
  for (const auto& [name, r] : g.node(n).regions) add_within(g, r, all);
  return all;
}

std::vector<ValueId> captured_by(const Graph& g, NodeId n) { return from_outside(g, regions_within(g, n)); }

std::vector<ValueId> captured_by(const Graph& g, RegionId r) {
  if (r == g.main()) return {};
  std::set<RegionId> all;
  add_within(g, r, all);
  return from_outside(g, all);
}

void replace_within(Graph& g, NodeId n, ValueId from, ValueId to) {
  const std::set<RegionId> inside = regions_within(g, n);
  const std::vector<Use> uses = g.value(from).uses;
  for (const Use& use : uses)
    if (inside.contains(g.node(use.node).region)) g.set_operand(use.node, use.operand, to);
  const auto outputs = g.output_uses(from);
  const std::vector<OutputUse> copies(outputs.begin(), outputs.end());
  for (const OutputUse& use : copies)
    if (inside.contains(use.region)) g.set_output(use.region, use.index, to);
}

}  // namespace gantry::layout
