// What is done by a constant to each input channel of FULLY_CONNECTED or CONV_2D goes into its weights and bias:
//   W (x * c) + b  =  (W * c) x + b          W (x + c) + b  =  W x + (b + W c)        c along the channel
// Everything that reads the value must end in such an operator, through operators that leave the channel axis whole:
// transposes, reshapes, slices, gathers, splits and concatenations along other axes, and means over other axes. The
// weights are scaled by a transform of their handle. A shift before a convolution that pads stays: zeros are not
// shifted.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "host/passes/channels.hpp"
#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

/// Follows a channel axis from a value to everything that depends on it.
class Ways {
 public:
  /// `shift`: a constant is added, which padding by zeros would not see.
  Ways(const Graph& g, std::int64_t channels, bool shift) : g_(g), channels_(channels), shift_(shift) {}

  /// The FULLY_CONNECTED and CONV_2D at all ends; nullopt if there is another end.
  std::optional<std::vector<NodeId>> from(ValueId v, std::size_t axis, NodeId after) {
    if (!reach(v, axis)) return std::nullopt;
    for (NodeId n = g_.node(after).next; n && pending_ > 0; n = g_.node(n).next) {
      std::size_t operands = 0;
      for (const ValueId in : g_.node(n).inputs) operands += in && axis_.contains(in) ? 1 : 0;
      if (operands == 0) continue;
      if (!step(n)) return std::nullopt;
      pending_ -= operands;
    }
    if (pending_ > 0 || ends_.empty()) return std::nullopt;  // a region inside reads it
    return ends_;
  }

 private:
  bool reach(ValueId v, std::size_t axis) {
    const Value& value = g_.value(v);
    if (value.output_uses != 0 || !value.type.ranked || axis >= value.type.rank()) return false;
    if (value.type.dims[axis].size != channels_) return false;
    axis_[v] = axis;
    pending_ += value.uses.size();
    return true;
  }
  const Type& type(ValueId v) const { return g_.value(v).type; }

  bool step(NodeId n) {
    const Node& node = g_.node(n);
    if (is_tflite(node, "CONCATENATION")) return concatenation(node);
    const std::size_t data = is_tflite(node, "SPLIT") ? 1 : 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (i != data && node.inputs[i] && axis_.contains(node.inputs[i])) return false;
    if (!node.input(data)) return false;
    const std::size_t axis = axis_.at(node.input(data));
    if (is_tflite(node, "FULLY_CONNECTED") || is_tflite(node, "CONV_2D")) return end(n, axis);
    if (is_tflite(node, "SPLIT")) return split(node, axis);
    const std::optional<std::size_t> next = moved_axis(g_, n, axis);
    return next && node.outputs.size() == 1 && node.output(0) && reach(node.output(0), *next);
  }

  bool split(const Node& node, std::size_t axis) {
    const auto along = constant_ints(g_, node.input(0));
    if (!along || along->size() != 1) return false;
    if (from_first((*along)[0], type(node.input(1)).rank()) == static_cast<std::int64_t>(axis)) return false;
    return std::ranges::all_of(node.outputs, [&](ValueId v) { return v && reach(v, axis); });
  }

  // All parts come from the value.
  bool concatenation(const Node& node) {
    std::optional<std::size_t> axis;
    for (const ValueId in : node.inputs) {
      if (!in || !axis_.contains(in) || (axis && axis_.at(in) != *axis)) return false;
      axis = axis_.at(in);
    }
    const std::int64_t along = from_first(node.attr_or<std::int64_t>("axis", 0), type(node.output(0)).rank());
    return no_activation(node) && axis && along != static_cast<std::int64_t>(*axis) && reach(node.output(0), *axis);
  }

  bool end(NodeId n, std::size_t axis) {
    const Node& node = g_.node(n);
    const Constant* const weights = own_weights(g_, n, 1);
    if (axis + 1 != type(node.input(0)).rank() || !weights) return false;
    const bool conv = is_tflite(node, "CONV_2D");
    if (weights->dims().size() != (conv ? 4 : 2) || weights->dims().back() != channels_) return false;
    if (conv && shift_ && node.attr_or<std::string>("padding", "SAME") != "VALID") return false;
    if (!bias_of(g_, n, 2, weights->dims()[0])) return false;
    ends_.push_back(n);
    return true;
  }

  const Graph& g_;
  const std::int64_t channels_;
  const bool shift_;
  std::map<ValueId, std::size_t> axis_;  // of every value that depends on the first
  std::size_t pending_ = 0;              // uses of those that were not seen yet
  std::vector<NodeId> ends_;
};

