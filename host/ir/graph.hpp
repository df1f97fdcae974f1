// The graph: nodes and values in arenas with stable ids and use lists, regions for subgraphs, interned names.
// Contract: a value is a constant, an input of a region, or a result of exactly one node. The nodes of a region are
// in topological order at all times; a region sees the values of the regions around it. Ids are never reused.
// Single-threaded.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "host/ir/constant.hpp"
#include "host/ir/type.hpp"

namespace gantry {

// Ids: 0 is none (an omitted optional operand, for instance).
template <class Tag>
struct Id {
  std::uint32_t index = 0;
  explicit operator bool() const { return index != 0; }
  auto operator<=>(const Id&) const = default;
};
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using RegionId = Id<struct RegionTag>;

}  // namespace gantry

template <class Tag>
struct std::hash<gantry::Id<Tag>> {
  std::size_t operator()(const gantry::Id<Tag>& id) const noexcept { return std::hash<std::uint32_t>{}(id.index); }
};

namespace gantry {

using Attr = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                          std::vector<std::string>, Constant>;
/// Attributes sorted by name. Subgraphs are regions of the node, not attributes.
using Attrs = std::map<std::string, Attr, std::less<>>;

/// Which operator: dialect ("onnx", "tflite", "keras"), domain ("" = ai.onnx or the dialect's own), name, and the
/// version of the domain in which this form of it appeared (since-version).
struct Op {
  std::string_view dialect, domain, name;  // in a graph these are interned
  int version = 1;
  bool is(std::string_view dialect_, std::string_view name_, std::string_view domain_ = {}) const {
    return name == name_ && dialect == dialect_ && domain == domain_;
  }
  std::string str() const;  // "onnx.Conv", "onnx.com.microsoft::Attention"
};

struct Use {
  NodeId node;
  std::uint32_t operand = 0;
  bool operator==(const Use&) const = default;
};

/// Output `index` of a region is a value.
struct OutputUse {
  RegionId region;
  std::uint32_t index = 0;
  bool operator==(const OutputUse&) const = default;
};

struct Value {
  std::string_view name;  // interned; unique among live values of the graph, never empty
  Type type;
  NodeId producer;                // none for constants and region inputs
  std::uint32_t result = 0;       // which result of the producer
  RegionId input_of;              // set for region inputs
  Constant constant;              // set for constants
  std::vector<Use> uses;          // by nodes, in no particular order
  std::uint32_t output_uses = 0;  // how many region outputs are this value
  bool alive = false;

  bool is_constant() const { return static_cast<bool>(constant); }
  bool unused() const { return uses.empty() && output_uses == 0; }
};

struct Node {
  Op op;
  std::string_view name;         // the source's name of it, for people; may be empty, need not be unique
  std::vector<ValueId> inputs;   // none = omitted
  std::vector<ValueId> outputs;  // none = the source does not want it
  Attrs attrs;
  std::vector<std::pair<std::string, RegionId>> regions;  // ONNX: attribute name, e.g. then_branch; owned
  RegionId region;                                        // where it stands
  NodeId prev, next;                                      // neighbours in the region's order
  std::vector<std::uint32_t> use_slots;  // kept by Graph: where the use by inputs[i] stands in that value's uses
  bool alive = false;

  ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : ValueId{}; }
  ValueId output(std::size_t i) const { return i < outputs.size() ? outputs[i] : ValueId{}; }
  const Attr* attr(std::string_view n) const;
  template <class T>
  T attr_or(std::string_view n, T otherwise) const {
    const Attr* a = attr(n);
    const T* v = a ? std::get_if<T>(a) : nullptr;
    return v ? *v : otherwise;
  }
};

/// A region output keeps the name that the source gave it, whatever value stands for it later.
struct Output {
  std::string name;
  ValueId value;
};

struct Region {
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<std::string> input_names;  // the source's names, parallel to inputs (signature)
  std::vector<Output> outputs;
  NodeId first, last;
  NodeId owner;     // none for the main region
  RegionId parent;  // none for the main region
  bool alive = false;
};

/// Where new nodes go: before `before`, or at the end of the region if that is none.
struct InsertPoint {
  RegionId region;
  NodeId before;
};

class Graph {
 public:
  Graph();
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;

  RegionId main() const { return RegionId{1}; }
  const Region& region(RegionId id) const { return regions_[id.index]; }
  const Node& node(NodeId id) const { return nodes_[id.index]; }
  const Value& value(ValueId id) const { return values_[id.index]; }
  std::size_t node_slots() const { return nodes_.size(); }  // ids are below this
  std::size_t value_slots() const { return values_.size(); }
  std::size_t region_slots() const { return regions_.size(); }
  std::size_t live_nodes() const { return live_nodes_; }
  bool contains(NodeId id) const { return id.index && id.index < nodes_.size() && nodes_[id.index].alive; }
  bool contains(ValueId id) const { return id.index && id.index < values_.size() && values_[id.index].alive; }
  bool contains(RegionId id) const { return id.index && id.index < regions_.size() && regions_[id.index].alive; }
  /// The live value of that name, or none.
  ValueId find_value(std::string_view value_name) const;
  /// Which region outputs are this value, in no particular order.
  std::span<const OutputUse> output_uses(ValueId v) const;

