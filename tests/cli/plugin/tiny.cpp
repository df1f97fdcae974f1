// A plugin for the tests of the command line: one operator of its own domain, options of every type.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

GANTRY_OPTION("refuse", false, "Decline every node")
GANTRY_OPTION("limit", std::int64_t{3}, "A number without use")
GANTRY_OPTION("factor", 0.5f, "Another one")

// Tiny(x) = |x|
GANTRY_CONVERT(onnx_domain("com.example.tiny"), "Tiny", to(tflite)) {
  decline_if(node.call().option<bool>("refuse"), "the option refuse is set");
  return emit.op("ABS", {node.in(0)});
}

// Infers: the type of the operand.
GANTRY_DEFINE(onnx_domain("com.example.tiny"), "Tiny", infer(infer_like_first))

GANTRY_PLUGIN("com.example.tiny", "1.2.3", license("MIT"), depends("org.gantry.core-ops"))
