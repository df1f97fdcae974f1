// x - mean(x) along an axis, as layer normalisation begins, where x is a sum of what linear operators make: they can
// make it without its mean. With P = I - 11'/n, which takes the mean away, P (W x + b) = (P W) x + P b, and P P = P. So
// if all that a stream of values, joined by sums and moves, comes from are constants, FULLY_CONNECTED and CONV_2D, and
// all that reads it takes its mean away first, then the sources are centered once and the readers take x as it is.
//
// The stream is the closure of: operands and results of ADD and SUB that do not broadcast along the axis, and of
// operators that move data and leave the axis whole. One other reader or source, and nothing is done.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/passes/channels.hpp"
#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

/// MEAN over that one axis, which stays with size 1; only the SUB reads it.
bool is_mean_of(const Graph& g, ValueId m, ValueId x, std::size_t axis) {
  if (!m || !single_use(g, m) || !g.value(m).producer) return false;
  const Node& node = g.node(g.value(m).producer);
  if (!is_tflite(node, "MEAN") || node.input(0) != x || node.attr_or<std::int64_t>("keep_dims", 0) == 0) return false;
  const auto axes = constant_ints(g, node.input(1));
  if (!axes || axes->size() != 1) return false;
  return from_first((*axes)[0], g.value(x).type.rank()) == static_cast<std::int64_t>(axis);
}

class Stream {
 public:
  Stream(const Graph& g, std::int64_t channels, RegionId region) : g_(g), channels_(channels), region_(region) {}

  struct Source {
    NodeId node;            // that makes it, or that reads the constant
    std::size_t operand{};  // of a constant
    bool is_constant = false;
  };

  /// The closure of x; false where it has another source or reader.
  bool close(ValueId x, std::size_t axis) {
    if (!add(x, axis)) return false;
    while (!todo_.empty()) {
      const ValueId v = todo_.back();
      todo_.pop_back();
      const Value& value = g_.value(v);
      if (value.output_uses != 0 || value.input_of || value.is_constant() || !value.producer) return false;
      if (!made_by(value.producer, v)) return false;
      for (const Use& use : value.uses)
        if (!read_by(use, v)) return false;
    }
    return !sources_.empty();
  }
  const std::vector<Source>& sources() const { return sources_; }
  const std::set<NodeId>& centering() const { return centering_; }

 private:
  bool add(ValueId v, std::size_t axis) {
    const Type& t = g_.value(v).type;
    if (t.dtype != DType::float32 || !t.ranked || axis >= t.rank() || t.dims[axis].size != channels_) return false;
    const auto [it, is_new] = axis_.emplace(v, axis);
    if (is_new) todo_.push_back(v);
    return it->second == axis;
  }

  // An operand of the stream: a value, or a constant whose channel is the last axis.
  bool add_operand(NodeId n, std::size_t i, std::size_t axis) {
    const ValueId v = g_.node(n).input(i);
    if (!v) return false;
    if (!g_.value(v).is_constant()) return add(v, axis);
    const Constant& c = g_.value(v).constant;
    if (c.dtype() != DType::float32 || axis + 1 != c.dims().size() || c.dims()[axis] != channels_) return false;
    sources_.push_back({n, i, true});
    return true;
  }

  bool made_by(NodeId n, ValueId v) {
    const Node& node = g_.node(n);
    if (node.region != region_) return false;
    if (is_tflite(node, "FULLY_CONNECTED") || is_tflite(node, "CONV_2D")) return linear(n, axis_.at(v));
    return through(n, v, false);
  }

  bool read_by(const Use& use, ValueId v) {
    const Node& node = g_.node(use.node);
    const std::size_t axis = axis_.at(v);
    if (node.region != region_) return false;
    if (is_tflite(node, "MEAN") && use.operand == 0 && node.output(0) && g_.value(node.output(0)).uses.size() == 1) {
      const NodeId sub = g_.value(node.output(0)).uses[0].node;
      if (centers(sub, v, axis)) return true;
    }
    if (centers(use.node, v, axis) && use.operand == 0) {
      centering_.insert(use.node);
      return true;
    }
    return through(use.node, v, true);
  }

  bool centers(NodeId n, ValueId v, std::size_t axis) const {
    const Node& node = g_.node(n);
    return is_tflite(node, "SUB") && no_activation(node) && node.input(0) == v &&
           is_mean_of(g_, node.input(1), v, axis);
  }

  // An operator whose operands and results are all of the stream, seen from v, one of them.
  bool through(NodeId n, ValueId v, bool forward) {
    const Node& node = g_.node(n);
    if (is_tflite(node, "ADD") || is_tflite(node, "SUB")) return sum(n, v);
    if (is_tflite(node, "CONCATENATION")) return concatenation(n, axis_.at(v));
    if (node.outputs.size() != 1 || !node.output(0) || !node.input(0)) return false;
    if (forward) {
      if (node.input(0) != v) return false;
      for (std::size_t i = 1; i < node.inputs.size(); ++i)
        if (node.inputs[i] == v) return false;
      const auto next = moved_axis(g_, n, axis_.at(v));
      return next && add(node.output(0), *next);
    }
    const Type& from = g_.value(node.input(0)).type;
    if (!from.ranked) return false;
    for (std::size_t a = 0; a < from.rank(); ++a)
      if (from.dims[a].size == channels_ && moved_axis(g_, n, a) == axis_.at(v)) return add_operand(n, 0, a);
    return false;
  }

