// transformer: owner of com.microsoft, what ONNX Runtime's optimiser writes in place of attention and its like. Its
// operators become those of ai.onnx, which org.gantry.core-ops converts. Also patterns of what is spelled out, and
// cheaper converters of normalisations and rotary embedding.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

GANTRY_PLUGIN("org.gantry.transformer", GANTRY_VERSION, license("Apache-2.0"), depends("org.gantry.core-ops"),
              description("Operators of com.microsoft, in terms of ai.onnx; patterns of attention and normalisation."))
