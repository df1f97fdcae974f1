// A state operand (states.hpp) becomes a tensor of its own that an operator writes anew in every run: the kernel takes
// only a variable, and changes it. docs/decisions/0002-lstm.md has the measurements.
//   - zeros: a FILL; other constants: MUL of them by a FILL of ones, since LiteRT computes an operator of constants
//     once, when it allocates; all else: a CONCATENATION of one;
//   - a state after the node is the same tensor, read by an operator that depends on the node's result, so that no
//     delegate can move it before the node.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/passes/passes.hpp"
#include "host/passes/states.hpp"
#include "host/passes/tflite.hpp"

namespace gantry::passes {
namespace {

const Attrs kNoActivation{{"fused_activation_function", std::string("NONE")}};

ValueId filled(Graph& g, InsertPoint at, const Type& type, float with, std::string_view name) {
  const std::array inputs = {add_ints(g, type.sizes(), "shape"),
                             g.add_constant(Constant::of<float>({}, std::array{with}), "filling")};
  return add_tflite(g, at, "FILL", inputs, type, name);
}

ValueId own_state(Graph& g, NodeId n, ValueId before) {
  const InsertPoint at = g.before(n);
  const Type type = g.value(before).type;
  const std::string name(g.node(n).name);
  if (!g.value(before).is_constant()) {
    Attrs attrs = kNoActivation;
    attrs["axis"] = std::int64_t{0};
    return add_tflite(g, at, "CONCATENATION", std::array{before}, type, name, std::move(attrs));
  }
  const auto numbers = g.value(before).constant.read<float>();
  if (numbers.ok() && std::ranges::all_of(*numbers, [](float x) { return x == 0; }))
    return filled(g, at, type, 0, name);
  return add_tflite(g, at, "MUL", std::array{before, filled(g, at, type, 1, name)}, type, name, kNoActivation);
}

/// SELECT_V2(true, state, state), where "true" comes of the shape of the node's result.
ValueId state_after(Graph& g, NodeId n, ValueId result, ValueId state) {
  const InsertPoint at = g.after(n);
  const std::string name(g.node(n).name);
  const Type shape_type = Type::of(DType::int32, {static_cast<std::int64_t>(g.value(result).type.rank())});
  const ValueId shape =
      add_tflite(g, at, "SHAPE", std::array{result}, shape_type, name, {{"out_type", std::string("INT32")}});
  const Type one = Type::of(DType::int32, {1});
  const ValueId size =
      add_tflite(g, at, "GATHER", std::array{shape, add_ints(g, std::array<std::int64_t, 1>{0}, "first")}, one, name,
                 {{"axis", std::int64_t{0}}, {"batch_dims", std::int64_t{0}}});
  const ValueId yes = add_tflite(g, at, "EQUAL", std::array{size, size}, Type::of(DType::boolean, {1}), name);
  return add_tflite(g, at, "SELECT_V2", std::array{yes, state, state}, g.value(state).type, name);
}

Status settle(Graph& g, NodeId n, const States& states) {
  std::vector<ValueId> operands = g.node(n).inputs;
  for (const std::size_t i : states.operands) {
    const ValueId before = g.node(n).input(i);
    if (!before || !g.value(before).type.is_static() || g.value(before).type.dtype != DType::float32)
      return error(Code::target_limit,
                   "the state of operand " + std::to_string(i) + " must be of float32 and known size")
          .on_node(g.node(n).name)
          .on_op(g.node(n).op.str());
    operands[i] = own_state(g, n, before);
  }
  const std::vector<ValueId> results = g.node(n).outputs;
  if (results.size() <= states.results) {
    g.set_operands(n, operands);
    return {};
  }
  const NodeId settled =
      g.add_node(g.before(n), g.node(n).op, operands, states.results, g.node(n).attrs, g.node(n).name);
  for (std::size_t i = 0; i < states.results; ++i) {
    const ValueId now = g.node(settled).output(i);
    g.set_type(now, g.value(results[i]).type);
    g.replace_uses(results[i], now);
    g.swap_names(results[i], now);
  }
  for (std::size_t k = 0; states.results + k < results.size(); ++k) {
    const ValueId after = results[states.results + k];
    if (!after || g.value(after).unused()) continue;
    const ValueId read = state_after(g, settled, g.node(settled).output(0), operands[states.operands[k]]);
    g.replace_uses(after, read);
    g.swap_names(after, read);
  }
  g.erase_node(n);
  return {};
}

}  // namespace

Status own_states(PassContext& c) {
  Status status;
  std::size_t found = 0;
  for_each_tflite(c.graph, [&](NodeId n) {
    const States states = states_of(c.graph.node(n));
    if (states.operands.empty() || !status.ok()) return;
    ++found;
    status = settle(c.graph, n, states);
  });
  if (found > 0)
    c.report.add(note("the file has variable tensors (" + std::to_string(found) +
                      " fused LSTM), which LiteRT's interpreter runs and its CompiledModel does not read: for that, " +
                      "plugins.\"org.gantry.core-ops\".fused_lstm = false writes loops"));
  return status;
}

}  // namespace gantry::passes
