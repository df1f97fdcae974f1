#include "host/formats/tflite/outputs.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace gantry::tflite_format {
namespace {

// The shape of a value as an operand of RESHAPE: a constant if at most one size is unknown, which is then -1.
ValueId shape_of(Graph& g, RegionId region, ValueId v) {
  const Type& type = g.value(v).type;
  std::vector<std::int32_t> sizes;
  for (const Dim& d : type.dims) sizes.push_back(static_cast<std::int32_t>(d.size));
  const auto unknown = std::ranges::count(sizes, -1);
  if (type.ranked && (unknown == 0 || (unknown == 1 && std::ranges::count(sizes, 0) == 0))) {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    return g.add_constant(Constant::of<std::int32_t>({rank}, std::span<const std::int32_t>(sizes)));
  }
  const std::int64_t rank = type.ranked ? static_cast<std::int64_t>(type.rank()) : -1;
  const NodeId shape = g.add_node(g.end(region), {.dialect = "tflite", .domain = "", .name = "SHAPE"}, std::vector{v},
                                  1, {{"out_type", std::string("INT32")}});
  g.set_type(g.node(shape).outputs[0], Type::of(DType::int32, {rank}));
  return g.node(shape).outputs[0];
}

ValueId copy_of(Graph& g, RegionId region, ValueId v) {
  const ValueId shape = shape_of(g, region, v);
  const NodeId copy =
      g.add_node(g.end(region), {.dialect = "tflite", .domain = "", .name = "RESHAPE"}, std::vector{v, shape}, 1);
  g.set_type(g.node(copy).outputs[0], g.value(v).type);
  return g.node(copy).outputs[0];
}

}  // namespace

std::size_t separate_outputs(Graph& g) {
  std::size_t copies = 0;
  for (const RegionId r : g.regions()) {
    std::set<ValueId> seen;
    if (r == g.main()) seen.insert(g.region(r).inputs.begin(), g.region(r).inputs.end());
    for (std::size_t i = 0; i < g.region(r).outputs.size(); ++i) {
      const ValueId v = g.region(r).outputs[i].value;
      if (seen.insert(v).second) continue;
      g.set_output(r, i, copy_of(g, r, v));
      ++copies;
    }
  }
  return copies;
}

}  // namespace gantry::tflite_format
