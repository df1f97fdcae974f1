// Old forms of ONNX operators in terms of the newest: each rule is the difference between two versions of the operator
// in ONNX's changelog. A form whose meaning did not change needs no rule.
#include <cmath>
#include <limits>

#include "common.hpp"

namespace core_ops {
namespace {

/// The node with one attribute as an operand instead (place `at`), as newer opsets have it.
Results attribute_to_operand(const Node& node, const Emit& emit, std::string_view name, std::size_t at) {
  std::vector<Value> inputs = node.ins();
  Attributes attributes = attributes_of(node);
  if (node.has_attr(name)) {
    inputs.resize(std::max(inputs.size(), at + 1));
    inputs[at] = emit.i64(node.attr<Dims>(name));
  }
  std::erase_if(attributes, [&](const Attribute& a) { return a.name() == name; });
  return emit.ops(node.op(), node.out_count(), inputs, attributes);
}

struct AxesRow {
  std::string_view op;
  Versions versions;
};
Results axes_rule(const Node& node, const Emit& emit, const AxesRow&) {
  return attribute_to_operand(node, emit, "axes", 1);
}
constexpr AxesRow kAxes[] = {
    {"Squeeze", versions(1, 12)},         {"Unsqueeze", versions(1, 12)},    {"ReduceSum", versions(1, 12)},
    {"ReduceMean", versions(1, 17)},      {"ReduceMax", versions(1, 17)},    {"ReduceMin", versions(1, 17)},
    {"ReduceProd", versions(1, 17)},      {"ReduceL1", versions(1, 17)},     {"ReduceL2", versions(1, 17)},
    {"ReduceSumSquare", versions(1, 17)}, {"ReduceLogSum", versions(1, 17)}, {"ReduceLogSumExp", versions(1, 17)},
};
GANTRY_TABLE(onnx, kAxes, axes_rule, to(onnx))

}  // namespace

/// Sizes were an attribute; without them the parts are equal, which is num_outputs now.
GANTRY_UPGRADE(onnx, "Split", versions(2, 12)) {
  if (node.has_attr("split")) return attribute_to_operand(node, emit, "split", 1);
  Attributes attributes = attributes_of(node);
  set_attribute(attributes, "num_outputs", static_cast<std::int64_t>(node.out_count()));
  return emit.ops("Split", node.out_count(), node.ins(), attributes);
}

/// Split-13 has no num_outputs: without sizes the parts are equal.
GANTRY_UPGRADE(onnx, "Split", versions(13, 17)) {
  Attributes attributes = attributes_of(node);
  if (!node.in(1)) set_attribute(attributes, "num_outputs", static_cast<std::int64_t>(node.out_count()));
  return emit.ops("Split", node.out_count(), node.ins(), attributes);
}

/// Bounds were attributes.
GANTRY_UPGRADE(onnx, "Clip", versions(6, 10)) {
  const DType t = node.in(0).dtype();
  const auto operand = [&](std::string_view name) {
    return node.has_attr(name) ? emit.scalar(t, node.attr<double>(name)) : Value();
  };
  std::vector<Value> inputs{node.in(0), operand("min"), operand("max")};
  while (inputs.size() > 1 && !inputs.back()) inputs.pop_back();
  return emit.op("Clip", inputs);
}

/// pads and value were attributes.
GANTRY_UPGRADE(onnx, "Pad", versions(2, 10)) {
  return emit.op(
      "Pad", {node.in(0), emit.i64(node.attr<Dims>("pads")), emit.scalar(node.in(0).dtype(), node.attr("value", 0.0))},
      {{"mode", node.attr("mode", "constant")}});
}

/// starts, ends and axes were attributes, and there were no steps.
GANTRY_UPGRADE(onnx, "Slice", versions(1, 9)) {
  std::vector<Value> inputs{node.in(0), emit.i64(node.attr<Dims>("starts")), emit.i64(node.attr<Dims>("ends"))};
  if (node.has_attr("axes")) inputs.push_back(emit.i64(node.attr<Dims>("axes")));
  return emit.op("Slice", inputs);
}

namespace {

/// Before opset 13 the axes from `axis` on were normalised together, as one.
Results flattening(const Node& node, const Emit& emit) {
  const Value x = node.in(0);
  const auto axis = node.attr<std::int64_t>("axis", 1);
  const int at = axis == x.rank() ? x.rank() : normalize_axis(axis, x.rank());
  if (at == x.rank() - 1) return emit.op(node.op(), {x}, {{"axis", -1}});
  const Value rows = emit.op("Flatten", {x}, {{"axis", at}});
  const Value y = emit.op(node.op(), {rows}, {{"axis", -1}});
  return emit.op("Reshape", {y, emit.op("Shape", {x})});
}

}  // namespace

GANTRY_UPGRADE(onnx, "Softmax", versions(1, 12)) { return flattening(node, emit); }
GANTRY_UPGRADE(onnx, "Hardmax", versions(1, 12)) { return flattening(node, emit); }
GANTRY_UPGRADE(onnx, "LogSoftmax", versions(1, 12)) { return flattening(node, emit); }

/// Upsample is Resize with asymmetric coordinates, rounding down.
GANTRY_UPGRADE(onnx, "Upsample", versions(7, 9)) {
  const Value scales =
      node.in(1) ? node.in(1) : emit.constant<float>({node.in(0).rank()}, node.attr<std::vector<float>>("scales"));
  return emit.op("Resize", {node.in(0), Value(), scales},
                 {{"mode", node.attr("mode", "nearest")},
                  {"coordinate_transformation_mode", "asymmetric"},
                  {"nearest_mode", "floor"}});
}

/// Resize-10 is Upsample under its new name.
GANTRY_UPGRADE(onnx, "Resize", versions(10, 10)) {
  return emit.op("Resize", {node.in(0), Value(), node.in(1)},
                 {{"mode", node.attr("mode", "nearest")},
                  {"coordinate_transformation_mode", "asymmetric"},
                  {"nearest_mode", "floor"}});
}

/// `spatial` and the extra results of training are gone.
GANTRY_UPGRADE(onnx, "BatchNormalization", versions(7, 13)) {
  decline_if(node.attr("spatial", 1) != 1, "spatial = 0");
  for (std::size_t i = 1; i < node.out_count(); ++i)
    decline_if(node.out(i) && node.out(i).use_count() > 0, "results of training are used");
  std::vector<Value> results{emit.op("BatchNormalization", node.ins(), {{"epsilon", node.attr("epsilon", 1e-5f)}})};
  results.resize(node.out_count());
  return results;
}

/// Scale and bias were those of a group; now each channel has its own.
GANTRY_UPGRADE(onnx, "GroupNormalization", versions(18, 20)) {
  const auto groups = node.attr<std::int64_t>("num_groups");
  const std::int64_t channels = node.in(0).dim(1);
  decline_if(channels < 1 || groups < 1 || channels % groups, groups, " groups of ", channels, " channels");
  const auto of_channels = [&](const Value& v) {
    if (v.dim(0) == channels) return v;
    const Value columns = emit.reshape(v, {groups, 1});
    return emit.reshape(emit.op("Expand", {columns, emit.i64({groups, channels / groups})}), {channels});
  };
  return emit.op("GroupNormalization", {node.in(0), of_channels(node.in(1)), of_channels(node.in(2))},
                 attributes_of(node));
}

/// ratio was an attribute; at inference nothing is dropped.
GANTRY_UPGRADE(onnx, "Dropout", versions(7, 11)) { return emit.ops("Dropout", node.out_count(), {node.in(0)}); }

}  // namespace core_ops
