#include "host/passes/tflite.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace gantry::passes {
namespace {

constexpr std::int64_t kMostInts = 1024;

template <class T>
std::optional<std::vector<T>> read_all(const Constant& c) {
  Result<std::vector<T>> values = c.read<T>();
  if (!values.ok()) return std::nullopt;
  return *std::move(values);
}

}  // namespace

NodeId producer_of(const Graph& g, ValueId v, NodeId user) {
  if (!v) return {};
  const NodeId p = g.value(v).producer;
  if (!p || g.node(p).region != g.node(user).region || g.node(p).op.dialect != "tflite") return {};
  return p;
}

bool single_use(const Graph& g, ValueId v) {
  const Value& value = g.value(v);
  return value.uses.size() == 1 && value.output_uses == 0;
}

std::optional<std::vector<std::int64_t>> constant_ints(const Graph& g, ValueId v) {
  if (!v || !g.value(v).is_constant()) return std::nullopt;
  const Constant& c = g.value(v).constant;
  if (!is_integer(c.dtype()) || c.elements() > kMostInts) return std::nullopt;
  return read_all<std::int64_t>(c);
}

std::optional<std::vector<float>> constant_floats(const Graph& g, ValueId v, std::int64_t most) {
  if (!v || !g.value(v).is_constant()) return std::nullopt;
  const Constant& c = g.value(v).constant;
  if (c.dtype() != DType::float32 || c.elements() > most) return std::nullopt;
  return read_all<float>(c);
}

std::optional<std::vector<std::int64_t>> perm_of(const Graph& g, NodeId transpose) {
  const Node& node = g.node(transpose);
  if (!is_tflite(node, "TRANSPOSE") || !node.input(0)) return std::nullopt;
  auto perm = constant_ints(g, node.input(1));
  const Type& t = g.value(node.input(0)).type;
  if (!perm || !t.ranked || perm->size() != t.rank()) return std::nullopt;
  std::vector<std::int64_t> sorted = *perm;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
  }
  return perm;
}

Type permuted(const Type& t, std::span<const std::int64_t> perm) {
  Type result = Type::unranked(t.dtype);
  if (!t.ranked || perm.size() != t.rank()) return result;
  result.ranked = true;
  for (const std::int64_t axis : perm) result.dims.push_back(t.dims[static_cast<std::size_t>(axis)]);
  return result;
}

std::optional<std::vector<std::int64_t>> reshape_target(const Type& t) {
  if (!t.ranked) return std::nullopt;
  std::vector<std::int64_t> sizes = t.sizes();
  const auto unknown = std::count(sizes.begin(), sizes.end(), -1);
  const auto empty = std::count(sizes.begin(), sizes.end(), 0);
  if (unknown > 1 || (unknown == 1 && empty > 0)) return std::nullopt;  // 0 elements: -1 would stand for anything
  return sizes;
}

ValueId add_ints(Graph& g, std::span<const std::int64_t> values, std::string_view name) {
  std::vector<std::int32_t> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(),
                 [](std::int64_t x) { return static_cast<std::int32_t>(x); });
  return g.add_constant(
      Constant::of<std::int32_t>({static_cast<std::int64_t>(narrow.size())}, std::span<const std::int32_t>(narrow)),
      name);
}

ValueId add_tflite(Graph& g, InsertPoint at, std::string_view op, std::span<const ValueId> inputs, Type type,
                   std::string_view node_name, Attrs attrs) {
  const NodeId n = g.add_node(at, Op{"tflite", "", op, 1}, inputs, 1, std::move(attrs), node_name);
  const ValueId result = g.node(n).output(0);
  g.set_type(result, std::move(type));
  return result;
}

ValueId add_reshape(Graph& g, InsertPoint at, ValueId x, const Type& type, std::string_view node_name) {
  const std::vector<std::int64_t> dims = *reshape_target(type);
  const std::array inputs = {x, add_ints(g, dims, "shape")};
  return add_tflite(g, at, "RESHAPE", inputs, type, node_name, {{"new_shape", dims}});  // for runtimes that read that
}

ValueId succeed_constant(Graph& g, Constant c, ValueId old) {
  const std::string_view name = g.value(old).name;  // interned: stays valid
  if (g.value(old).unused()) g.erase_value(old);
  return g.add_constant(std::move(c), name);
}

void replace_constant(Graph& g, NodeId n, std::size_t operand, Constant c) {
  const ValueId old = g.node(n).input(operand);
  g.set_operand(n, operand, ValueId{});
  g.set_operand(n, operand, succeed_constant(g, std::move(c), old));
}

void bypass(Graph& g, NodeId n, ValueId by) {
  const ValueId result = g.node(n).output(0);
  g.replace_uses(result, by);
  if (g.value(by).producer) g.swap_names(result, by);
  g.erase_node(n);
}

}  // namespace gantry::passes
