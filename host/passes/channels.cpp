#include "host/passes/channels.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace gantry::passes {
namespace {

// Product of dims [first, last), if all are known.
std::optional<std::int64_t> product(const std::vector<Dim>& dims, std::size_t first, std::size_t last) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = first; i < last; ++i) sizes.push_back(dims[i].size);
  return element_count(sizes);
}

const Type& type(const Graph& g, ValueId v) { return g.value(v).type; }

std::optional<std::size_t> strided(const Graph& g, const Node& node, std::size_t axis) {
  for (const char* mask : {"shrink_axis_mask", "new_axis_mask", "ellipsis_mask"})
    if (node.attr_or<std::int64_t>(mask, 0) != 0) return std::nullopt;
  const auto strides = constant_ints(g, node.input(3));
  if (!strides || axis >= strides->size() || (*strides)[axis] != 1) return std::nullopt;
  return axis;
}

std::optional<std::size_t> gathered(const Graph& g, const Node& node, std::size_t axis) {
  const Type &from = type(g, node.input(0)), &at = type(g, node.input(1));
  const auto batch = node.attr_or<std::int64_t>("batch_dims", 0);
  const std::int64_t along = from_first(node.attr_or<std::int64_t>("axis", 0), from.rank());
  if (batch != 0 || !at.ranked || along == static_cast<std::int64_t>(axis)) return std::nullopt;
  return along > static_cast<std::int64_t>(axis) ? axis : axis + at.rank() - 1;
}

std::optional<std::size_t> averaged(const Graph& g, const Node& node, std::size_t axis) {
  const auto axes = constant_ints(g, node.input(1));
  if (!axes) return std::nullopt;
  const std::size_t rank = type(g, node.input(0)).rank();
  std::size_t before = 0;
  for (const std::int64_t a : *axes) {
    const std::int64_t at = from_first(a, rank);
    if (at == static_cast<std::int64_t>(axis)) return std::nullopt;
    before += at < static_cast<std::int64_t>(axis) ? 1 : 0;
  }
  const auto* keep = node.attr("keep_dims");
  return keep && std::get_if<std::int64_t>(keep) && std::get<std::int64_t>(*keep) != 0 ? axis : axis - before;
}

}  // namespace

bool no_activation(const Node& n) { return n.attr_or<std::string>("fused_activation_function", "NONE") == "NONE"; }

std::optional<std::size_t> axis_after_reshape(const Type& from, std::size_t axis, const Type& to) {
  if (!from.ranked || !to.ranked || from.dims[axis].size <= 1) return std::nullopt;
  const auto ahead = product(from.dims, 0, axis);
  const auto behind = product(from.dims, axis + 1, from.rank());
  for (std::size_t i = 0; i < to.rank(); ++i) {
    if (to.dims[i].size != from.dims[axis].size) continue;
    if (ahead && product(to.dims, 0, i) == ahead) return i;
    if (behind && product(to.dims, i + 1, to.rank()) == behind) return i;
  }
  return std::nullopt;
}

std::optional<std::vector<float>> along_channel(const Graph& g, ValueId c, const Type& x, std::size_t axis) {
  if (!x.ranked || !x.dims[axis].known()) return std::nullopt;
  const std::int64_t channels = x.dims[axis].size;
  auto values = constant_floats(g, c, channels);
  if (!values) return std::nullopt;
  const std::vector<std::int64_t>& dims = g.value(c).constant.dims();
  if (dims.size() > x.rank()) return std::nullopt;
  const std::size_t shift = x.rank() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1 && i + shift != axis) return std::nullopt;
  }
  if (values->size() == 1) values->resize(static_cast<std::size_t>(channels), values->front());
  if (static_cast<std::int64_t>(values->size()) != channels) return std::nullopt;
  return values;
}

std::optional<Arithmetic> arithmetic_of(const Graph& g, const Node& n) {
  const bool commutes = is_tflite(n, "ADD") || is_tflite(n, "MUL");
  if (!commutes && !is_tflite(n, "SUB") && !is_tflite(n, "DIV")) return std::nullopt;
  if (!n.input(0) || !n.input(1)) return std::nullopt;
  if (g.value(n.input(1)).is_constant()) return Arithmetic{n.input(0), n.input(1)};
  if (commutes && g.value(n.input(0)).is_constant()) return Arithmetic{n.input(1), n.input(0)};
  return std::nullopt;
}

std::optional<std::size_t> moved_axis(const Graph& g, NodeId n, std::size_t axis) {
  const Node& node = g.node(n);
  const Type &from = type(g, node.input(0)), &to = type(g, node.output(0));
  if (is_tflite(node, "TRANSPOSE")) {
    const auto perm = perm_of(g, n);
    if (!perm) return std::nullopt;
    return static_cast<std::size_t>(std::ranges::find(*perm, static_cast<std::int64_t>(axis)) - perm->begin());
  }
  if (is_tflite(node, "RESHAPE")) return axis_after_reshape(from, axis, to);
  if (is_tflite(node, "SLICE")) return axis;  // the same size: all of it
  if (is_tflite(node, "STRIDED_SLICE")) return strided(g, node, axis);
  if (is_tflite(node, "GATHER")) return gathered(g, node, axis);
  if (is_tflite(node, "MEAN")) return averaged(g, node, axis);
  return std::nullopt;
}

bool finite(const std::vector<float>& v) {
  return std::all_of(v.begin(), v.end(), [](float x) { return std::isfinite(x); });
}

const Constant* own_weights(const Graph& g, NodeId n, std::size_t operand) {
  const ValueId w = g.node(n).input(operand);
  if (!w || !g.value(w).is_constant() || !single_use(g, w)) return nullptr;
  const Constant& c = g.value(w).constant;
  return c.dtype() == DType::float32 ? &c : nullptr;
}

std::optional<std::vector<float>> bias_of(const Graph& g, NodeId n, std::size_t operand, std::int64_t channels) {
  const auto size = static_cast<std::size_t>(channels);
  const ValueId bias = g.node(n).input(operand);
  if (!bias) return std::vector<float>(size, 0.0F);
  auto values = constant_floats(g, bias, channels);
  if (!values || values->size() != size) return std::nullopt;
  return values;
}

void set_bias(Graph& g, NodeId n, std::size_t operand, const std::vector<float>& bias) {
  Constant c = Constant::of<float>({static_cast<std::int64_t>(bias.size())}, std::span<const float>(bias));
  if (g.node(n).input(operand)) return replace_constant(g, n, operand, std::move(c));
  std::vector<ValueId> inputs = g.node(n).inputs;
  inputs.resize(std::max(inputs.size(), operand + 1));
  inputs[operand] = g.add_constant(std::move(c), std::string(g.node(n).name) + "_bias");
  g.set_operands(n, inputs);
}

}  // namespace gantry::passes
