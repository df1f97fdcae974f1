// Average pools whose factor 1 / area is quantized.
#include "constants.hpp"
#include "layers.hpp"

namespace gantry::quant {
namespace {

// Q(1 / area)
float quantized_factor(const Quantizer& q, double area) {
  decline_if(q.alpha().from_data(), "an average_quantizer with alpha 'auto'");
  return quantized_values(q, {static_cast<float>(1.0 / area)}, {})[0];
}

Value scaled(const Node& node, const Emit& emit, const Value& x, double by) {
  return keras_node(
      emit, "", "Rescaling", {x},
      {{"scale", by}, {"operand_count", 1}, {"keras_version", node.attr<std::int64_t>("keras_version", 2)}});
}

// QKeras 0.9.0: average(x) area Q(1 / area). Later ones multiply by the area first.
Value average_pool(const Node& node, const Emit& emit) {
  const auto q = quantizer_in(node, "average_quantizer");
  Value y = node.in(operand_count(node) - 1);
  Dims size = node.attribute_kind("pool_size") == GANTRY_ATTR_INTS ? node.attr<Dims>("pool_size")
                                                                   : Dims(2, node.attr<std::int64_t>("pool_size", 2));
  decline_if(size.size() != 2, "a pool over ", size.size(), " axes");
  const auto area = static_cast<double>(size[0] * size[1]);
  const bool first = node.attr<std::int64_t>("keras_version", 2) >= 3;
  if (q && first) y = scaled(node, emit, y, area);
  y = keras_node(emit, "", "AveragePooling2D", {y}, plain_attributes(node));
  if (q && !first) y = scaled(node, emit, y, area);
  if (q) y = scaled(node, emit, y, quantized_factor(*q, area));
  return activated(node, emit, y, node.attr<std::string>("activation", ""));
}

GANTRY_CONVERT(qkeras, "QAveragePooling2D", to(qkeras)) {
  return or_refused(node, emit, [&] { return average_pool(node, emit); });
}

// 0.9.0: average(x) area Q(1 / area); later: sum(x) Q(1 / area).
GANTRY_CONVERT(qkeras, "QGlobalAveragePooling2D", to(onnx)) {
  const Value x = node.in(operand_count(node) - 1);
  const auto q = quantizer_in(node, "average_quantizer");
  const bool first = node.attr<std::string>("data_format", "channels_last") == "channels_first";
  const Dims axes = first ? Dims{2, 3} : Dims{1, 2};
  decline_if(x.rank() != 4, "QGlobalAveragePooling2D over a tensor of rank ", x.rank());
  const std::int64_t h = x.dim(first ? 2 : 1), w = x.dim(first ? 3 : 2);
  const Attributes keep{{"keepdims", node.attr<std::int64_t>("keepdims", 0)}};
  const bool sum = q && node.attr<std::int64_t>("keras_version", 2) >= 3;
  Value y = emit.op(sum ? "ReduceSum" : "ReduceMean", {x, emit.i64(axes)}, keep);
  if (q) {
    decline_if(h < 0 || w < 0, "the mean over an image of unknown size has no factor to quantize");
    if (!sum) y = emit.mul(y, static_cast<double>(h * w));
    y = emit.mul(y, quantized_factor(*q, static_cast<double>(h * w)));
  }
  const auto activation = quantizer_in(node, "activation");
  return activation ? emit_activation(emit, y, *activation) : y;
}

}  // namespace
}  // namespace gantry::quant
