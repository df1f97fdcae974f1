// A number that multiplies a part of what FULLY_CONNECTED or CONV_2D makes, as the queries of an attention are scaled,
// goes into the weights of that part: softmax(s (Q K)) V = softmax((s W_q x) K) V. The way back from the product to the
// operator leads through transposes, reshapes, and what takes a part along output channels (SPLIT, SLICE, GATHER of
// constant places), and through one operand of BATCH_MATMUL, which is linear in both.
//
// On the way each dimension is a list of atoms; those of the channel axis know their stride, so that a part along such
// a dimension is a set of channels. Those channels are scaled; nobody else may read them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/passes/channels.hpp"
#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

struct Atom {
  std::int64_t size = 1;
  std::int64_t stride = 0;  // in channels; 0: none of the channel's
  bool whole = false;       // a part that was taken: it cannot be cut, nor taken from
};
using Axes = std::vector<std::vector<Atom>>;  // of a value, by dimension
using Channels = std::vector<bool>;

std::optional<std::vector<std::int64_t>> sizes(const Graph& g, ValueId v) {
  const Type& t = g.value(v).type;
  if (!t.is_static()) return std::nullopt;
  return t.sizes();
}

// The same atoms under other dimensions; nullopt where a dimension ends within one that cannot be cut there.
std::optional<Axes> reshaped(const Axes& axes, const std::vector<std::int64_t>& dims) {
  std::vector<Atom> left;
  for (const auto& axis : axes)
    for (const Atom& a : axis)
      if (a.size != 1) left.push_back(a);
  std::reverse(left.begin(), left.end());
  Axes result;
  for (const std::int64_t dim : dims) {
    auto& axis = result.emplace_back();
    for (std::int64_t rest = dim; rest > 1;) {
      if (left.empty()) return std::nullopt;
      Atom a = left.back();
      left.pop_back();
      if (rest % a.size == 0) {
        rest /= a.size;
        axis.push_back(a);
        continue;
      }
      if (a.whole || a.size % rest != 0) return std::nullopt;
      const std::int64_t inner = a.size / rest;
      left.push_back({inner, a.stride, false});
      axis.push_back({rest, a.stride * inner, false});
      rest = 1;
    }
  }
  return left.empty() ? std::optional(result) : std::nullopt;
}

struct Part {
  std::size_t axis = 0;
  std::vector<std::int64_t> places;  // along it
};

// What SPLIT (that result), SLICE or GATHER takes along its one axis; nullopt if it is none of them, or takes of more.
std::optional<Part> part_of(const Graph& g, NodeId n, ValueId result) {
  const Node& node = g.node(n);
  const bool splits = is_tflite(node, "SPLIT");
  const auto from = sizes(g, node.input(splits ? 1 : 0)), to = sizes(g, result);
  if (!from || !to || from->empty()) return std::nullopt;
  const auto range = [](std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), first);
    return all;
  };
  if (splits) {
    const auto at = constant_ints(g, node.input(0));
    if (!at || at->size() != 1) return std::nullopt;
    const auto axis = static_cast<std::size_t>(from_first((*at)[0], from->size()));
    if (axis >= to->size()) return std::nullopt;
    const auto which = static_cast<std::int64_t>(g.value(result).result);
    return Part{axis, range(which * (*to)[axis], (*to)[axis])};
  }
  if (is_tflite(node, "SLICE")) {
    const auto begin = constant_ints(g, node.input(1));
    if (!begin || begin->size() != from->size() || to->size() != from->size()) return std::nullopt;
    std::optional<Part> part;
    for (std::size_t i = 0; i < from->size(); ++i) {
      if ((*from)[i] == (*to)[i]) continue;
      if (part) return std::nullopt;
      part = Part{i, range((*begin)[i], (*to)[i])};
    }
    return part;
  }
  if (!is_tflite(node, "GATHER") || node.attr_or<std::int64_t>("batch_dims", 0) != 0) return std::nullopt;
  const auto places = constant_ints(g, node.input(1));
  const std::int64_t axis = from_first(node.attr_or<std::int64_t>("axis", 0), from->size());
  if (!places || axis < 0 || axis >= static_cast<std::int64_t>(from->size())) return std::nullopt;
  return Part{static_cast<std::size_t>(axis), *places};
}

