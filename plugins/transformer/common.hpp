// What the families share: all of it emits operators of ai.onnx.
// Operators: microsoft/onnxruntime, docs/ContribOperators.md.
#pragma once

#include <gantry/sdk.hpp>

namespace transformer {

using namespace gantry::sdk;

constexpr Domain kMicrosoft = onnx_domain("com.microsoft");

/// Result i is there and somebody reads it.
inline bool wanted(const Node& node, std::size_t i) {
  const Value v = node.out(i);
  return v && (v.use_count() > 0 || v.is_output());
}

/// Half-precision numbers in float32, as ONNX Runtime computes what would lose digits; other types stay.
inline DType wide(DType t) { return t == DType::float16 || t == DType::bfloat16 ? DType::float32 : t; }
inline Value widened(const Emit& emit, const Value& v) { return v ? emit.cast(v, wide(v.dtype())) : v; }

}  // namespace transformer
