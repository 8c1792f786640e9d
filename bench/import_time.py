"""How much CPU do `import whorl` and its first use cost, over the import of numpy?

Every number comes from new processes, the engines in turns, with the bytecode of all packages in a cache as it is
after installation. First use is a session on a small model with a loop, and one run of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import onnx
from measuring import Measurement, in_turns, report, with_bytecode

ROUNDS = 7
FACTORIAL = """
<ir_version: 10, opset_import: ["" : 21]>
factorial (int64 n) => (float y) {
  one = Constant <value_float = 1.0> ()
  yes = Constant <value = bool {1}> ()
  y = Loop (n, yes, one) <body = step (int64 i, bool go_on, float x) => (bool still, float next) {
    still = Identity (go_on)
    k = Cast <to = 1> (i)
    first = Constant <value_float = 1.0> ()
    factor = Add (k, first)
    next = Mul (x, factor)
  }>
}
"""
IMPORTS = {
    "whorl": "import whorl",
    "onnxruntime": "import onnxruntime",
    "reference": "import onnx.reference",
}
SESSIONS = {
    "whorl": "whorl.InferenceSession(model)",
    "onnxruntime": "onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])",
    "reference": "onnx.reference.ReferenceEvaluator(onnx.load_from_string(model))",
}
PROGRAM = """
import time
import numpy as np
model = {model!r}
start = time.process_time()
{import_}
imported = time.process_time()
result = {session}.run(None, {{"n": np.array(10)}})[0]
print(1000 * (imported - start), 1000 * (time.process_time() - start), result)
"""


def milliseconds(engine: str, model: bytes, bytecode: Path, first_use: bool) -> float:
    """CPU of a new process for the import alone, or for the import and the first use."""
    program = PROGRAM.format(model=model, import_=IMPORTS[engine], session=SESSIONS[engine])
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=with_bytecode(bytecode)
    ).stdout
    imported, used, result = printed.split()
    assert float(result) == 3628800, f"{engine} says that 10! is {result}"
    return float(used if first_use else imported)


def measure() -> list[Measurement]:
    model = onnx.parser.parse_model(FACTORIAL).SerializeToString()
    with tempfile.TemporaryDirectory() as name:
        bytecode = Path(name)

        def medians(first_use: bool, rounds: int = ROUNDS) -> dict[str, float]:
            return in_turns({n: partial(milliseconds, n, model, bytecode, first_use) for n in IMPORTS}, rounds)

        medians(first_use=True, rounds=1)
        return [
            Measurement("import", "ms", medians(first_use=False), target=150),
            Measurement("import, a session on a model with a loop, and one run", "ms", medians(first_use=True)),
        ]


if __name__ == "__main__":
    sys.exit(report(__doc__.partition("\n")[0], measure))
