// The plugins' patterns. Each is tried on every node of its root operator, sweep after sweep, until a sweep changes
// nothing. A pattern makes fewer nodes of more, so that ends; one that does not is stopped and named.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/passes/normalize.hpp"
#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

std::set<std::string_view> dialects_of(const Graph& g) {
  std::set<std::string_view> dialects;
  for (const RegionId r : g.regions()) {
    for (const NodeId n : g.nodes(r)) dialects.insert(g.node(n).op.dialect);
  }
  return dialects;
}

bool dead(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return !v || g.value(v).unused(); });
}

std::vector<NodeId> nodes_of(const Graph& g, const Op& root) {
  std::vector<NodeId> found;
  for (const RegionId r : g.regions()) {
    for (NodeId n = g.region(r).first; n; n = g.node(n).next) {
      if (g.node(n).op.is(root.dialect, root.name, root.domain)) found.push_back(n);
    }
  }
  return found;
}

Status run_pattern(PassContext& c, const PatternInfo& pattern) {
  std::size_t left = 1000 + 10 * c.graph.live_nodes();
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId n : nodes_of(c.graph, pattern.root)) {
      if (!c.graph.contains(n) || dead(c.graph, n)) continue;  // went with an earlier match
      const Diagnostic where = about_node({}, c.graph, n);
      Result<bool> applied = c.plugins.apply(pattern, c.graph, n);
      if (!applied.ok()) return applied.take_error();
      if (!*applied) continue;
      changed = true;
      if (left-- == 0) {
        return error(Code::plugin_failed, "the pattern " + pattern.name + " changes the graph again and again")
            .on_node(where.node)
            .on_op(where.op)
            .from_plugin(pattern.plugin)
            .try_this("switch it off: --set passes.disable=pattern:" + pattern.name);
      }
    }
    if (changed) c.graph.erase_dead();
  }
  return {};
}

}  // namespace

Status patterns(PassContext& c) {
  for (const std::string_view dialect : dialects_of(c.graph)) {
    for (const PatternInfo& pattern : c.plugins.patterns(c.graph, dialect)) {
      if (c.options.disabled.contains("pattern:" + pattern.name)) continue;
      GANTRY_TRY(run_pattern(c, pattern));
    }
  }
  return {};
}

}  // namespace gantry::passes