  bool sum(NodeId n, ValueId v) {
    const Node& node = g_.node(n);
    if (!seen_.insert(n).second) return true;
    const Type& y = g_.value(node.output(0)).type;
    if (!no_activation(node) || !y.ranked || node.inputs.size() != 2) return false;
    const std::size_t from_end = g_.value(v).type.rank() - axis_.at(v);
    if (from_end > y.rank() || !add(node.output(0), y.rank() - from_end)) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      const Type& t = g_.value(node.input(i)).type;
      if (!t.ranked || t.rank() < from_end || !add_operand(n, i, t.rank() - from_end)) return false;
    }
    return true;
  }

  bool concatenation(NodeId n, std::size_t axis) {
    const Node& node = g_.node(n);
    if (!seen_.insert(n).second) return true;
    const std::int64_t along = from_first(node.attr_or<std::int64_t>("axis", 0), g_.value(node.output(0)).type.rank());
    if (along == static_cast<std::int64_t>(axis) || !no_activation(node) || !add(node.output(0), axis)) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (!add_operand(n, i, axis)) return false;
    return true;
  }

  bool linear(NodeId n, std::size_t axis) {
    const Node& node = g_.node(n);
    if (!no_activation(node) || axis + 1 != g_.value(node.output(0)).type.rank()) return false;
    const Constant* const weights = own_weights(g_, n, 1);
    if (!weights || weights->dims().size() < 2 || weights->dims()[0] != channels_) return false;
    // In groups the channels do not read the same inputs.
    const Type& x = g_.value(node.input(0)).type;
    if (is_tflite(node, "CONV_2D") && (x.rank() != 4 || x.dims[3].size != weights->dims().back())) return false;
    if (!bias_of(g_, n, 2, channels_)) return false;
    sources_.push_back({n, 0, false});
    return true;
  }

  const Graph& g_;
  const std::int64_t channels_;
  const RegionId region_;
  std::map<ValueId, std::size_t> axis_;  // of the values of the stream
  std::vector<ValueId> todo_;
  std::set<NodeId> seen_;  // sums and concatenations
  std::vector<Source> sources_;
  std::set<NodeId> centering_;  // the SUB of its readers
};

// ---- the change ----

/// Less the mean of each column of [rows, columns]: the mean over the first axis.
Result<Constant> centered_rows(const Constant& c) {
  const std::vector<std::int64_t>& dims = c.dims();
  const std::int64_t rows = dims[0], columns = c.elements() / rows;
  GANTRY_ASSIGN(const std::vector<float> values, c.read<float>());
  std::vector<double> sums(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += static_cast<double>(values[i]);
  std::vector<float> shift;
  for (const double s : sums) shift.push_back(static_cast<float>(-s / static_cast<double>(rows)));
  GANTRY_ASSIGN(const Constant flat, c.reshape({rows, columns}));
  GANTRY_ASSIGN(const Constant shifted, flat.shift(1, std::move(shift)));
  return shifted.reshape(dims);
}

/// Less the mean over the last axis.
Result<Constant> centered_last(const Constant& c) {
  const std::vector<std::int64_t>& dims = c.dims();
  const std::int64_t columns = dims.back(), rows = c.elements() / columns;
  GANTRY_ASSIGN(const std::vector<float> values, c.read<float>());
  std::vector<float> shift;
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < columns; ++i)
      sum += static_cast<double>(values[static_cast<std::size_t>(r * columns + i)]);
    shift.push_back(static_cast<float>(-sum / static_cast<double>(columns)));
  }
  GANTRY_ASSIGN(const Constant flat, c.reshape({rows, columns}));
  GANTRY_ASSIGN(const Constant shifted, flat.shift(0, std::move(shift)));
  return shifted.reshape(dims);
}

/// An operand that becomes another constant.
struct Change {
  NodeId node;
  std::size_t operand;
  Constant to;
};

std::optional<std::vector<Change>> changes(const Graph& g, const Stream& stream) {
  std::vector<Change> all;
  const auto change = [&](NodeId n, std::size_t i, Result<Constant> c) {
    const bool ok = c.ok();
    if (ok) all.push_back({n, i, *std::move(c)});
    return ok;
  };
  for (const Stream::Source& s : stream.sources()) {
    const auto constant = [&](std::size_t i) -> const Constant& { return g.value(g.node(s.node).input(i)).constant; };
    if (s.is_constant) {
      if (!change(s.node, s.operand, centered_last(constant(s.operand)))) return std::nullopt;
      continue;
    }
    if (!change(s.node, 1, centered_rows(constant(1)))) return std::nullopt;
    if (g.node(s.node).input(2) && !change(s.node, 2, centered_rows(constant(2)))) return std::nullopt;
  }
  return all;
}

bool fuse(Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (!is_tflite(node, "SUB") || !node.input(0)) return false;
  const ValueId x = node.input(0);
  const Type& t = g.value(x).type;
  if (!t.ranked || t.rank() == 0 || !t.dims.back().known() || t.dims.back().size < 2) return false;
  if (!is_mean_of(g, node.input(1), x, t.rank() - 1)) return false;
  Stream stream(g, t.dims.back().size, node.region);
  if (!stream.close(x, t.rank() - 1) || !stream.centering().contains(n)) return false;
  const auto all = changes(g, stream);
  if (!all) return false;
  for (const Change& c : *all) replace_constant(g, c.node, c.operand, c.to);
  for (const NodeId sub : stream.centering()) bypass(g, sub, g.node(sub).input(0));
  return true;
}

}  // namespace

Status fuse_center(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) { fuse(c.graph, n); });
  return {};
}

}  // namespace gantry::passes
