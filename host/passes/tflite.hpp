// What the clean-ups of the tflite dialect share: looking at nodes, making nodes with their types. Private to
// host/passes. Operands and attributes are those of the TFLite schema; enumerators are strings ("SAME", "RELU").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/ir/graph.hpp"

namespace gantry::passes {

inline bool is_tflite(const Node& n, std::string_view name) { return n.op.is("tflite", name); }

/// Calls f(NodeId) for every node of the tflite dialect that is alive when its turn comes, in order. f may erase any
/// node and add nodes (which are not visited).
template <class F>
void for_each_tflite(const Graph& g, F f) {
  for (const RegionId r : g.regions()) {
    for (const NodeId n : g.nodes(r)) {
      if (g.contains(n) && g.node(n).op.dialect == "tflite") f(n);
    }
  }
}

/// An axis counted from the first, where a negative one is counted from behind the last.
inline std::int64_t from_first(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

/// The node that makes a value, if it is of the tflite dialect and stands in the same region as `user`; else none.
NodeId producer_of(const Graph& g, ValueId v, NodeId user);
/// Whether one operand, and no output, uses the value.
bool single_use(const Graph& g, ValueId v);

/// Elements of a constant of an integer type with at most 1,024 elements; nullopt if it is anything else.
std::optional<std::vector<std::int64_t>> constant_ints(const Graph& g, ValueId v);
/// Elements of a float32 constant with at most `most` elements.
std::optional<std::vector<float>> constant_floats(const Graph& g, ValueId v, std::int64_t most);
/// perm of a TRANSPOSE, if it is a constant permutation of the operand's axes.
std::optional<std::vector<std::int64_t>> perm_of(const Graph& g, NodeId transpose);

/// Axis i of the result is axis perm[i] of t.
Type permuted(const Type& t, std::span<const std::int64_t> perm);
/// The dims as the operand of a RESHAPE, with one -1 at most; nullopt if more than one is unknown.
std::optional<std::vector<std::int64_t>> reshape_target(const Type& t);

/// A new i32 constant of one dimension.
ValueId add_ints(Graph& g, std::span<const std::int64_t> values, std::string_view name);
/// A new node of one result, placed at `at`.
ValueId add_tflite(Graph& g, InsertPoint at, std::string_view op, std::span<const ValueId> inputs, Type type,
                   std::string_view node_name, Attrs attrs = {});
/// A RESHAPE to `type`, of whose dims one at most is unknown.
ValueId add_reshape(Graph& g, InsertPoint at, ValueId x, const Type& type, std::string_view node_name);

/// A new constant that was made of `old`, and takes its name if nothing uses that any more.
ValueId succeed_constant(Graph& g, Constant c, ValueId old);

/// The constant operand of a node becomes one that was made of it.
void replace_constant(Graph& g, NodeId n, std::size_t operand, Constant c);

/// Removes a node whose one result is the same as `by`, which takes over its uses and, if a node makes it, its name.
void bypass(Graph& g, NodeId n, ValueId by);

}  // namespace gantry::passes
