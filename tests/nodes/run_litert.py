"""run_litert.py TESTS FOLDER: runs each FOLDER/NAME.tflite on TESTS/NAME/inputs.npz and writes FOLDER/NAME.npz."""
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter

tests, folder = map(pathlib.Path, sys.argv[1:])
for model in sorted(folder.glob("*.tflite")):
    try:
        runner = Interpreter(model_path=str(model), num_threads=1).get_signature_runner()
        data = np.load(tests / model.stem / "inputs.npz")
        wanted = runner.get_input_details()
        np.savez(model.with_suffix(".npz"), **runner(**{k: data[k] for k in data.files if k in wanted}))
    except (ValueError, RuntimeError) as e:  # its absence says so
        print(model.stem, e)
