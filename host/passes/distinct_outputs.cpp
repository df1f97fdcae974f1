// A TFLite runtime gives each output a tensor of its own. An output that is an input, a constant, or a value that is an
// output already, becomes a copy of it.
// In subgraphs too: LiteRT's IF points each output of a branch to memory of its own, so two may not be one tensor; its
// WHILE writes the outputs of the body, one after another, into memory that the body's inputs share, so none may be an
// input of another place. There the copy is a CONCATENATION of one: a RESHAPE may be done in place.
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/passes/passes.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

// A RESHAPE to the value's own shape; where that is not known when the model is written, to what SHAPE says at run
// time.
ValueId copy_of(Graph& g, RegionId region, ValueId x) {
  const Type type = g.value(x).type;
  const std::string_view name = g.value(x).name;
  if (reshape_target(type)) return add_reshape(g, g.end(region), x, type, name);
  const Type shape_type =
      type.ranked ? Type::of(DType::int32, {static_cast<std::int64_t>(type.rank())}) : Type::of(DType::int32, {-1});
  const ValueId shape =
      add_tflite(g, g.end(region), "SHAPE", std::array{x}, shape_type, name, {{"out_type", std::string("INT32")}});
  return add_tflite(g, g.end(region), "RESHAPE", std::array{x, shape}, type, name);
}

ValueId copy_in_subgraph(Graph& g, RegionId region, ValueId x) {
  const Type type = g.value(x).type;
  const std::string name(g.value(x).name);
  const auto joined = [&](ValueId v, const Type& t) {
    return add_tflite(g, g.end(region), "CONCATENATION", std::array{v}, t, name,
                      {{"axis", std::int64_t{0}}, {"fused_activation_function", std::string("NONE")}});
  };
  if (type.rank() > 0) return joined(x, type);
  const Type one = Type::of(type.dtype, {1});
  return add_reshape(g, g.end(region), joined(add_reshape(g, g.end(region), x, one, name), one), type, name);
}

void separate(Graph& g, RegionId region, bool is_branch) {
  std::set<ValueId> taken;
  for (std::size_t i = 0; i < g.region(region).outputs.size(); ++i) {
    const ValueId v = g.region(region).outputs[i].value;
    const Value& value = g.value(v);
    if (value.is_constant() || !value.type.ranked) continue;
    const bool passes_on = value.input_of == region;
    const bool in_its_place = passes_on && i < g.region(region).inputs.size() && g.region(region).inputs[i] == v;
    const bool fine = is_branch ? !passes_on && taken.insert(v).second : !passes_on || in_its_place;
    if (!fine) g.set_output(region, i, copy_in_subgraph(g, region, v));
  }
}

}  // namespace

Status distinct_outputs(PassContext& c) {
  Graph& g = c.graph;
  const RegionId main = g.main();
  std::set<ValueId> taken;
  for (std::size_t i = 0; i < g.region(main).outputs.size(); ++i) {
    const ValueId v = g.region(main).outputs[i].value;
    if (!v) continue;
    const bool made = static_cast<bool>(g.value(v).producer);
    if (made && taken.insert(v).second) continue;
    g.set_output(main, i, copy_of(g, main, v));
  }
  for (const RegionId r : g.regions()) {
    for (const NodeId n : g.nodes(r)) {
      const bool branches = g.node(n).op.is("tflite", "IF");
      if (!branches && !g.node(n).op.is("tflite", "WHILE")) continue;
      const auto inner = g.node(n).regions;  // a copy: the graph grows meanwhile
      for (const auto& [attribute, region] : inner) {
        if (attribute != "cond_subgraph_index") separate(g, region, branches);
      }
    }
  }
  return {};
}

}  // namespace gantry::passes
