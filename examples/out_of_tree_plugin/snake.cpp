// Snake(x) = x + sin(a x)^2 / a, the periodic activation of L. Ziyin, T. Hartwig and M. Ueda, "Neural Networks Fail to
// Learn Periodic Functions and How to Fix It", 2020. Operator com.example::Snake, attribute a (float, default 1).
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {
constexpr Domain example = onnx_domain("com.example");
}

// The owner of a domain says what type a result has; the operator keeps its operand's.
GANTRY_DEFINE(example, "Snake", infer(infer_like_first))

GANTRY_CONVERT(example, "Snake", since(1), to(tflite)) {
  const Value x = node.in(0);
  const float a = node.attr("a", 1.0f);
  decline_if(a == 0, "attribute a must not be 0");
  const Value s = emit.op("SIN", {emit.mul(x, a)});
  return emit.add(x, emit.div(emit.mul(s, s), a));
}

GANTRY_PLUGIN("com.example.snake", "1.0.0", license("Apache-2.0"), description("The Snake activation"),
              depends("org.gantry.core-ops"))
