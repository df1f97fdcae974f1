#!/usr/bin/env python3
"""Ratios in one run: what a conversion costs against copying the file.

    .deps/venv/bin/python benchmarks/ratios.py [--gantry build/release/bin/gantry] [--runs 7]

For each model: median wall time of `gantry convert` as a process and of `cp --reflink=never`, warm, taken in turns; their
ratio; and the peak of anonymous memory (RssAnon, polled each millisecond). Machines differ and are noisy: compare the
ratios of one run, not times of two.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]


def one_operator(path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def mobilenet(path):
    subprocess.run([sys.executable, ROOT / "scripts/make_demo_model.py", path], check=True, stdout=subprocess.DEVNULL)


def hundred_megabytes(path, layers=50, channels=256):
    """Residual blocks of 3 x 3 convolutions, each followed by a BatchNormalization: about 118 MB."""
    rng = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"

    def tensor(name, array):
        weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    for i in range(layers):
        w = tensor(f"w{i}", rng.standard_normal((channels, channels, 3, 3), dtype=np.float32) * 0.02)
        bn = [tensor(f"{k}{i}", np.full(channels, v)) for k, v in (("s", 1.0), ("b", 0.1), ("m", 0.0), ("v", 1.0))]
        nodes.append(helper.make_node("Conv", [value, w], [f"c{i}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("BatchNormalization", [f"c{i}", *bn], [f"n{i}"]))
        nodes.append(helper.make_node("Relu", [f"n{i}"], [f"r{i}"]))
        value = f"r{i}"
        if i % 2:
            nodes.append(helper.make_node("Add", [f"r{i}", f"r{i - 1}"], [f"a{i}"]))
            value = f"a{i}"
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, channels, 14, 14]) for n in ("x", value)]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def keras_mobilenet(path):
    """MobileNetV2 as Keras writes it; converted to ONNX."""
    subprocess.run([sys.executable, ROOT / "benchmarks/keras_mobilenet.py", path], check=True)


def anonymous_kib(pid):
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def run(command, watch=False):
    """-> seconds, peak RssAnon in MiB"""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = 0
    while watch and process.poll() is None:
        peak = max(peak, anonymous_kib(process.pid))
        time.sleep(0.001)
    error = process.communicate()[1]
    seconds = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{command}: {error.decode()}")
    return seconds, peak / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", default=ROOT / "build/release/bin/gantry")
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    print(f"{'model':20} {'MiB':>7} {'convert ms':>11} {'cp ms':>8} {'ratio':>7} {'RssAnon MiB':>12}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, make, source, target in (("one operator", one_operator, "m.onnx", "m.tflite"),
                                           ("mobilenet-like", mobilenet, "m.onnx", "m.tflite"),
                                           ("100 MB, residual", hundred_megabytes, "m.onnx", "m.tflite"),
                                           ("Keras MobileNetV2", keras_mobilenet, "m.h5", "k.onnx")):
            model, out, copy = folder / source, folder / target, folder / "copy"
            make(model)
            convert = [args.gantry, "convert", model, "-o", out, "-q"]
            duplicate = ["cp", "--reflink=never", model, copy]
            run(convert), run(duplicate)
            times = {"convert": [], "cp": []}
            for _ in range(args.runs):
                times["convert"].append(run(convert)[0])
                times["cp"].append(run(duplicate)[0])
            peak = run(convert, watch=True)[1]
            a, b = (statistics.median(times[k]) * 1e3 for k in ("convert", "cp"))
            print(f"{name:20} {model.stat().st_size / 2**20:7.1f} {a:11.1f} {b:8.1f} {a / b:7.2f} {peak:12.1f}", flush=True)


if __name__ == "__main__":
    main()
