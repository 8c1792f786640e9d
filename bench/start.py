"""How much CPU do `import whorl`, a session on a small model and its first run cost, beside onnxruntime?

Every number comes from new processes, the engines in turns, with the bytecode of all packages in a cache as it is after
installation. First use is CPU from after the import of NumPy until the end of the run. The whole process is a script
that loads a model of five nodes, or one with a loop, from a file and runs it once; with an empty code cache and with a
filled one. A later run is one after a thousand.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import onnx
from measuring import US, Measurement, in_turns, report, with_bytecode

ROUNDS = 9
PEER = "onnxruntime"
OVER_NUMPY, WARM, COLD = 150.0, 1.5, 2.5
"""Milliseconds over NumPy, and multiples of onnxruntime's whole process with a filled and with an empty code cache."""
HEADER = '<ir_version: 10, opset_import: ["" : 21]>'
FIVE_NODES = f"""{HEADER}
perceptron (float[n, 4] x) => (float[n, 3] y) {{
  w = Constant <value = float[4, 3] {{1, -1, 0.5, 2, 0.25, -0.5, 1, 1, -2, 0.5, -1, 1}}> ()
  b = Constant <value = float[3] {{0.1, 0.2, 0.3}}> ()
  product = MatMul (x, w)
  sum = Add (product, b)
  open = Relu (sum)
  part = Softmax <axis = -1> (open)
  y = Mul (part, sum)
}}
"""
LOOP = f"""{HEADER}
factorial (int64 n) => (float y) {{
  one = Constant <value_float = 1.0> ()
  yes = Constant <value = bool {{1}}> ()
  y = Loop (n, yes, one) <body = step (int64 i, bool go_on, float x) => (bool still, float next) {{
    still = Identity (go_on)
    k = Cast <to = 1> (i)
    first = Constant <value_float = 1.0> ()
    factor = Add (k, first)
    next = Mul (x, factor)
  }}>
}}
"""
MODELS = {
    "five nodes": (FIVE_NODES, '{"x": np.arange(8, dtype=np.float32).reshape(2, 4)}'),
    "a loop": (LOOP, '{"n": np.array(10)}'),
}
SESSIONS = {
    US: "whorl.InferenceSession(path)",
    PEER: "onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider'])",
    "reference": "ReferenceEvaluator(path)",
}
IMPORTS = {US: "import whorl", PEER: "import onnxruntime", "reference": "from onnx.reference import ReferenceEvaluator"}
PROGRAM = """
import time
import numpy as np
path = {path!r}
start = time.process_time()
{import_}
imported = time.process_time()
result = {session}.run(None, {feeds})[0]
print(imported - start, time.process_time() - start, float(result.sum()))
"""
RUNS = 1000
LATER = """
import time
import numpy as np
path, feeds = {path!r}, {feeds}
{import_}
session = {session}
for _ in range({runs}):
    session.run(None, feeds)
start = time.process_time()
for _ in range({runs}):
    result = session.run(None, feeds)[0]
print((time.process_time() - start) / {runs}, 0, float(result.sum()))
"""


class Processes:
    """New processes that run one model once, on any engine; bytecode and compiled code are kept in a folder."""

    def __init__(self, folder: Path, model: str) -> None:
        text, self.feeds = MODELS[model]
        self.path, self.folder, self.count = folder / "model.onnx", folder, 0
        onnx.save(onnx.parser.parse_model(text), self.path)
        self.results: set[float] = set()

    def run(self, engine: str, is_cold: bool = False, program: str = PROGRAM) -> tuple[float, float, float]:
        """Milliseconds of CPU: the import, until the end of the run over NumPy's import, the whole process.

        Of `LATER`, the first is one of its later runs.
        """
        self.count += 1
        cache = self.folder / (f"cold{self.count}" if is_cold else "warm")
        environment = with_bytecode(self.folder / "bytecode") | {"WHORL_CACHE": str(cache)}
        parts = {"path": str(self.path), "import_": IMPORTS[engine], "session": SESSIONS[engine], "feeds": self.feeds}
        command = [sys.executable, "-c", program.format(**parts, runs=RUNS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            printed = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{engine} ended with {process.returncode}")
        imported, used, result = map(float, printed.split())
        self.results.add(round(result, 4))
        return 1000 * imported, 1000 * used, 1000 * (usage.ru_utime + usage.ru_stime)

    def part(self, number: int, engine: str, is_cold: bool = False) -> Callable[[], float]:
        return lambda: self.run(engine, is_cold)[number]

    def later(self) -> dict[str, float]:
        """The medians of microseconds of a later run."""
        runs = {engine: lambda engine=engine: 1000 * self.run(engine, program=LATER)[0] for engine in SESSIONS}
        return in_turns(runs, ROUNDS)

    def medians(self, number: int, is_cold: bool = False) -> dict[str, float]:
        """The medians of one of the three numbers of `run`."""
        return in_turns({engine: self.part(number, engine, is_cold) for engine in SESSIONS}, ROUNDS)


def measured(folder: Path, model: str) -> list[Measurement]:
    """What a model costs; all results are compared."""
    processes = Processes(folder, model)
    for engine in (*SESSIONS, US):
        processes.run(engine)
    imported = Measurement("import", "ms", processes.medians(0))
    used = Measurement(f"import, session and first run, {model}", "ms", processes.medians(1), OVER_NUMPY)
    warm, cold = processes.medians(2), processes.medians(2, is_cold=True)
    later = processes.later()
    assert len(processes.results) == 1, f"results differ: {processes.results}"
    return [
        imported,
        used,
        Measurement(f"the whole process, {model}, code cache filled", "ms", warm, WARM * warm[PEER]),
        Measurement(f"the whole process, {model}, code cache empty", "ms", cold, COLD * cold[PEER]),
        Measurement(f"a later run, {model}", "us", later, later[PEER]),
    ]


def measure() -> list[Measurement]:
    measurements = []
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            measurements += measured(Path(folder), model)
    return measurements


if __name__ == "__main__":
    sys.exit(report((__doc__ or "").partition("\n")[0], measure))
