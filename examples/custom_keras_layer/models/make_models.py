#!/usr/bin/env python3
"""Writes gain.h5, a Keras model with the custom layer example>Gain, and reference.onnx, the same in plain ONNX."""
import json
import pathlib

import h5py
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent
KERNEL = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
GAIN = np.array([0.5, 2, -1], np.float32)

layers = [
    {"class_name": "InputLayer", "name": "x", "config": {"name": "x", "batch_input_shape": [None, 4]}, "inbound_nodes": []},
    {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 3, "use_bias": False, "activation": "linear"},
     "inbound_nodes": [[["x", 0, 0, {}]]]},
    {"class_name": "example>Gain", "name": "g", "config": {"name": "g", "power": 1.5}, "inbound_nodes": [[["d", 0, 0, {}]]]},
]
config = {"class_name": "Functional", "config": {"name": "m", "layers": layers, "input_layers": [["x", 0, 0]],
                                                 "output_layers": [["g", 0, 0]]}}
with h5py.File(FOLDER / "gain.h5", "w") as f:
    f.attrs["model_config"], f.attrs["keras_version"] = json.dumps(config), "2.14.0"
    root = f.create_group("model_weights")
    root.attrs["layer_names"] = [b"x", b"d", b"g"]
    for layer, weights in (("x", {}), ("d", {"kernel": KERNEL}), ("g", {"gain": GAIN})):
        group = root.create_group(layer)
        group.attrs["weight_names"] = [f"{layer}/{key}:0".encode() for key in weights]
        for key, values in weights.items():
            group[f"{layer}/{key}:0"] = values

nodes = [helper.make_node("MatMul", ["x", "kernel"], ["d"]), helper.make_node("Sign", ["d"], ["s"]),
         helper.make_node("Abs", ["d"], ["a"]), helper.make_node("Pow", ["a", "power"], ["p"]),
         helper.make_node("Mul", ["s", "p"], ["sp"]), helper.make_node("Mul", ["sp", "gain"], ["g"])]
constants = [numpy_helper.from_array(v, n) for n, v in
             (("kernel", KERNEL), ("gain", GAIN), ("power", np.array(1.5, np.float32)))]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
                          [helper.make_tensor_value_info("g", TensorProto.FLOAT, [1, 3])], constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), FOLDER / "reference.onnx")
