// core_ops: owner of the operators of ai.onnx and of TFLite, plain and exact.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

GANTRY_PLUGIN("org.gantry.core-ops", GANTRY_VERSION, license("Apache-2.0"),
              description("Operators of ai.onnx and of TFLite: converters, type inference, limits, folding."))
