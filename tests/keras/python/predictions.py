#!/usr/bin/env python3
"""Converts models that Keras wrote, and wants Keras' own predictions back.

    predictions.py GANTRY CASES [SUBSTRING]

CASES is a folder, or a .tar.xz of one: NAME/model.h5 (or model.keras, or model.json with model.weights.h5), input*.npy,
pred*.npy. Each is written as QONNX in both layouts, as QCDQ and as plain ONNX; onnx.checker must accept every file, the
qonnx package must execute it, and its own transformations (cleanup, QuantToQCDQ, ConvertToChannelsLast) must run on it
and keep its values. A case may be refused, aloud, only if it is listed so in refused.txt beside CASES.
"""
import argparse
import logging
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime as ort
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.channels_last import ConvertToChannelsLastAndClean
from qonnx.transformation.infer_shapes import InferShapes
from qonnx.transformation.qonnx_to_qcdq import QuantToQCDQ
from qonnx.util.cleanup import cleanup_model

TOLERANCE = 1e-5  # of the largest element, where that is above 1
QUANTIZERS = ("Quant", "BipolarQuant", "Trunc")


def bears(model, transformation):
    """Whether qonnx' own transformation is made for such a model."""
    ops = {n.op_type for n in model.graph.node}
    if transformation == "QuantToQCDQ":  # drops outputs that nobody reads, without which the executor cannot run
        return not ops & {"LSTM", "GRU", "RNN", "TopK"}
    ranks = {len(v.type.tensor_type.shape.dim) for v in model.graph.input}
    squeezes = "GlobalAveragePool" in ops and "Mul" in ops  # a factor of one number a channel
    return not ops & {"Concat"} and max(ranks) < 5 and not squeezes


def swapped(x, begin, end):
    return np.moveaxis(x, begin, end) if x.ndim > 2 else x


def differs(got, want):
    """What is wrong, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape} is not {want.shape}"
    scale = max(1.0, float(np.abs(want).max())) if want.size else 1.0
    error = float(np.abs(got.astype(np.float64) - want).max()) if want.size else 0.0
    return None if error <= TOLERANCE * scale else f"off by {error:.3g} at scale {scale:.3g}"


class Case:
    def __init__(self, folder):
        self.name = folder.name
        names = ("model.h5", "model.json", "model.keras")
        self.model = next(folder / n for n in names if (folder / n).exists())
        self.inputs = [np.load(p) for p in sorted(folder.glob("input*.npy"))]
        self.outputs = [np.load(p) for p in sorted(folder.glob("pred*.npy"))]

    def has_channels(self):
        return any(x.ndim > 2 for x in self.inputs)

    def feeds(self, model, k, nchw):
        """Sample k, of the model's types."""
        out = {}
        for v, x in zip(model.graph.input, self.inputs):
            x = x[k : k + 1].astype(onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type))
            out[v.name] = np.ascontiguousarray(swapped(x, -1, 1) if nchw else x)
        return out

    def wanted(self, k, nchw):
        return [swapped(y[k : k + 1], -1, 1) if nchw else y[k : k + 1] for y in self.outputs]


