#!/usr/bin/env python3
"""keras_mobilenet.py OUT.h5: MobileNetV2 (width 1, 224 x 224, 1,000 classes; 3.5 million weights) as Keras 2 writes it,
with random weights. Written with h5py: no TensorFlow."""
import json
import sys

import h5py
import numpy as np

# M. Sandler et al., "MobileNetV2", 2018, table 2: expansion, channels, repeats, stride of the first.
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


class Model:
    def __init__(self):
        self.layers, self.weights, self.rng = [], [], np.random.default_rng(0)

    def layer(self, kind, name, sources, config=None, **weights):
        nodes = [[[s, 0, 0, {}] for s in sources]] if sources else []
        config = {"name": name, "trainable": True, "dtype": "float32"} | (config or {})
        self.layers.append({"class_name": kind, "config": config, "name": name, "inbound_nodes": nodes})
        self.weights.append((name, weights))
        return name

    def convolution(self, name, source, channels, filters, size, stride):
        kernel = self.rng.standard_normal((size, size, channels, filters), dtype=np.float32) * 0.05
        config = {"filters": filters, "kernel_size": [size] * 2, "strides": [stride] * 2, "padding": "same",
                  "use_bias": False, "activation": "linear"}
        return self.normalized(self.layer("Conv2D", name, [source], config, kernel=kernel), filters)

    def depthwise(self, name, source, channels, stride):
        kernel = self.rng.standard_normal((3, 3, channels, 1), dtype=np.float32) * 0.2
        config = {"kernel_size": [3, 3], "strides": [stride] * 2, "padding": "same", "use_bias": False,
                  "depth_multiplier": 1, "activation": "linear"}
        return self.normalized(self.layer("DepthwiseConv2D", name, [source], config, depthwise_kernel=kernel), channels)

    def normalized(self, source, channels):
        one, zero = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        return self.layer("BatchNormalization", source + "_BN", [source], {"axis": [3], "epsilon": 1e-3}, gamma=one,
                          beta=zero, moving_mean=zero, moving_variance=one)

    def bounded(self, source):
        return self.layer("ReLU", source + "_relu", [source], {"max_value": 6.0, "negative_slope": 0.0, "threshold": 0.0})

    def save(self, path, output):
        config = {"class_name": "Functional",
                  "config": {"name": "mobilenetv2", "layers": self.layers, "input_layers": [["input", 0, 0]],
                             "output_layers": [[output, 0, 0]]}}
        with h5py.File(path, "w") as f:
            f.attrs["model_config"], f.attrs["keras_version"] = json.dumps(config), "2.14.0"
            root = f.create_group("model_weights")
            root.attrs["layer_names"] = [name.encode() for name, _ in self.weights]
            for name, weights in self.weights:
                group = root.create_group(name)
                group.attrs["weight_names"] = [f"{name}/{key}:0".encode() for key in weights]
                for key, values in weights.items():
                    group[f"{name}/{key}:0"] = values


def mobilenet_v2():
    m = Model()
    m.layer("InputLayer", "input", [], {"batch_input_shape": [None, 224, 224, 3]})
    x, channels = m.bounded(m.convolution("Conv1", "input", 3, 32, 3, 2)), 32
    number = 0
    for expansion, filters, repeats, stride in BLOCKS:
        for i in range(repeats):
            before, wide, name = x, channels * expansion, f"block_{number}"
            if expansion > 1:
                x = m.bounded(m.convolution(name + "_expand", x, channels, wide, 1, 1))
            x = m.bounded(m.depthwise(name + "_depthwise", x, wide, stride if i == 0 else 1))
            x = m.convolution(name + "_project", x, wide, filters, 1, 1)
            if i > 0:
                x = m.layer("Add", name + "_add", [before, x])
            channels, number = filters, number + 1
    x = m.bounded(m.convolution("Conv_1", x, channels, 1280, 1, 1))
    x = m.layer("GlobalAveragePooling2D", "pool", [x])
    kernel = m.rng.standard_normal((1280, 1000), dtype=np.float32) * 0.02
    x = m.layer("Dense", "predictions", [x], {"units": 1000, "activation": "softmax", "use_bias": True}, kernel=kernel,
                bias=np.zeros(1000, np.float32))
    return m, x


if __name__ == "__main__":
    model, output = mobilenet_v2()
    model.save(sys.argv[1], output)
