#!/usr/bin/env python3
"""Writes the seeds of fuzz_onnx_reader: small models that between them use every part of the format.

    .deps/venv/bin/python tests/fuzz/make_onnx_seeds.py
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "corpus" / "onnx_reader"

TEXTS = {
    "conv": """
        <ir_version: 8, opset_import: ["" : 17], producer_name: "seed">
        g (float[1,2,4,4] x) => (float[N,M] y) <float[2,2,1,1] w = {1, 2, 3, 4}, int64[2] to = {1, -1}> {
          a = Conv <strides = [1, 1], auto_pad = "SAME_UPPER"> (x, w)
          b = HardSwish (a)
          y = Reshape (b, to)
        }""",
    "subgraphs": """
        <ir_version: 10, opset_import: ["" : 17]>
        g (float[2] x, bool c, float[3,2] z) => (y, l, s, all) {
          n = Constant <value_int = 3> ()
          y = If (c) <then_branch = t () => (p) { p = Relu (x) }, else_branch = e () => (q) { q = Neg (x) }>
          l = Loop (n, c, y) <body = b (i, k, v) => (k2, v2) { k2 = Identity (k) v2 = Add (v, v) }>
          s, all = Scan <num_scan_inputs = 1, body = d (h, r) => (h2, r2) { h2 = Add (h, r) r2 = Neg (r) }> (x, z)
        }""",
    "functions": """
        <ir_version: 10, opset_import: ["" : 17, "f" : 1, "com.microsoft" : 1]>
        g (float[2,3] x) => (y) { a = f.outer <by = 2.0> (x) y = com.microsoft.Gelu (a) }
        <domain: "f", opset_import: ["" : 17, "f" : 1]>
        outer <by, axis: int = 1> (a) => (b) { k = f.scale <by: float = @by> (a) b = Softmax <axis: int = @axis> (k) }
        <domain: "f", opset_import: ["" : 17]>
        scale <by> (a) => (b) { k = Constant <value_float: float = @by> () b = Mul (a, k) }""",
    "shapes": """
        <ir_version: 10, opset_import: ["" : 20]>
        g (float[N,6,4] x) => (y) {
          s = Shape <start = 0, end = 1> (x)
          rest = Constant <value_ints = [24]> ()
          to = Concat <axis = 0> (s, rest)
          r = Reshape (x, to)
          y = Gelu <approximate = "tanh"> (r)
        }""",
    "omitted": """
        <ir_version: 7, opset_import: ["" : 14, "ai.onnx.ml" : 2]>
        g (float[5,1,2] x, float[1,12,2] w, float[1,12,3] r) => (y) {
          , h, = LSTM <hidden_size = 3> (x, w, r, , , , , )
          y = ai.onnx.ml.Scaler <offset = [1.0], scale = [2.0]> (h)
        }""",
}


def tensors():
    """Tensors of every kind: in every field, cut out, sparse, external, of strings."""
    large = numpy_helper.from_array(np.zeros(300, np.float32), "large")
    floats = helper.make_tensor("floats", TensorProto.FLOAT, [300], [0.5] * 300)
    initializers = [
        large,
        floats,
        helper.make_tensor("halves", TensorProto.FLOAT16, [2], [1.0, 2.0]),
        helper.make_tensor("nibbles", TensorProto.INT4, [3], [1, -2, 3]),
        helper.make_tensor("doubles", TensorProto.DOUBLE, [1], [1.0]),
        helper.make_tensor("words", TensorProto.UINT32, [1], [7]),
        helper.make_tensor("strings", TensorProto.STRING, [2], [b"a", b"b"]),
    ]
    external = TensorProto(name="external", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    external.external_data.add(key="location", value="weights.bin")
    external.external_data.add(key="offset", value="0")
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1.0, 2.0]),
        helper.make_tensor("indices", TensorProto.INT64, [2], [1, 3]),
        [2, 2],
    )
    graph = helper.make_graph(
        [helper.make_node("Add", ["large", "floats"], ["y"], name="add")],
        "tensors",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [300])],
        initializers,
        sparse_initializer=[sparse],
    )
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    with_external = onnx.ModelProto.FromString(model.SerializeToString())
    with_external.graph.initializer.append(external)
    return {"tensors": model, "external": with_external}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    models = {name: onnx.parser.parse_model(text) for name, text in TEXTS.items()} | tensors()
    for name, model in models.items():
        (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())
    print(f"{len(models)} seeds in {FOLDER}")


if __name__ == "__main__":
    main()