// Those of `channels` that lie at the part's places; nullopt if its axis is not the channel's alone.
std::optional<Channels> taken(const Channels& channels, const Axes& axes, const Part& part) {
  Channels mine(channels.size(), false);
  for (const Atom& a : axes[part.axis])
    if (a.whole || (a.stride == 0 && a.size != 1)) return std::nullopt;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    std::int64_t place = 0;
    for (const Atom& a : axes[part.axis])
      if (a.size != 1) place = place * a.size + static_cast<std::int64_t>(c) / a.stride % a.size;
    mine[c] = channels[c] && std::ranges::find(part.places, place) != part.places.end();
  }
  return mine;
}

class Way {
 public:
  Way(const Graph& g, ValueId product, NodeId user) : g_(g), product_(product), user_(user) {}

  /// The operator whose channels become the product, nullopt if the way is not known.
  std::optional<NodeId> find() {
    std::vector<std::pair<NodeId, ValueId>> steps;  // a node and which of its results
    ValueId v = product_;
    NodeId reader = user_;
    for (;;) {
      const NodeId n = producer_of(g_, v, reader);
      if (!n) return std::nullopt;
      if (is_tflite(g_.node(n), "FULLY_CONNECTED") || is_tflite(g_.node(n), "CONV_2D")) {
        host_ = n;
        break;
      }
      const bool known = is_tflite(g_.node(n), "TRANSPOSE") || is_tflite(g_.node(n), "RESHAPE") || part_of(g_, n, v);
      if (!known) return std::nullopt;
      steps.emplace_back(n, v);
      reader = n;
      v = g_.node(n).input(is_tflite(g_.node(n), "SPLIT") ? 1 : 0);
    }
    if (!no_activation(g_.node(host_)) || !begin(v)) return std::nullopt;
    std::reverse(steps.begin(), steps.end());
    for (const auto& [n, result] : steps) {
      if (!step(n, result)) return std::nullopt;
    }
    return alone(product_, user_) && others_read_others() ? std::optional(host_) : std::nullopt;
  }
  const Channels& channels() const { return channels_; }

 private:
  bool begin(ValueId v) {
    const auto dims = sizes(g_, v);
    if (!dims || dims->empty()) return false;
    for (const std::int64_t d : *dims) axes_.push_back({{d, 0, false}});
    axes_.back()[0].stride = 1;
    channels_.assign(static_cast<std::size_t>(dims->back()), true);
    return true;
  }

