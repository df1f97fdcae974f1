// What a plugin may ask of regions and make of them. A region that is being built belongs to a holder, a node that
// never outlives the call, until emit gives it to a node.
#include <algorithm>
#include <unordered_map>

#include "host/plugins/call.hpp"
#include "host/plugins/order.hpp"

namespace gantry::plugins {
namespace {

constexpr std::size_t kMostRegions = 64;      // of one node, and nested in one another while they are built
constexpr std::size_t kMostCopied = 100'000;  // nodes that one call may make by copying

/// Whether `is` says all that `wanted` says, and does not contradict it.
bool refines(const Type& is, const Type& wanted) {
  if (wanted.dtype != DType::undefined && is.dtype != wanted.dtype) return false;
  if (!wanted.ranked) return true;
  if (!is.ranked || is.rank() != wanted.rank()) return false;
  for (std::size_t i = 0; i < is.rank(); ++i) {
    if (wanted.dims[i].known() && (!is.dims[i].known() || is.dims[i].size != wanted.dims[i].size)) return false;
  }
  return true;
}

std::size_t count_nodes(const Graph& g, RegionId r) {
  std::size_t n = 0;
  std::vector<RegionId> work{r};
  while (!work.empty()) {
    const RegionId at = work.back();
    work.pop_back();
    for (NodeId id = g.region(at).first; id; id = g.node(id).next) {
      ++n;
      for (const auto& [attribute, inner] : g.node(id).regions) work.push_back(inner);
    }
  }
  return n;
}

gantry_values handles(Arena& arena, std::size_t size, auto value_at) {
  auto* all = arena.array<gantry_value>(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = value_at(i).index;
  return {all, size};
}

}  // namespace

InsertPoint Call::place() const { return open_.empty() ? g_.before(node_) : g_.end(open_.back()); }

// Whether a node that is emitted now may use it.
bool Call::visible(ValueId id) const {
  const Value& v = g_.value(id);
  if (v.is_constant()) return true;
  if (!made(id)) return available_before(g_, id, node_);
  const RegionId home = v.producer ? g_.node(v.producer).region : v.input_of;
  return home == g_.node(node_).region || std::ranges::find(open_, home) != open_.end();
}

Result<RegionId> Call::take_region(gantry_region r) const {
  if (!g_.contains(RegionId{r})) return wrong_argument("region " + std::to_string(r) + " is not of this graph");
  return RegionId{r};
}

Result<std::vector<std::pair<std::string_view, RegionId>>> Call::take_regions(const gantry_op_desc& d) const {
  GANTRY_ASSIGN(const auto names, take_array(d.region_names.data, d.region_names.size, "region_names", kMostRegions));
  GANTRY_ASSIGN(const auto list, take_array(d.regions.data, d.regions.size, "regions", kMostRegions));
  if (names.size() != list.size()) return wrong_argument("region_names and regions differ in number");
  std::vector<std::pair<std::string_view, RegionId>> regions;
  for (std::size_t i = 0; i < list.size(); ++i) {
    GANTRY_ASSIGN(const std::string_view name, take_name(names[i], "the name of a region"));
    GANTRY_ASSIGN(const RegionId r, take_region(list[i]));
    if (!holder_ || g_.region(r).owner != holder_) return wrong_argument("a region that is given is another node's");
    if (std::ranges::find(open_, r) != open_.end()) return wrong_argument("a region that is given was not ended");
    for (const auto& [other_name, other] : regions) {
      if (other == r) return wrong_argument("a region is given twice");
    }
    regions.emplace_back(name, r);
  }
  return regions;
}

Result<bool> Call::node_region(gantry_node n, gantry_str name, gantry_region* out) {
  GANTRY_ASSIGN(const NodeId id, take_node(n));
  GANTRY_ASSIGN(const std::string_view wanted, take_text(name, "the name of a region"));
  if (!out) return wrong_argument("node_region has nowhere to put the region");
  for (const auto& [attribute, r] : g_.node(id).regions) {
    if (attribute != wanted) continue;
    *out = r.index;
    return true;
  }
  return false;
}

Status Call::region_info(gantry_region r, gantry_region_info* out) {
  GANTRY_ASSIGN(const RegionId id, take_region(r));
  const Region& region = g_.region(id);
  const std::vector<ValueId> captured = g_.captures(id);
  gantry_region_info info{};
  info.struct_size = sizeof info;
  info.node_count = static_cast<std::uint32_t>(count_nodes(g_, id));
  info.name = abi_text(region.name);
  info.inputs = handles(arena_, region.inputs.size(), [&](std::size_t i) { return region.inputs[i]; });
  info.outputs = handles(arena_, region.outputs.size(), [&](std::size_t i) { return region.outputs[i].value; });
  info.captures = handles(arena_, captured.size(), [&](std::size_t i) { return captured[i]; });
  return give_struct(info, out, "gantry_region_info");
}

Status Call::region_begin(gantry_str name, gantry_region* out) {
  GANTRY_TRY(check_makes("region_begin"));
  GANTRY_ASSIGN(const std::string_view given, take_text(name, "the name of a region"));
  if (!out) return wrong_argument("region_begin has nowhere to put the region");
  if (open_.size() >= kMostRegions) return wrong_argument("regions are nested too deep");
  if (!holder_) holder_ = g_.add_node(g_.before(node_), Op{dialect_, "gantry", "regions", 1}, {}, 0);
  open_.push_back(g_.add_region(holder_, "region", given));
  *out = open_.back().index;
  return {};
}

Status Call::region_argument(const gantry_type* type, gantry_str name, gantry_value* out) {
  GANTRY_TRY(check_makes("region_argument"));
  if (open_.empty()) return wrong_argument("region_argument is called, but no region is being built");
  if (!out) return wrong_argument("region_argument has nowhere to put the value");
  GANTRY_ASSIGN(Type t, take_type(type, "the type of an argument"));
  GANTRY_ASSIGN(const std::string_view given, take_text(name, "the name of an argument"));
  *out = g_.add_input(open_.back(), given, std::move(t)).index;
  return {};
}

Status Call::region_end(gantry_values results) {
  GANTRY_TRY(check_makes("region_end"));
  if (open_.empty()) return wrong_argument("region_end is called, but no region is being built");
  GANTRY_ASSIGN(const std::vector<ValueId> values, take_operands(results));
  for (const ValueId v : values) {
    if (!v) return wrong_argument("a result of a region is omitted");
  }
  for (const ValueId v : values) g_.add_output(open_.back(), g_.value(v).name, v);
  open_.pop_back();
  return {};
}

Status Call::region_copy(gantry_region r, gantry_values old_values, gantry_values new_values, gantry_value* results) {
  GANTRY_TRY(check_makes("region_copy"));
  GANTRY_ASSIGN(const RegionId from, take_region(r));
  GANTRY_ASSIGN(const auto old_handles, take_array(old_values.data, old_values.size, "old_values"));
  GANTRY_ASSIGN(const std::vector<ValueId> to, take_operands(new_values));
  const Region& region = g_.region(from);
  if (old_handles.size() != to.size()) return wrong_argument("old_values and new_values differ in number");
  if (std::ranges::find(open_, from) != open_.end())
    return wrong_argument("a region is copied while it is being built");
  if (!region.outputs.empty() && !results) return wrong_argument("region_copy has nowhere to put the results");
  if (g_.node_slots() - first_node_ + count_nodes(g_, from) > kMostCopied)
    return error(Code::declined, "its regions would be copied to more than " + std::to_string(kMostCopied) + " nodes");
  std::unordered_map<ValueId, ValueId> map;
  for (std::size_t i = 0; i < to.size(); ++i) {
    GANTRY_ASSIGN(const ValueId old, take_value(old_handles[i], "an entry of old_values"));
    if (!to[i]) return wrong_argument("an entry of new_values is omitted");
    const Type &wanted = g_.value(old).type, &is = g_.value(to[i]).type;
    if (!refines(is, wanted)) {
      return error(Code::declined, "'" + std::string(g_.value(old).name) + "' of the subgraph is " + wanted.str() +
                                       ", but what is passed is " + is.str());
    }
    map[old] = to[i];
  }
  for (const ValueId v : region.inputs) {
    if (!map.contains(v)) return wrong_argument("nothing stands for '" + std::string(g_.value(v).name) + "'");
  }
  const std::vector<NodeId> copies = g_.copy_nodes(from, place(), map);
  nodes_.insert(nodes_.end(), copies.begin(), copies.end());
  for (std::size_t i = 0; i < region.outputs.size(); ++i) {
    const ValueId v = region.outputs[i].value;
    const auto it = map.find(v);
    results[i] = it == map.end() ? v.index : it->second.index;
  }
  return {};
}

}  // namespace gantry::plugins
