// QAdaptiveActivation: a quantizer whose integer bits follow from the range that was seen in training.
#include <algorithm>
#include <cmath>

#include "layers.hpp"

namespace gantry::quant {
namespace {

// Bits left of the point for one side of the range.
double side(double value, double unsigned_bits, bool rounds, bool one_less) {
  const double log = std::log2(std::fabs(value)), positive = log > 0 ? log : 0;
  if (rounds) return std::nearbyint(positive);
  const double bits = std::ceil(positive);
  if (!one_less) return bits;
  const double most = std::exp2(bits) - std::exp2(std::min(bits - unsigned_bits, 0.0));
  return std::fabs(value) <= most ? bits : bits + 1;
}

Value adaptive(const Node& node, const Emit& emit) {
  const std::size_t n = operand_count(node);
  const std::string activation = node.attr<std::string>("activation", "");
  decline_if(activation != "quantized_bits" && activation != "quantized_relu", "QAdaptiveActivation of '", activation,
             "'");
  const bool relu = activation == "quantized_relu", rounds = node.attr<std::int64_t>("po2_rounding", 0) != 0;
  const auto number = [&](std::string_view name, double otherwise) {
    return node.attribute_kind(name) == GANTRY_ATTR_FLOAT
               ? node.attr<double>(name)
               : static_cast<double>(node.attr<std::int64_t>(name, static_cast<std::int64_t>(otherwise)));
  };
  const double bits = number("total_bits", 8), slope = number("relu_neg_slope", 0);
  const bool symmetric = node.attr<std::int64_t>("symmetric", 1) != 0, negative = !relu || slope != 0;
  const double unsigned_bits = bits - negative;
  std::vector<float> low = node.in(n).read<float>(), high = node.in(n + 1).read<float>();
  decline_if(low.size() != high.size() || low.empty(), "the sizes of its weights do not fit");
  Json integers = Json::array();
  for (std::size_t i = 0; i < low.size(); ++i) {
    const double a = negative ? low[i] : std::max(low[i], 0.0F), b = negative ? high[i] : std::max(high[i], 0.0F);
    const double most = std::max(side(a, unsigned_bits, rounds, symmetric), side(b, unsigned_bits, rounds, true));
    integers.push_back(static_cast<std::int64_t>(std::min(unsigned_bits, most)));
  }
  Json config = {{"bits", bits}, {"integer", integers.size() == 1 ? integers[0] : integers}, {"alpha", 1.0}};
  if (relu) {
    config["negative_slope"] = slope;
  } else {
    config["symmetric"] = symmetric;
  }
  return activated(node, emit, node.in(0), Json{{"class_name", activation}, {"config", config}}.dump());
}

GANTRY_CONVERT(qkeras, "QAdaptiveActivation", to(qkeras)) {
  return or_refused(node, emit, [&] { return adaptive(node, emit); });
}

}  // namespace
}  // namespace gantry::quant