  std::string_view intern(std::string_view s);

  // ---- making ----
  RegionId add_region(NodeId owner, std::string_view attribute, std::string_view name);
  /// `name` is made unique by a suffix if a live value has it; an empty name is made up.
  ValueId add_input(RegionId region, std::string_view name, Type type);
  ValueId add_constant(Constant c, std::string_view name = {});
  void add_output(RegionId region, std::string_view name, ValueId value);
  /// `outputs` results are made with unknown types and made-up names from `node_name`.
  NodeId add_node(InsertPoint at, Op op, std::span<const ValueId> inputs, std::size_t outputs, Attrs attrs = {},
                  std::string_view node_name = {});
  /// As above with names for the results, made unique if taken; an empty one is an omitted result (no value).
  NodeId add_node_named(InsertPoint at, Op op, std::span<const ValueId> inputs,
                        std::span<const std::string_view> results, Attrs attrs = {}, std::string_view node_name = {});

  // ---- changing ----
  void set_type(ValueId v, Type t) { values_[v.index].type = std::move(t); }
  void set_name(ValueId v, std::string_view name);  // made unique if taken
  void swap_names(ValueId a, ValueId b);
  void set_operand(NodeId n, std::size_t i, ValueId v);
  void set_operands(NodeId n, std::span<const ValueId> inputs);
  void set_op(NodeId n, Op op);
  void set_node_name(NodeId n, std::string_view node_name);
  void set_attr(NodeId n, std::string_view name, Attr a);
  void remove_attr(NodeId n, std::string_view name);
  void set_output(RegionId r, std::size_t i, ValueId v);
  void remove_output(RegionId r, std::size_t i);
  /// Result `i` of the node, which must be unused, goes; the node keeps the place for it (an omitted result).
  void omit_result(NodeId n, std::size_t i);
  /// Node uses and region outputs of `from` become uses of `to`. Names do not move.
  void replace_uses(ValueId from, ValueId to);
  /// The node and its results go; the results must be unused. Its regions go with it.
  void erase_node(NodeId n);
  /// A constant or value without uses and without producer. A region input leaves its region's list.
  void erase_value(ValueId v);
  void move_before(NodeId n, InsertPoint at);
  /// Copies the nodes of a region, with regions inside, to `at`. `values` says what stands for what (inputs of the
  /// region, values of outside); what it does not name stays, and the copies' results are added to it. Returns the
  /// copies of the region's own nodes.
  std::vector<NodeId> copy_nodes(RegionId from, InsertPoint at, std::unordered_map<ValueId, ValueId>& values);
  /// Values of outside that a region, or one inside it, uses; in order of first use, without constants.
  std::vector<ValueId> captures(RegionId r) const;
  /// The region, with all that is in it, now belongs to `owner` under that attribute name.
  void move_region(RegionId r, NodeId owner, std::string_view attribute);
  void set_region_name(RegionId r, std::string_view region_name) { regions_[r.index].name = region_name; }
  /// Erases nodes whose results are all unused, transitively, and constants without uses. Returns nodes erased
  /// (with those in erased regions). A node that has no result at all stands for its effect and stays.
  std::size_t erase_dead();

  // ---- walking ----
  /// Ids of the nodes of a region in order, as of now (a copy: the region may be changed while walking).
  std::vector<NodeId> nodes(RegionId r) const;
  /// Every live region, outer before inner.
  std::vector<RegionId> regions() const;
  InsertPoint before(NodeId n) const { return {nodes_[n.index].region, n}; }
  InsertPoint after(NodeId n) const { return {nodes_[n.index].region, nodes_[n.index].next}; }
  InsertPoint end(RegionId r) const { return {r, {}}; }

  // ---- the model around it ----
  std::string name;                            // of the model's graph
  std::string source;                          // file name without folder
  std::string producer;                        // e.g. "pytorch 2.4"
  std::map<std::string, std::int64_t> opsets;  // domain -> version imported
  std::map<std::string, std::string> metadata;

 private:
  friend struct GraphTestAccess;  // the verifier's tests break graphs with it

  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
  };

  std::string_view unique_name(std::string_view wanted);
  ValueId new_value(std::string_view wanted_name);
  void kill_value(ValueId v);
  void link(NodeId n, InsertPoint at);
  void unlink(NodeId n);
  void add_use(ValueId v, Use u);
  void drop_use(ValueId v, Use u);
  void add_output_use(ValueId v, OutputUse u);
  void drop_output_use(ValueId v, OutputUse u);
  std::vector<NodeId> tree(NodeId n) const;
  std::vector<ValueId> erase_tree(NodeId n);
  bool is_dead(const Node& n) const;

  std::deque<Node> nodes_;
  std::deque<Value> values_;
  std::deque<Region> regions_;
  std::unordered_set<std::string, StringHash, std::equal_to<>> strings_;  // node-based: views stay valid
  std::unordered_map<std::string_view, ValueId> by_name_;
  std::unordered_map<std::string_view, std::uint32_t> suffix_;  // last suffix tried for a name
  std::unordered_map<ValueId, std::vector<OutputUse>> output_uses_;
  std::size_t live_nodes_ = 0;
};

}  // namespace gantry
