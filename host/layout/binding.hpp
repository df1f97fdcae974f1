// A rule bound to a node: which axis variable each axis of each operand is, and what the operator's own numbers (axes,
// paddings, offsets) say about where an axis may be cut.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/layout/axes.hpp"
#include "host/layout/model.hpp"
#include "host/layout/rules.hpp"

namespace gantry::layout {

struct BoundOperand {
  ValueId value;
  bool result = false, constant = false;
  std::size_t position = 0;
  const OperandPattern* pattern = nullptr;
  std::size_t logical = 0;  // alternative that describes the operand as the node has it now
  std::vector<std::string>
      variables;  // one for each axis: the item's name and how far the axis is from the item's last
};

/// Alternative that holds for the node's present attributes.
std::size_t logical_alternative(const Node& n, const OperandPattern& p);

struct Binding {
  const Variant* variant = nullptr;
  std::vector<BoundOperand> operands;
  /// Variables whose axis is joined, cut or moved along: cuts that divide the number are shared, the rest is a block.
  std::map<std::string, std::int64_t> grain;
};

/// Integers that a role names: an attribute, or a constant operand; nullopt if they are not known.
std::optional<std::vector<std::int64_t>> read_source(const Graph& g, const Node& n, const Source& s);
/// ONNX's paddings, first all before and then all after, as pairs for each axis, as TFLite has them.
std::vector<std::int64_t> pairs_of(const std::vector<std::int64_t>& pads);
/// Axes of a transposition, empty if it is not constant.
std::vector<std::int64_t> permutation(const Graph& g, const Node& n);
/// Whether a reduction keeps its axes with size 1.
bool keeps_dims(const Node& n);
/// For each axis of the result of a "*" operator: the axis of operand `x` that it is (-1: a new one).
std::vector<int> kept_axes(const Graph& g, const Node& n, const OperandPattern& x_pattern, ValueId x, ValueId y);

/// The first variant of the rule that fits the node; nullopt: the node is fixed.
std::optional<Binding> bind(const Graph& g, const Node& n, const Rule* rule);
void tie_axes(const Binding& b, Axes& axes);
/// The channel axes of an operator that has image axes ("!", or leading axes of a fixed number), else nothing.
std::vector<AxisOf> channel_axes(const Binding& b);

/// nullopt where the axes' cuts do not fit together after all: the node is fixed.
std::optional<Operator> make_operator(const Binding& b, const Axes& axes, const std::map<ValueId, Placed>& placed);
/// Every operand and result in logical order.
Operator fixed_operator(const Graph& g, const Node& n, const std::map<ValueId, Placed>& placed);
/// How an input or output of a region may be stored: as the source has it, or with its channels moved.
struct Io {
  IoLayout layout = IoLayout::preserve;
  bool forced = false;  // moved even where that is dearer
  int rank = 0;
};
Operator boundary_operator(Operator::Kind kind, ValueId v, std::size_t position, const Placed& p, Io io);

}  // namespace gantry::layout
