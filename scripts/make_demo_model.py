#!/usr/bin/env python3
"""Writes a network built like MobileNetV2 (1.0, 224) to an ONNX file, with seeded random weights.

Stem, seventeen inverted residual blocks (each convolution followed by its BatchNormalization, ReLU6 as Clip), global
average pool, Flatten, Gemm: 3.5 million parameters, input "input" float32 [1,3,224,224], output "logits" [1,1000].
The weights keep the activations' spread near one from layer to layer, so that a comparison of two runtimes is
as telling as on a trained network.
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# expansion, channels, repeats, stride of the first (table 2 of "MobileNetV2: Inverted Residuals and Linear Bottlenecks")
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
STEM, HEAD, CLASSES = 32, 1280, 1000


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.initializers = []
        self.constant("relu6_min", np.float32(0))
        self.constant("relu6_max", np.float32(6))

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, name, inputs, **attributes):
        output = f"{name}_output"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def conv_bn(self, name, x, channels_in, channels_out, kernel=1, stride=1, group=1, relu6=True):
        """Convolution without bias, BatchNormalization and, unless the block is linear, ReLU6."""
        shape = (channels_out, channels_in // group, kernel, kernel)
        scale = np.sqrt(2.0 / np.prod(shape[1:]))
        weight = self.constant(f"{name}.weight", self.random.normal(0, scale, shape).astype(np.float32))
        x = self.node("Conv", f"{name}/Conv", [x, weight], dilations=[1, 1], group=group, kernel_shape=[kernel] * 2,
                      pads=[kernel // 2] * 4, strides=[stride] * 2)
        x = self.node("BatchNormalization", f"{name}/BatchNormalization", [x, *self.batch_norm(name, channels_out)],
                      epsilon=1e-5, momentum=0.9)
        return self.node("Clip", f"{name}/Clip", [x, "relu6_min", "relu6_max"]) if relu6 else x

    def batch_norm(self, name, channels):
        uniform = self.random.uniform
        statistics = {
            "scale": uniform(0.8, 1.2, channels),
            "bias": uniform(-0.1, 0.3, channels),
            "mean": uniform(-0.1, 0.1, channels),
            "var": uniform(0.7, 1.3, channels),
        }
        return [self.constant(f"{name}.bn.{key}", value.astype(np.float32)) for key, value in statistics.items()]

    def inverted_residual(self, name, x, channels_in, channels_out, expansion, stride):
        hidden = channels_in * expansion
        y = x
        if expansion != 1:
            y = self.conv_bn(f"{name}.expand", y, channels_in, hidden)
        y = self.conv_bn(f"{name}.depthwise", y, hidden, hidden, kernel=3, stride=stride, group=hidden)
        y = self.conv_bn(f"{name}.project", y, hidden, channels_out, relu6=False)
        if stride == 1 and channels_in == channels_out:
            y = self.node("Add", f"{name}/Add", [x, y])
        return y


def make_model(seed):
    b = Builder(seed)
    x = b.conv_bn("stem", "input", 3, STEM, kernel=3, stride=2)
    channels, number = STEM, 0
    for expansion, channels_out, repeats, first_stride in BLOCKS:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            x = b.inverted_residual(f"block{number}", x, channels, channels_out, expansion, stride)
            channels, number = channels_out, number + 1
    x = b.conv_bn("head", x, channels, HEAD)
    x = b.node("GlobalAveragePool", "pool/GlobalAveragePool", [x])
    x = b.node("Flatten", "pool/Flatten", [x], axis=1)
    weight = b.constant("classifier.weight", b.random.normal(0, np.sqrt(1 / HEAD), (CLASSES, HEAD)).astype(np.float32))
    bias = b.constant("classifier.bias", b.random.uniform(-0.1, 0.1, CLASSES).astype(np.float32))
    b.nodes.append(helper.make_node("Gemm", [x, weight, bias], ["logits"], name="classifier/Gemm", transB=1))

    graph = helper.make_graph(
        b.nodes, "mobilenet_like",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, CLASSES])],
        b.initializers,
    )
    model = helper.make_model(graph, producer_name="gantry demo", ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    model = make_model(arguments.seed)
    onnx.save(model, arguments.output)
    parameters = sum(int(np.prod(t.dims)) for t in model.graph.initializer)
    print(f"{arguments.output}: {len(model.graph.node)} nodes, {parameters / 1e6:.2f} million parameters")


if __name__ == "__main__":
    main()
