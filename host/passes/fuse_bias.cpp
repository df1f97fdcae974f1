// What is done to each output channel of a convolution or FULLY_CONNECTED by a constant goes into its bias and weights:
//   conv(x, W, b) + c  =  conv(x, W, b + c)
//   conv(x, W, b) * c  =  conv(x, W * c, b * c)      c along the output channel; a BatchNormalization is one of each
// also through TRANSPOSE and RESHAPE between the two, as long as the channel stays one whole axis. The weights are
// scaled by a transform of their handle: nothing is copied.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/passes/channels.hpp"
#include "host/passes/passes.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

/// Where an operator has its weights and bias. The output channel is the last axis of the result.
struct Host {
  std::string_view name;
  std::size_t weights, bias;  // operands
  std::int64_t channel;       // the weights' axis of output channels
};

constexpr std::array kHosts = {
    Host{"CONV_2D", 1, 2, 0},            // filter OHWI
    Host{"DEPTHWISE_CONV_2D", 1, 2, 3},  // 1HWC
    Host{"FULLY_CONNECTED", 1, 2, 0},    // [O, I]
    Host{"TRANSPOSE_CONV", 1, 3, 0},     // operands: shape, filter OHWI, x, bias
    Host{"CONV_3D", 1, 2, 4},            // DHWIO
};

const Host* host_of(const Node& n) {
  const auto it = std::find_if(kHosts.begin(), kHosts.end(), [&](const Host& h) { return is_tflite(n, h.name); });
  return it == kHosts.end() ? nullptr : &*it;
}

// ---- the way of the channel axis from the host's result to the arithmetic ----

struct Found {
  NodeId host;
  std::size_t axis = 0;  // of the value that the search began with, which is the host's channel
};

// The nodes on the way are collected from the arithmetic backwards; then the axis is followed forwards.
std::optional<Found> find_host(const Graph& g, ValueId v, NodeId user) {
  std::vector<NodeId> way;
  for (;;) {
    if (!single_use(g, v)) return std::nullopt;
    const NodeId p = producer_of(g, v, user);
    if (!p) return std::nullopt;
    user = p;
    if (host_of(g.node(p))) break;
    if (!is_tflite(g.node(p), "TRANSPOSE") && !is_tflite(g.node(p), "RESHAPE")) return std::nullopt;
    way.push_back(p);
    v = g.node(p).input(0);
  }
  const Type& result = g.value(g.node(user).output(0)).type;
  if (!result.ranked || result.rank() == 0) return std::nullopt;
  std::size_t axis = result.rank() - 1;
  for (auto it = way.rbegin(); it != way.rend(); ++it) {
    const auto next = moved_axis(g, *it, axis);
    if (!next) return std::nullopt;
    axis = *next;
  }
  return Found{user, axis};
}

// ---- the change ----

// Multiplies the weights, if they are a float32 constant of this host alone.
bool scale_weights(Graph& g, NodeId host, const Host& kind, const std::vector<float>& factors) {
  const Constant* const c = own_weights(g, host, kind.weights);
  if (!c || static_cast<std::int64_t>(c->dims().size()) <= kind.channel) return false;
  if (c->dims()[static_cast<std::size_t>(kind.channel)] != static_cast<std::int64_t>(factors.size())) return false;
  Result<Constant> scaled = c->scale(kind.channel, factors);
  if (!scaled.ok()) return false;
  replace_constant(g, host, kind.weights, *std::move(scaled));
  return true;
}

void fuse(Graph& g, NodeId n) {
  const std::optional<Arithmetic> found = arithmetic_of(g, g.node(n));
  if (!found) return;
  const Type x = g.value(found->x).type;
  if (x.dtype != DType::float32 || g.value(g.node(n).output(0)).type.dims != x.dims) return;
  const std::optional<Found> way = find_host(g, found->x, n);
  if (!way || !no_activation(g.node(way->host))) return;
  auto operand = along_channel(g, found->c, x, way->axis);
  if (!operand || !finite(*operand)) return;
  const Host& kind = *host_of(g.node(way->host));
  auto bias = bias_of(g, way->host, kind.bias, static_cast<std::int64_t>(operand->size()));
  if (!bias) return;

  const std::string_view op = g.node(n).op.name;
  if (op == "DIV") {
    for (float& f : *operand) f = 1 / f;
    if (!finite(*operand)) return;
  }
  if (op == "MUL" || op == "DIV") {
    if (!scale_weights(g, way->host, kind, *operand)) return;
    for (std::size_t i = 0; i < bias->size(); ++i) (*bias)[i] *= (*operand)[i];
  } else {
    for (std::size_t i = 0; i < bias->size(); ++i) (*bias)[i] += op == "SUB" ? -(*operand)[i] : (*operand)[i];
  }
  const bool has_bias = static_cast<bool>(g.node(way->host).input(kind.bias));
  if (has_bias || op == "ADD" || op == "SUB") set_bias(g, way->host, kind.bias, *bias);
  if (const Attr* activation = g.node(n).attr("fused_activation_function")) {
    g.set_attr(way->host, "fused_activation_function", *activation);
  }
  bypass(g, n, found->x);
}

}  // namespace

Status fuse_bias(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) { fuse(c.graph, n); });
  return {};
}

}  // namespace gantry::passes
