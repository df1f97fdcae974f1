#include "host/ir/verifier.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

namespace gantry {
namespace {

std::string at(ValueId v) { return "value " + std::to_string(v.index); }
std::string at(RegionId r) { return "region " + std::to_string(r.index); }

bool is_sane(const Type& t) {
  if (!t.ranked && !t.dims.empty()) return false;
  return std::ranges::all_of(t.dims, [](const Dim& d) { return d.size >= -1 && (!d.known() || d.symbol.empty()); });
}

class Verifier {
 public:
  explicit Verifier(const Graph& g) : g_(g) {}

  // Each step may rely on what those before it have found to hold.
  Status run() {
    GANTRY_TRY(check_regions());
    GANTRY_TRY(check_values());
    GANTRY_TRY(check_nodes());
    GANTRY_TRY(check_region_values());
    return check_order();
  }

 private:
  static Status broken(const std::string& what) { return error(Code::internal_verifier, what); }

  Status broken(NodeId id, const std::string& what) const {
    const Node& n = g_.node(id);
    std::string name{n.name};
    if (name.empty() && g_.contains(n.output(0))) name = g_.value(n.output(0)).name;
    return error(Code::internal_verifier, "node " + std::to_string(id.index) + " " + what)
        .on_node(name)
        .on_op(n.op.str());
  }

  // Every live region and node is reached exactly once from the main region, through links that agree both ways.
  Status check_regions() {
    if (!g_.contains(g_.main()) || g_.region(g_.main()).owner || g_.region(g_.main()).parent) {
      return broken("the main region is dead or owned");
    }
    std::vector<bool> seen_region(g_.region_slots(), false);
    std::vector<bool> seen_node(g_.node_slots(), false);
    std::vector<RegionId> work{g_.main()};
    seen_region[g_.main().index] = true;
    std::size_t nodes = 0;
    while (!work.empty()) {
      const RegionId r = work.back();
      work.pop_back();
      regions_.push_back(r);
      GANTRY_TRY(check_list(r, seen_node, nodes));
      for (NodeId n = g_.region(r).first; n; n = g_.node(n).next) {
        for (const auto& [attribute, inner] : g_.node(n).regions) {
          if (attribute.empty()) return broken(n, "owns a region without an attribute name");
          if (!g_.contains(inner)) return broken(n, "owns a dead region");
          if (seen_region[inner.index]) return broken(n, "owns a region that has another owner");
          if (g_.region(inner).owner != n || g_.region(inner).parent != r) {
            return broken(n, "owns a region that says otherwise");
          }
          seen_region[inner.index] = true;
          work.push_back(inner);
        }
      }
    }
    for (std::uint32_t i = 1; i < g_.region_slots(); ++i) {
      if (g_.region(RegionId{i}).alive && !seen_region[i]) return broken(at(RegionId{i}) + " has no owner");
    }
    for (std::uint32_t i = 1; i < g_.node_slots(); ++i) {
      if (g_.node(NodeId{i}).alive && !seen_node[i]) return broken(NodeId{i}, "is alive but in no region");
    }
    if (nodes != g_.live_nodes()) return broken("the number of live nodes is wrong");
    return {};
  }

  Status check_list(RegionId r, std::vector<bool>& seen, std::size_t& nodes) const {
    NodeId previous;
    for (NodeId n = g_.region(r).first; n; n = g_.node(n).next) {
      if (!g_.contains(n)) return broken(at(r) + " lists a dead node");
      if (seen[n.index]) return broken(n, "is listed twice");
      if (g_.node(n).region != r) return broken(n, "is listed in a region in which it is not");
      if (g_.node(n).prev != previous) return broken(n, "has a wrong link to the node before it");
      seen[n.index] = true;
      ++nodes;
      previous = n;
    }
    return g_.region(r).last == previous ? Status{} : broken(at(r) + " has a wrong last node");
  }

  Status check_values() {
    for (std::uint32_t i = 1; i < g_.value_slots(); ++i) {
      const ValueId id{i};
      const Value& v = g_.value(id);
      if (!v.alive) {
        if (!v.unused() || !g_.output_uses(id).empty()) return broken(at(id) + " is dead but used");
        continue;
      }
      const std::string where = at(id) + " \"" + std::string(v.name) + "\"";
      if (v.name.empty()) return broken(at(id) + " has no name");
      if (g_.find_value(v.name) != id) return broken(where + " is not what its name stands for");
      if (!is_sane(v.type)) return broken(where + " has a type that is not well formed");
      if (int{v.is_constant()} + int{static_cast<bool>(v.producer)} + int{static_cast<bool>(v.input_of)} != 1) {
        return broken(where + " is not exactly one of a constant, a result and a region input");
      }
      if (v.is_constant() && v.type != v.constant.type()) {
        return broken(where + " has type " + v.type.str() + " but its constant has " + v.constant.type().str());
      }
      if (v.producer && (!g_.contains(v.producer) || g_.node(v.producer).output(v.result) != id)) {
        return broken(where + " is not the result that it says");
      }
      if (v.input_of && !g_.contains(v.input_of)) return broken(where + " is an input of a dead region");
      if (v.input_of) ++inputs_;
      GANTRY_TRY(check_uses(id, where));
    }
    return {};
  }

