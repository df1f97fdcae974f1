#!/usr/bin/env python3
"""Writes ONNX's own operator tests, which the onnx package makes in Python, to a folder for tests/nodes/.

One folder a test: model.onnx, inputs.npz and outputs.npz, whose members are named as in the graph. Left out are tests of
what a TFLite signature or NumPy cannot hold (sequences, optional values, maps, strings, complex numbers, 4- and 8-bit
floats, bfloat16, 4-bit integers) and of training; left_out.txt names each with the reason.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node as node_cases

HELD = {onnx.TensorProto.DataType.Value(n) for n in
        "FLOAT FLOAT16 DOUBLE INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL".split()}


def reason(case):
    for value in [*case.model.graph.input, *case.model.graph.output]:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            return f"{value.name}: {kind}"
        if value.type.tensor_type.elem_type not in HELD:
            return f"{value.name}: {onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)}"
    if any(n.domain == "ai.onnx.preview.training" for n in case.model.graph.node):
        return "training"
    return None if case.model.graph.output else "no output"


def array(tensor):
    return numpy_helper.to_array(tensor) if isinstance(tensor, onnx.TensorProto) else np.asarray(tensor)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True)
    left_out = []
    for case in sorted(node_cases.collect_testcases(), key=lambda c: c.name):
        why = reason(case)
        if why:
            left_out.append(f"{case.name}\t{why}\n")
            continue
        folder = out / case.name
        folder.mkdir()
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        inputs, outputs = case.data_sets[0]
        graph = case.model.graph
        np.savez(folder / "inputs.npz", **{v.name: array(t) for v, t in zip(graph.input, inputs)})
        np.savez(folder / "outputs.npz", **{v.name: array(t) for v, t in zip(graph.output, outputs)})
    (out / "left_out.txt").write_text("".join(left_out))


if __name__ == "__main__":
    main()
