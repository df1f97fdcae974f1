// The SDK of plugin authors: C++20 over gantry/abi.h, header only. A whole plugin:
//
//   #include <gantry/sdk.hpp>
//   using namespace gantry::sdk;
//
//   // Celu(x) = max(0, x) + min(0, a * (exp(x / a) - 1)), which is a * ELU(x / a).
//   GANTRY_CONVERT(onnx, "Celu", since(12), to(tflite)) {
//     const float a = node.attr("alpha", 1.0f);
//     return emit.mul(emit.op("ELU", {emit.div(node.in(0), a)}), a);
//   }
//   GANTRY_PLUGIN("com.example.celu", "1.0", license("MIT"), depends("org.gantry.core-ops"))
//
// Functions of a plugin may throw: decline("reason") says that this form cannot be converted (the host then tries other
// ways, and shows the reason if there is none), any other exception is a failure of the plugin. Nothing of it crosses
// the boundary. See docs/adding-an-op.md and examples/out_of_tree_plugin.
#pragma once

#include "gantry/abi.h"
#include "gantry/sdk/core.hpp"
#include "gantry/sdk/emit.hpp"
#include "gantry/sdk/format.hpp"
#include "gantry/sdk/graph.hpp"
#include "gantry/sdk/infer.hpp"
#include "gantry/sdk/match.hpp"
#include "gantry/sdk/register.hpp"
