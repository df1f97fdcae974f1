#include "host/plugins/order.hpp"

namespace gantry::plugins {
namespace {

// The graph numbers no nodes. From `b` backwards and from `a` forwards in step: one of them meets the other soon if
// they are neighbours, which they nearly always are.
bool stands_before(const Graph& g, NodeId a, NodeId b) {
  if (a == b) return false;
  NodeId back = g.node(b).prev, forward = g.node(b).next;
  while (back || forward) {
    if (back == a) return true;
    if (forward == a) return false;
    if (back) back = g.node(back).prev;
    if (forward) forward = g.node(forward).next;
  }
  return false;
}

RegionId home(const Graph& g, const Value& v) { return v.producer ? g.node(v.producer).region : v.input_of; }

}  // namespace

bool available_before(const Graph& g, ValueId id, NodeId at) {
  const Value& v = g.value(id);
  if (v.is_constant()) return true;
  const RegionId wanted = home(g, v);
  // The node at or around `at` that stands in the value's region.
  NodeId around = at;
  while (g.node(around).region != wanted) {
    around = g.region(g.node(around).region).owner;
    if (!around) return false;
  }
  return !v.producer || stands_before(g, v.producer, around);
}

bool available_at_end(const Graph& g, ValueId id, RegionId r) {
  const Value& v = g.value(id);
  if (v.is_constant() || home(g, v) == r) return true;
  const NodeId owner = g.region(r).owner;
  return owner && available_before(g, id, owner);
}

}  // namespace gantry::plugins
