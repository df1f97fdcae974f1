// Operators of shape arithmetic whose meaning did not change: their newest forms are the ones for which the ONNX
// library follows symbolic sizes through the graph. Operators: ONNX operator specification, changelog.
#include "common.hpp"

namespace core_ops {
namespace {

struct Row {
  std::string_view op;
  Versions versions;
};
Results as_newest(const Node& node, const Emit& emit, const Row&) {
  return emit.ops(node.op(), node.out_count(), node.ins(), attributes_of(node));
}
constexpr Row kSame[] = {
    {"Shape", versions(1, 18)},   {"Size", versions(1, 18)},
    {"Gather", versions(1, 12)},  {"Concat", versions(4, 12)},
    {"Cast", versions(6, 18)},    {"Slice", versions(10, 12)},
    {"Reshape", versions(5, 18)}, {"Expand", versions(8, 12)},
    {"Tile", versions(6, 12)},    {"ConstantOfShape", versions(9, 19)},
    {"Add", versions(7, 13)},     {"Sub", versions(7, 13)},
    {"Mul", versions(7, 13)},     {"Identity", versions(1, 18)},
    {"Flatten", versions(9, 18)}, {"Transpose", versions(1, 18)},
    {"Pad", versions(11, 17)},
};
GANTRY_TABLE(onnx, kSame, as_newest, to(onnx))

}  // namespace
}  // namespace core_ops
