// Quantizers as nodes of ONNX.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <gantry/sdk.hpp>

#include "quantizer.hpp"

namespace gantry::quant {

using namespace gantry::sdk;

inline constexpr std::string_view kQonnx = "qonnx.custom_op.general";
inline constexpr Domain qonnx{"onnx", kQonnx};
inline constexpr Domain keras{"keras", ""};
inline constexpr Domain qkeras{"keras", "qkeras"};

/// What Quant says: y = round(clamp(x / step, low, high)) * step.
struct Uniform {
  Value step;  // a scalar, or of x's rank
  double bits = 8;
  bool is_signed = true, narrow = false;
  std::string rounding = "ROUND";
};

/// As the option `output` says. Declines what QCDQ cannot say exactly.
Value emit_uniform(const Emit& emit, const Value& x, const Uniform& u);
/// x >= 0: step, else -step
Value emit_bipolar(const Emit& emit, const Value& x, const Value& step);

/// A quantizer of activations, or a function of QKeras. Declines what depends on the data or on chance.
Value emit_activation(const Emit& emit, const Value& x, const Quantizer& q);
/// A quantizer of a constant weight.
Value emit_weight(const Emit& emit, const Value& w, const Quantizer& q);

/// A scalar constant, or a vector along the last axis of a value of this rank.
Value factor(const Emit& emit, const std::vector<float>& values, int rank);
Value clip(const Emit& emit, const Value& x, double low, double high);

/// The quantizer in an attribute; nullopt: absent or linear.
std::optional<Quantizer> quantizer_in(const Node& node, std::string_view attribute);

}  // namespace gantry::quant