  Status check_uses(ValueId id, const std::string& where) {
    const Value& v = g_.value(id);
    for (std::size_t slot = 0; slot < v.uses.size(); ++slot) {
      const Use u = v.uses[slot];
      if (!g_.contains(u.node) || g_.node(u.node).input(u.operand) != id) {
        return broken(where + " lists a use that is none");
      }
      const Node& n = g_.node(u.node);
      if (n.use_slots.size() != n.inputs.size() || n.use_slots[u.operand] != slot) {
        return broken(u.node, "does not know where its use of " + where + " is listed");
      }
    }
    const auto outputs = g_.output_uses(id);
    if (outputs.size() != v.output_uses) return broken(where + " has a wrong count of output uses");
    for (const OutputUse u : outputs) {
      const bool is = g_.contains(u.region) && u.index < g_.region(u.region).outputs.size() &&
                      g_.region(u.region).outputs[u.index].value == id;
      if (!is) return broken(where + " lists an output use that is none");
      if (!output_uses_.insert(std::uint64_t{u.region.index} << 32 | u.index).second) {
        return broken(where + " lists an output use twice");
      }
    }
    return {};
  }

  Status check_nodes() const {
    for (std::uint32_t i = 1; i < g_.node_slots(); ++i) {
      const NodeId id{i};
      const Node& n = g_.node(id);
      if (!n.alive) continue;
      if (n.op.dialect.empty() || n.op.name.empty()) return broken(id, "has no operator");
      if (n.use_slots.size() != n.inputs.size()) return broken(id, "has a broken list of uses");
      for (std::uint32_t k = 0; k < n.inputs.size(); ++k) {
        const ValueId v = n.inputs[k];
        if (!v) continue;
        if (!g_.contains(v)) return broken(id, "uses a dead value as operand " + std::to_string(k));
        const std::vector<Use>& uses = g_.value(v).uses;
        if (n.use_slots[k] >= uses.size() || uses[n.use_slots[k]] != Use{id, k}) {
          return broken(id, "has operand " + std::to_string(k) + ", but the value does not list that use");
        }
      }
      for (std::uint32_t k = 0; k < n.outputs.size(); ++k) {
        const ValueId v = n.outputs[k];
        if (v && (!g_.contains(v) || g_.value(v).producer != id || g_.value(v).result != k)) {
          return broken(id, "has result " + std::to_string(k) + ", but the value says otherwise");
        }
      }
      for (const auto& [name, attr] : n.attrs) {
        const auto* c = std::get_if<Constant>(&attr);
        if (name.empty() || (c != nullptr && !*c)) return broken(id, "has attribute \"" + name + "\" without a value");
      }
    }
    return {};
  }

  // The values' lists are right as far as they go (check_values); here, that they miss nothing.
  Status check_region_values() const {
    std::vector<bool> seen(g_.value_slots(), false);
    std::size_t inputs = 0;
    for (const RegionId r : regions_) {
      const Region& region = g_.region(r);
      if (region.inputs.size() != region.input_names.size()) return broken(at(r) + " has inputs without source names");
      for (const ValueId v : region.inputs) {
        if (!g_.contains(v) || g_.value(v).input_of != r || seen[v.index]) {
          return broken(at(r) + " has an input that is none");
        }
        seen[v.index] = true;
        ++inputs;
      }
      for (std::uint32_t i = 0; i < region.outputs.size(); ++i) {
        const std::string where = at(r) + " has an output \"" + region.outputs[i].name + "\"";
        if (!g_.contains(region.outputs[i].value)) return broken(where + " without a value");
        if (!output_uses_.contains(std::uint64_t{r.index} << 32 | i)) return broken(where + " that no value lists");
      }
    }
    return inputs == inputs_ ? Status{} : broken("a value says that it is an input, but its region does not");
  }

  // Walks every region in order with the set of values that are visible. An inner region stands just before its owner's
  // results: it sees what was made before the owner, in all regions around it, and nothing outside sees into it.
  Status check_order() const {
    struct Frame {
      RegionId region;
      NodeId node;            // being looked at
      std::size_t inner = 0;  // its regions looked at so far
    };
    std::vector<bool> visible(g_.value_slots(), false);
    for (std::uint32_t i = 1; i < g_.value_slots(); ++i) visible[i] = g_.value(ValueId{i}).is_constant();
    std::vector<Frame> stack;
    const auto enter = [&](RegionId r) {
      for (const ValueId v : g_.region(r).inputs) visible[v.index] = true;
      stack.push_back({r, g_.region(r).first});
    };
    enter(g_.main());
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (!f.node) {
        GANTRY_TRY(leave(f.region, visible));
        stack.pop_back();
        continue;
      }
      const Node& n = g_.node(f.node);
      if (f.inner == 0) {
        for (const ValueId v : n.inputs) {
          if (v && !visible[v.index]) {
            return broken(f.node,
                          "uses \"" + std::string(g_.value(v).name) + "\" before it is made or out of its region");
          }
        }
      }
      if (f.inner < n.regions.size()) {
        enter(n.regions[f.inner++].second);
        continue;
      }
      for (const ValueId v : n.outputs) {
        if (v) visible[v.index] = true;
      }
      f.node = n.next;
      f.inner = 0;
    }
    return {};
  }

  Status leave(RegionId r, std::vector<bool>& visible) const {
    const Region& region = g_.region(r);
    for (const Output& o : region.outputs) {
      if (!visible[o.value.index]) return broken(at(r) + " cannot see the value of its output \"" + o.name + "\"");
    }
    for (const ValueId v : region.inputs) visible[v.index] = false;
    for (NodeId n = region.first; n; n = g_.node(n).next) {
      for (const ValueId v : g_.node(n).outputs) visible[v.index] = false;  // slot 0, none, is never asked for
    }
    return {};
  }

  const Graph& g_;
  std::vector<RegionId> regions_;                  // all that live
  std::size_t inputs_ = 0;                         // values that say that they are region inputs
  std::unordered_set<std::uint64_t> output_uses_;  // (region, index) of region outputs that values list
};

}  // namespace

Status verify(const Graph& g) { return Verifier(g).run(); }

}  // namespace gantry
