// A layer that its user registered as `example>Gain`:
//
//     @keras.saving.register_keras_serializable("example")
//     class Gain(keras.layers.Layer):
//         def __init__(self, power=1.0, **kwargs): ...
//         def build(self, shape): self.gain = self.add_weight(shape=shape[-1:], name="gain")
//         def call(self, x): return self.gain * ops.sign(x) * ops.abs(x) ** self.power
//
// Its node has the class as its operator and the package as its domain; its operands are the tensors that the layer is
// called with, then its weights in the order in which the layer made them; its attributes are its configuration.
#include <gantry/sdk.hpp>

using namespace gantry::sdk;

namespace {

constexpr Domain example{"keras", "example"};

GANTRY_CONVERT(example, "Gain", to(onnx)) {
  decline_if(node.in_count() != 2, "it has ", node.in_count() - 1, " weights, not one");
  const Value x = node.in(0), gain = node.in(1);
  const Value power = emit.scalar(DType::float32, node.attr<double>("power", 1.0));
  return emit.mul(emit.mul(gain, emit.op("Sign", {x})), emit.op("Pow", {emit.op("Abs", {x}), power}));
}

}  // namespace

GANTRY_PLUGIN("com.example.gain", "1.0.0", license("Apache-2.0"), description("The layer example>Gain"),
              depends("org.gantry.keras", "org.gantry.core-ops"))
