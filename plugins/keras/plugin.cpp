// keras: reads models of Keras 2 and 3, with layers of QKeras too, and turns Keras' own layers into ONNX.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

GANTRY_OPTION("batch", 1, "size of the batch where the model leaves it open; -1 keeps it open")

GANTRY_PLUGIN("org.gantry.keras", GANTRY_VERSION, license("Apache-2.0"), depends("org.gantry.core-ops"),
              description("Models of Keras and QKeras: .h5, .keras, JSON with weights; Keras' layers as ONNX."))
