// RELU, RELU6 and RELU_N1_TO_1 into the fused_activation_function of the operator that makes their operand. TANH and
// SIGN_BIT are in the schema, but the kernels ignore them. A TRANSPOSE or RESHAPE between the two does not matter: what
// is done to each element alone can be done before or after the elements are put into another order.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/passes/passes.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

// Operators whose kernels, plain and XNNPACK, clamp a float32 result to the range of the activation. CONCATENATION and
// L2_NORMALIZATION have the attribute, and refuse it.
constexpr std::array<std::string_view, 11> kHosts = {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "CONV_3D", "ADD", "SUB", "MUL",
    "DIV",     "MAX_POOL_2D",       "AVERAGE_POOL_2D"};

struct Range {
  std::string_view name;
  float low, high;
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::array<Range, 4> kRanges = {Range{"NONE", -kInfinity, kInfinity}, Range{"RELU", 0, kInfinity},
                                          Range{"RELU6", 0, 6}, Range{"RELU_N1_TO_1", -1, 1}};

const Range* range_of(std::string_view activation) {
  for (const Range& r : kRanges) {
    if (r.name == activation) return &r;
  }
  return nullptr;
}

// The activation that is `first`, then `second`, if there is one: clamping twice clamps to the common range.
const Range* combined(const Range& first, const Range& second) {
  const float low = std::max(first.low, second.low);
  const float high = std::min(first.high, second.high);
  for (const Range& r : kRanges) {
    if (r.low == low && r.high == high) return &r;
  }
  return nullptr;
}

bool is_host(const Node& n) {
  for (const std::string_view name : kHosts) {
    if (is_tflite(n, name)) return true;
  }
  return false;
}

// The operator that makes v, behind nodes that only move elements. None if something else sees a value on the way.
NodeId host_of(const Graph& g, ValueId v, NodeId user) {
  while (single_use(g, v)) {
    const NodeId p = producer_of(g, v, user);
    if (!p) return {};
    if (is_host(g.node(p))) return p;
    if (!is_tflite(g.node(p), "TRANSPOSE") && !is_tflite(g.node(p), "RESHAPE")) return {};
    v = g.node(p).input(0);
    user = p;
  }
  return {};
}

void fuse(Graph& g, NodeId n) {
  const Node& node = g.node(n);
  const Range* second = node.op.name == "NONE" ? nullptr : range_of(node.op.name);
  if (!second || !node.op.domain.empty() || !node.input(0)) return;
  const ValueId x = node.input(0);
  const NodeId host = host_of(g, x, n);
  if (!host || g.value(g.node(host).output(0)).type.dtype != DType::float32) return;
  const Range* first = range_of(g.node(host).attr_or<std::string>("fused_activation_function", "NONE"));
  const Range* both = first ? combined(*first, *second) : nullptr;
  if (!both) return;
  g.set_attr(host, "fused_activation_function", std::string(both->name));
  bypass(g, n, x);
}

}  // namespace

Status fuse_activation(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) { fuse(c.graph, n); });
  return {};
}

}  // namespace gantry::passes
