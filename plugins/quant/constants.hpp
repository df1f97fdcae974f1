// What quantizers make of weights, in float32 as QKeras computes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/sdk.hpp>

#include "quantizer.hpp"

namespace gantry::quant {

/// values = integer * step, elementwise; integers of so many bits.
struct QuantizedWeight {
  enum class Form : std::uint8_t {
    quant,    // Quant(step, bits, signed, narrow)
    bipolar,  // BipolarQuant(step): x >= 0 -> step, else -step
    plain,    // no operator says it
    other,    // not known here: the quantizer as one of activations
  };
  Form form = Form::other;
  std::vector<float> values;   // quantized; empty: the weight as it is, which the operator quantizes
  std::vector<float> step{1};  // one, or one for each element of the last axis
  double bits = 0;
  bool is_signed = true, narrow = false;
};

/// The weight has these dims; channels are along the last axis. Declines quantizers that are random.
QuantizedWeight quantize(const Quantizer& q, const std::vector<float>& w, const sdk::Dims& dims);

/// The values alone.
std::vector<float> quantized_values(const Quantizer& q, const std::vector<float>& w, const sdk::Dims& dims);

/// Exponents of quantized_po2 and quantized_relu_po2.
struct Po2Range {
  double low = 0, high = 0;  // of exponents, before they are doubled where `quadratic` (below 1e-7: low itself)
  bool quadratic = false, floor = false;
  double max_value = 0;  // 0: none
  double lowest() const { return quadratic ? 2 * low : low; }
  double highest() const { return quadratic ? 2 * high : high; }
};
Po2Range po2_range(const Quantizer& q);

}  // namespace gantry::quant
