// Three FULLY_CONNECTED of one operand whose results all end in BATCH_MATMUL, through what moves data: the queries,
// keys and values of an attention. They become one with the weights behind each other, and a SPLIT. Weights behind each
// other are a copy, the only one that a clean-up makes, so large ones stay apart.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/passes/channels.hpp"
#include "host/passes/passes.hpp"

namespace gantry::passes {
namespace {

constexpr std::size_t kProjections = 3;
constexpr std::int64_t kMostElements = 1 << 20;  // of the three weights together

/// [o, i] float32 weights of this node alone, a bias [o] or none, no activation.
bool is_projection(const Graph& g, NodeId n) {
  const Node& node = g.node(n);
  if (!is_tflite(node, "FULLY_CONNECTED") || !no_activation(node) || !node.input(0)) return false;
  const Constant* const w = own_weights(g, n, 1);
  if (!w || w->dims().size() != 2 || w->elements() > kMostElements) return false;
  return bias_of(g, n, 2, w->dims()[0]).has_value();
}

/// Whether the value is read by one operator, which multiplies it or moves it to one that does.
bool ends_in_product(const Graph& g, ValueId v, int depth = 8) {
  if (depth == 0 || !single_use(g, v)) return false;
  const Use use = g.value(v).uses[0];
  const Node& node = g.node(use.node);
  if (is_tflite(node, "BATCH_MATMUL")) return true;
  const bool moves = is_tflite(node, "RESHAPE") || is_tflite(node, "TRANSPOSE");
  return moves && use.operand == 0 && node.output(0) && ends_in_product(g, node.output(0), depth - 1);
}

bool same_attributes(const Attrs& a, const Attrs& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    const auto *i = std::get_if<std::int64_t>(&x.second), *j = std::get_if<std::int64_t>(&y.second);
    const auto *s = std::get_if<std::string>(&x.second), *t = std::get_if<std::string>(&y.second);
    return x.first == y.first && ((i && j && *i == *j) || (s && t && *s == *t));
  });
}

/// The projections of x, in their order; nullopt if they are not three of one size that end in products.
std::optional<std::vector<NodeId>> projections(const Graph& g, NodeId first) {
  const ValueId x = g.node(first).input(0);
  const auto of_a_product = [&](const Use& u) {
    return u.operand == 0 && is_tflite(g.node(u.node), "FULLY_CONNECTED");
  };
  if (std::ranges::count_if(g.value(x).uses, of_a_product) != static_cast<std::ptrdiff_t>(kProjections))
    return std::nullopt;
  std::vector<NodeId> found;
  for (NodeId n = first; n && found.size() < kProjections; n = g.node(n).next) {
    if (g.node(n).input(0) != x || !is_tflite(g.node(n), "FULLY_CONNECTED")) continue;
    if (!is_projection(g, n) || !ends_in_product(g, g.node(n).output(0))) return std::nullopt;
    found.push_back(n);
  }
  if (found.size() != kProjections) return std::nullopt;
  const Node& one = g.node(found[0]);
  const Type& y = g.value(one.output(0)).type;
  for (const NodeId n : found) {
    const Node& node = g.node(n);
    if (!same_attributes(node.attrs, one.attrs) || g.value(node.output(0)).type != y) return std::nullopt;
    if (static_cast<bool>(node.input(2)) != static_cast<bool>(one.input(2))) return std::nullopt;
  }
  return y.ranked && y.rank() > 0 && y.dims.back().known() ? std::optional(found) : std::nullopt;
}

std::optional<std::vector<float>> joined(const Graph& g, const std::vector<NodeId>& nodes, std::size_t operand) {
  std::vector<float> all;
  for (const NodeId n : nodes) {
    const Result<std::vector<float>> part = g.value(g.node(n).input(operand)).constant.read<float>();
    if (!part.ok()) return std::nullopt;
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

void merge(Graph& g, NodeId first) {
  if (!is_projection(g, first)) return;
  const auto nodes = projections(g, first);
  if (!nodes) return;
  const Node one = g.node(first);
  std::vector<std::int64_t> dims = g.value(one.input(1)).constant.dims();
  dims[0] *= static_cast<std::int64_t>(kProjections);
  if (dims[0] * dims[1] > kMostElements) return;
  const auto weights = joined(g, *nodes, 1);
  const auto bias = one.input(2) ? joined(g, *nodes, 2) : std::optional(std::vector<float>());
  if (!weights || !bias) return;

  const std::string name(one.name);
  std::vector<ValueId> operands{
      one.input(0), g.add_constant(Constant::of<float>(dims, std::span<const float>(*weights)), name + "_weights")};
  if (one.input(2))
    operands.push_back(g.add_constant(Constant::of<float>({dims[0]}, std::span<const float>(*bias)), name + "_bias"));
  Type wide = g.value(one.output(0)).type;
  wide.dims.back().size = dims[0];
  const ValueId y = add_tflite(g, g.before(first), "FULLY_CONNECTED", operands, wide, name, one.attrs);

  const std::int32_t last = static_cast<std::int32_t>(wide.rank()) - 1;
  const ValueId axis = g.add_constant(Constant::of<std::int32_t>({}, {last}), name + "_axis");
  const std::vector<ValueId> parts_of{axis, y};
  const NodeId split = g.add_node(g.before(first), {.dialect = "tflite", .domain = "", .name = "SPLIT"}, parts_of,
                                  kProjections, {{"num_splits", static_cast<std::int64_t>(kProjections)}}, name);
  for (std::size_t i = 0; i < kProjections; ++i) {
    const ValueId part = g.node(split).outputs[i], old = g.node((*nodes)[i]).output(0);
    g.set_type(part, g.value(old).type);
    g.replace_uses(old, part);
    g.swap_names(part, old);
    g.erase_node((*nodes)[i]);
  }
}

}  // namespace

Status merge_projections(PassContext& c) {
  for_each_tflite(c.graph, [&](NodeId n) { merge(c.graph, n); });
  return {};
}

}  // namespace gantry::passes