// The one axis that the constant is longer than 1 along; the last if there is none, as a number is along any.
std::optional<std::size_t> axis_of(const Graph& g, ValueId c, const Type& x) {
  const std::vector<std::int64_t>& dims = g.value(c).constant.dims();
  if (!x.ranked || x.rank() == 0 || dims.size() > x.rank()) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (axis) return std::nullopt;
    axis = i + x.rank() - dims.size();
  }
  return axis ? axis : x.rank() - 1;
}

// W c of [o, i] weights, over all taps of [o, h, w, i].
std::optional<std::vector<double>> product(const Graph& g, NodeId n, const std::vector<float>& c) {
  const Result<std::vector<float>> w = g.value(g.node(n).input(1)).constant.read<float>();
  if (!w.ok()) return std::nullopt;
  std::vector<double> sums(static_cast<std::size_t>(g.value(g.node(n).input(1)).constant.dims()[0]));
  const std::size_t row = w->size() / sums.size();
  for (std::size_t i = 0; i < w->size(); ++i)
    sums[i / row] += static_cast<double>((*w)[i]) * static_cast<double>(c[i % c.size()]);
  return sums;
}

// The bias with W c added; what the operator has is checked before.
std::optional<std::vector<float>> shifted_bias(const Graph& g, NodeId n, const std::vector<float>& c) {
  const auto sums = product(g, n, c);
  if (!sums) return std::nullopt;
  std::vector<float> bias = *bias_of(g, n, 2, static_cast<std::int64_t>(sums->size()));
  for (std::size_t o = 0; o < bias.size(); ++o) bias[o] = static_cast<float>(static_cast<double>(bias[o]) + (*sums)[o]);
  return bias;
}

bool shift_inputs(Graph& g, const std::vector<NodeId>& ends, const std::vector<float>& c) {
  std::vector<std::vector<float>> biases;
  for (const NodeId n : ends) {
    auto bias = shifted_bias(g, n, c);
    if (!bias) return false;
    biases.push_back(*std::move(bias));
  }
  for (std::size_t i = 0; i < ends.size(); ++i) set_bias(g, ends[i], 2, biases[i]);
  return true;
}

bool scale_inputs(Graph& g, const std::vector<NodeId>& ends, const std::vector<float>& factors) {
  std::vector<Constant> weights;
  for (const NodeId n : ends) {
    Result<Constant> scaled =
        g.value(g.node(n).input(1))
            .constant.scale(static_cast<std::int64_t>(g.value(g.node(n).input(1)).constant.dims().size()) - 1, factors);
    if (!scaled.ok()) return false;
    weights.push_back(*std::move(scaled));
  }
  for (std::size_t i = 0; i < ends.size(); ++i) replace_constant(g, ends[i], 1, std::move(weights[i]));
  return true;
}

void fuse(Graph& g, NodeId n) {
  const std::optional<Arithmetic> found = arithmetic_of(g, g.node(n));
  if (!found || !no_activation(g.node(n))) return;
  const Type x = g.value(found->x).type;
  const ValueId y = g.node(n).output(0);
  if (x.dtype != DType::float32 || !x.ranked || g.value(y).type.dims != x.dims) return;
  const auto axis = axis_of(g, found->c, x);
  if (!axis || !x.dims[*axis].known()) return;
  auto c = along_channel(g, found->c, x, *axis);
  if (!c || !finite(*c)) return;
  const std::string_view op = g.node(n).op.name;
  for (float& f : *c) f = op == "DIV" ? 1 / f : op == "SUB" ? -f : f;
  if (!finite(*c)) return;
  const auto ends = Ways(g, x.dims[*axis].size, op == "ADD" || op == "SUB").from(y, *axis, n);
  if (!ends) return;
  const bool done = op == "MUL" || op == "DIV" ? scale_inputs(g, *ends, *c) : shift_inputs(g, *ends, *c);
  if (done) bypass(g, n, found->x);
}

}  // namespace

Status fuse_input(PassContext& c) {
  // The last first: of a scale and a shift the shift must go before the scale can.
  for (const RegionId r : c.graph.regions()) {
    std::vector<NodeId> nodes = c.graph.nodes(r);
    for (const NodeId n : nodes | std::views::reverse)
      if (c.graph.contains(n) && c.graph.node(n).op.dialect == "tflite") fuse(c.graph, n);
  }
  return {};
}

}  // namespace gantry::passes
