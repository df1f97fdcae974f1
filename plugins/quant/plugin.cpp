// quant: QKeras' layers and quantizers, and the operators of QONNX.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

GANTRY_OPTION("output", "qonnx",
              "how quantizers are written: qonnx (Quant), qcdq (QuantizeLinear, Clip, DequantizeLinear), onnx (float)")
GANTRY_OPTION("rounding_mode", "ROUND",
              "how quantizers of activations round ties: ROUND (to even, as Keras does), HALF_UP, HALF_DOWN, ...")

GANTRY_PLUGIN("org.gantry.quant", GANTRY_VERSION, license("Apache-2.0"), depends("org.gantry.core-ops"),
              description("Layers and quantizers of QKeras; operators of QONNX."))
