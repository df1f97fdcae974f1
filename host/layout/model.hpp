// The layout problem of one region: values without their views, and what each operator allows.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/graph.hpp"
#include "host/layout/axes.hpp"
#include "host/layout/rules.hpp"

namespace gantry::layout {

/// A sequence of small numbers: atoms of a root, or labels of an operator. An order of a root names each atom once.
using Seq = std::u16string;

/// A value that an operator makes, or an input: the thing that is stored in some order. Views share their root.
struct Root {
  ValueId value;
  std::int64_t bytes = 0;           // moved by a transpose of it
  std::vector<std::int64_t> atoms;  // sizes; -1 unknown
  std::vector<ValueId> members;     // itself and its views
};

/// A value as a view of a root: its own atoms in logical order, each with its number in the root.
struct Placed {
  std::size_t root = 0;
  std::vector<Atom> atoms;
  Seq map;
  std::vector<std::int64_t> dims;  // the logical shape, -1 where unknown
};

/// What a label of an operator stands for: a piece of an axis variable.
struct Label {
  std::string variable;  // "*3": axis 3 from the last of "*"; "C0", ...
  std::int64_t inner = 1, size = 1;
  bool block = false;  // a whole axis, or its outer part
};

struct Operand {
  ValueId value;
  std::size_t root = 0;
  bool result = false;
  std::size_t position = 0;                            // operand or result of the node; input or output of the region
  std::vector<std::vector<std::size_t>> alternatives;  // segments in a row
  std::vector<Seq> groups;  // for each label: atoms of the root, in logical order; empty: not here
};

/// A constant operand follows: its axes are cut as the labels say.
struct ConstantOperand {
  std::size_t position = 0;
  struct Piece {
    int axis = 0;
    std::int64_t size = 1;
    int label = -1;  // -1: an axis of its own, which stays
  };
  std::vector<Piece> pieces;                           // in logical order
  std::vector<std::vector<std::size_t>> alternatives;  // as of Operand
};

struct Operator {
  enum class Kind : std::uint8_t { input, output, node } kind = Kind::node;
  /// Position of an input that is a value of an outer region, and of an output that is for the regions of `node`.
  static constexpr std::size_t kCaptured = static_cast<std::size_t>(-1);
  int channel_axis = -1;          // of an input or output that may be stored with its channels elsewhere
  NodeId node;                    // of an output: whose regions see the value
  const Variant* rule = nullptr;  // null: fixed
  std::vector<Label> labels;
  std::vector<Seq> segments;  // labels in logical order
  std::vector<bool> fixed;    // of each segment: in logical order only
  std::vector<int> dims;      // of each segment: dimensions it is written as; 0 = any number
  std::vector<Operand> operands;
  std::vector<ConstantOperand> constants;
};

enum class IoLayout : std::uint8_t { preserve, nhwc, nchw };

struct ModelOptions {
  std::function<const Rule*(const Op&)> rule;
  IoLayout io = IoLayout::preserve;
  std::map<std::string, IoLayout, std::less<>> io_by_name;
};

struct Model {
  std::vector<Root> roots;
  std::vector<Operator> operators;
  std::map<ValueId, Placed> placed;
  std::set<NodeId> views;  // nodes that are dissolved
};

/// TRANSPOSE, and what changes a shape only (RESHAPE, SQUEEZE, EXPAND_DIMS), of either dialect.
bool is_transpose(const Node& n);
bool is_reshape(const Node& n);

Model build_model(const Graph& g, RegionId region, const ModelOptions& options);

/// The order of a root as a sequence of the operator's labels, split into its segments.
struct ParsedOrder {
  std::size_t alternative = 0;  // of the operand
  std::vector<Seq> parts;       // for each segment of the operator; empty where the operand lacks it
};
/// nullopt where the operator cannot run in the order.
std::optional<ParsedOrder> parse_order(const Operator& op, const Operand& operand, const Seq& order);

}  // namespace gantry::layout
