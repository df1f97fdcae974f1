#!/usr/bin/env python3
"""Writes the example models: one with the custom operator, one that spells the same function out in ai.onnx."""
import pathlib

import onnx
from onnx import helper, parser

HERE = pathlib.Path(__file__).resolve().parent

SNAKE = """
<ir_version: 8, opset_import: ["" : 17, "com.example" : 1]>
g (float[2,3,4] x) => (float[2,3,4] y) {{ {body} }}
"""
SOFTCLIP = """
<ir_version: 8, opset_import: ["" : 17, "com.example.softclip" : 1]>
g (float[5,4] x) => (float[5,4] y) {{ {body} }}
"""
MODELS = {
    "snake": (SNAKE, "r = Relu(x) y = com.example.Snake<a = 2.5>(r)"),
    "snake_reference": (
        SNAKE,
        "r = Relu(x) a = Constant<value_float = 2.5>() ax = Mul(r, a) s = Sin(ax) s2 = Mul(s, s) d = Div(s2, a) y = Add(r, d)",
    ),
    "softclip": (SOFTCLIP, "y = com.example.softclip.SoftClip<limit = 0.75>(x)"),
    "softclip_reference": (
        SOFTCLIP,
        "l = Constant<value_float = 0.75>() d = Div(x, l) t = Tanh(d) y = Mul(t, l)",
    ),
}

for name, (frame, body) in MODELS.items():
    model = parser.parse_model(frame.format(body=body))
    onnx.save(model, HERE / f"{name}.onnx")
