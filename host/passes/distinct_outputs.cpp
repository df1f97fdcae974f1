// A TFLite runtime gives each output a tensor of its own. An output that is an input, a constant, or a value that is an
// output already, becomes a copy of it.
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
  return {};
}

}  // namespace gantry::passes