class Judge:
    def __init__(self, gantry, folder):
        self.gantry = gantry
        self.out = pathlib.Path(folder) / "m.onnx"
        self.failures = []
        self.checks = 0

    def convert(self, case, *options):
        """The model; None where it was refused."""
        self.out.unlink(missing_ok=True)
        done = subprocess.run([self.gantry, "convert", str(case.model), "-o", str(self.out), *options],
                              capture_output=True, text=True)
        if done.returncode == 4 and not self.out.exists():
            return None
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
        model = onnx.load(self.out)
        plain = all(n.domain == "" for n in model.graph.node)
        onnx.checker.check_model(model, full_check=plain)
        names = [n.name for n in model.graph.node]
        if "" in names or len(set(names)) != len(names):
            raise RuntimeError("nodes without a name of their own")
        return model

    def same(self, what, case, got, k, nchw):
        self.checks += 1
        for g, w in zip(got, case.wanted(k, nchw), strict=True):
            if problem := differs(g, w):
                raise RuntimeError(f"{what}: {problem}")

    def run_qonnx(self, what, wrapper, case, nchw, order, samples=1):
        for k in range(min(samples, len(case.inputs[0]))):
            made = execute_onnx(wrapper, case.feeds(wrapper.model, k, nchw))
            self.same(what, case, [made[n] for n in order], k, nchw)

    def qonnx(self, case, nchw):
        model = self.convert(case, *(["--io-layout", "nchw"] if nchw else []))
        if model is None:
            return "refused"
        order = [v.name for v in model.graph.output]
        count = sum(n.op_type in QUANTIZERS for n in model.graph.node)
        self.run_qonnx("as written", ModelWrapper(model), case, nchw, order, samples=3 if len(model.graph.node) < 60 else 1)
        clean = cleanup_model(ModelWrapper(onnx.load(self.out)))
        kept = sum(n.op_type in QUANTIZERS for n in clean.graph.node)
        if kept != count:
            raise RuntimeError(f"cleanup leaves {kept} of {count} quantizers")
        self.run_qonnx("cleanup", clean, case, nchw, [v.name for v in clean.graph.output])
        for what, transformation in (("QuantToQCDQ", QuantToQCDQ()), ("channels last", ConvertToChannelsLastAndClean())):
            if not bears(model, what) or (what == "channels last" and not nchw):
                continue
            changed = cleanup_model(ModelWrapper(onnx.load(self.out))).transform(transformation)
            changed = changed.transform(InferShapes())
            self.run_qonnx(what, changed, case, nchw, [v.name for v in changed.graph.output])
        return "ok"

    def standard(self, case, to):
        """Standard operators only, in ONNX Runtime. Its MatMulNBits would round the operands of quantized products."""
        model = self.convert(case, "--to", to)
        if model is None:
            return "refused"
        if any(n.domain for n in model.graph.node):
            raise RuntimeError("operators of other domains")
        options = ort.SessionOptions()
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        session = ort.InferenceSession(model.SerializeToString(), options)
        for k in range(len(case.inputs[0])):
            self.same(to, case, session.run(None, case.feeds(model, k, False)), k, False)
        return "ok"

    def judge(self, case, refused):
        forms = {"qonnx": lambda: self.qonnx(case, False), "qcdq": lambda: self.standard(case, "qcdq"),
                 "onnx": lambda: self.standard(case, "onnx")}
        if case.has_channels():
            forms["nchw"] = lambda: self.qonnx(case, True)
        for form, run in forms.items():
            try:
                result = run()
            except Exception as e:  # noqa: BLE001 - all are told
                result = f"{type(e).__name__}: {str(e)[-300:]}"
            if result == "ok" or (result == "refused" and (form == "qcdq" or case.name in refused)):
                continue
            self.failures.append(f"{case.name} as {form}: {result}")
            print("FAILED", self.failures[-1], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantry")
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("only", nargs="?", default="")
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    ort.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        cases = a.cases
        if cases.is_file():
            with tarfile.open(cases) as archive:
                if hasattr(tarfile, "data_filter"):  # from Python 3.11.4 on
                    archive.extraction_filter = tarfile.data_filter
                archive.extractall(pathlib.Path(folder) / "cases")
            cases = pathlib.Path(folder) / "cases"
        listed = a.cases.parent / "refused.txt"
        refused = {line.split()[0] for line in listed.read_text().splitlines() if line} if listed.exists() else set()
        judge = Judge(a.gantry, folder)
        found = [Case(d) for d in sorted(cases.iterdir()) if d.is_dir() and a.only in d.name]
        for case in found:
            judge.judge(case, refused)
    print(f"{len(found)} models, {judge.checks} comparisons, {len(judge.failures)} failures")
    return 1 if judge.failures or not found else 0


if __name__ == "__main__":
    sys.exit(main())