  bool step(NodeId n, ValueId result) {
    const Node& node = g_.node(n);
    const bool takes = !is_tflite(node, "TRANSPOSE") && !is_tflite(node, "RESHAPE");
    const ValueId from = node.input(is_tflite(node, "SPLIT") ? 1 : 0);
    if (!takes && !alone(from, n)) return false;
    if (is_tflite(node, "TRANSPOSE")) {
      const auto perm = perm_of(g_, n);
      if (!perm) return false;
      Axes moved;
      for (const std::int64_t p : *perm) moved.push_back(axes_[static_cast<std::size_t>(p)]);
      axes_ = std::move(moved);
      return true;
    }
    const auto dims = sizes(g_, result);
    if (!dims) return false;
    if (is_tflite(node, "RESHAPE")) {
      auto other = reshaped(axes_, *dims);
      if (!other) return false;
      axes_ = *std::move(other);
      return true;
    }
    const auto part = part_of(g_, n, result);
    const auto mine = taken(channels_, axes_, *part);
    if (!mine || g_.value(from).output_uses != 0) return false;
    for (const Use& use : g_.value(from).uses)
      if (use.node != n && !note_other(use)) return false;
    channels_ = *mine;
    axes_[part->axis] = {{static_cast<std::int64_t>(part->places.size()), 0, true}};
    if (dims->size() < axes_.size()) axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(part->axis));
    return dims->size() == axes_.size();
  }

  bool alone(ValueId v, NodeId reader) const { return single_use(g_, v) && g_.value(v).uses[0].node == reader; }

  // Another reader of a value must take other channels.
  bool note_other(const Use& use) {
    const Node& node = g_.node(use.node);
    if (node.region != g_.node(host_).region || node.outputs.size() != 1 || !node.output(0)) return false;
    if (is_tflite(node, "SPLIT") || use.operand != 0) return false;
    const auto part = part_of(g_, use.node, node.output(0));
    const auto theirs = part ? taken(channels_, axes_, *part) : std::nullopt;
    if (theirs) others_.push_back(*theirs);
    return theirs.has_value();
  }
  bool others_read_others() const {
    for (const Channels& o : others_)
      for (std::size_t c = 0; c < o.size(); ++c)
        if (o[c] && channels_[c]) return false;
    return true;
  }

  const Graph& g_;
  const ValueId product_;
  const NodeId user_;
  NodeId host_;
  Axes axes_;
  Channels channels_;
  std::vector<Channels> others_;
};

struct Scaling {
  NodeId host;
  std::vector<float> factors;
};

// Where the factor may go: the value itself, or either operand of a BATCH_MATMUL that makes it.
std::optional<Scaling> find_scaling(const Graph& g, ValueId v, NodeId user, float factor, int depth = 0) {
  if (!single_use(g, v)) return std::nullopt;
  if (const NodeId p = producer_of(g, v, user); p && is_tflite(g.node(p), "BATCH_MATMUL") && depth == 0) {
    for (std::size_t i = 0; i < 2; ++i)
      if (auto found = find_scaling(g, g.node(p).input(i), p, factor, 1)) return found;
    return std::nullopt;
  }
  Way way(g, v, user);
  const auto host = way.find();
  if (!host) return std::nullopt;
  Scaling s{*host, {}};
  for (const bool scaled : way.channels()) s.factors.push_back(scaled ? factor : 1.0F);
  return s;
}

bool scale(Graph& g, const Scaling& s) {
  const auto n = static_cast<std::int64_t>(s.factors.size());
  const Constant* const weights = own_weights(g, s.host, 1);
  if (!weights || weights->dims().empty() || weights->dims()[0] != n) return false;
  auto bias = bias_of(g, s.host, 2, n);
  if (!bias) return false;
  Result<Constant> scaled = weights->scale(0, s.factors);
  if (!scaled.ok()) return false;
  replace_constant(g, s.host, 1, *std::move(scaled));
  if (!g.node(s.host).input(2)) return true;
  for (std::size_t i = 0; i < bias->size(); ++i) (*bias)[i] *= s.factors[i];
  set_bias(g, s.host, 2, *bias);
  return true;
}

void fuse(Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (!is_tflite(node, "MUL") && !is_tflite(node, "DIV")) return;
  const std::optional<Arithmetic> found = arithmetic_of(g, node);
  if (!found || !no_activation(node)) return;
  const Type x = g.value(found->x).type;
  if (x.dtype != DType::float32 || !x.ranked || g.value(node.output(0)).type.dims != x.dims) return;
  const auto c = constant_floats(g, found->c, 1);
  if (!c || c->size() != 1) return;
  const float factor = is_tflite(node, "DIV") ? 1 / (*c)[0] : (*c)[0];
  if (!std::isfinite(factor)) return;
  const auto scaling = find_scaling(g, found->x, n, factor);
  if (scaling && scale(g, *scaling)) bypass(g, n, found->x);
}

}  // namespace

Status fuse_scale(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) { fuse(c.graph, n); });
  return {};
}

}  // namespace gantry::passes
