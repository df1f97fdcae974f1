// Arithmetic broadcasts by itself: an Expand to the shape that the other operand has anyway is not needed before it.
#include "common.hpp"

namespace core_ops {
namespace {

bool without_expand(const Node& node, const Emit& emit) {
  if (node.in_count() != 2 || !node.out().is_static()) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto expand = node.in(i).producer();
    if (!expand || !expand->is("Expand") || expand->dialect() != "onnx" || !expand->in(0).ranked()) continue;
    const Value other = node.in(1 - i);
    if (!other.is_static() || other.dims() != node.out().dims()) continue;
    std::vector<Value> inputs = node.ins();
    inputs[i] = expand->in(0);
    emit.replace(node.out(), emit.op(node.op(), inputs, attributes_of(node)));
    return true;
  }
  return false;
}

}  // namespace

GANTRY_PATTERN("expand_add", onnx, "Add", also("Expand")) { return without_expand(node, emit); }
GANTRY_PATTERN("expand_sub", onnx, "Sub", also("Expand")) { return without_expand(node, emit); }
GANTRY_PATTERN("expand_mul", onnx, "Mul", also("Expand")) { return without_expand(node, emit); }
GANTRY_PATTERN("expand_div", onnx, "Div", also("Expand")) { return without_expand(node, emit); }

}  // namespace core_ops
