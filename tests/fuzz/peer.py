"""Programs of cells against onnxruntime: `python -m fuzz.peer PROGRAMS [SEED]`, with tests on PYTHONPATH.

It lists what differs from the interpreter; which of the two is right, the specification says. onnxruntime runs in a
process of its own, since some programs end it. Programs of types or versions that it lacks say nothing, and neither do
lengths of what is empty, which it does not infer.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

import whorl
from fuzz.cell_programs import Program, write
from fuzz.cell_runs import run, session
from fuzz.cells import all_cells
from fuzz.forms import Slack
from fuzz.likeness import difference
from whorl.conformance.messages import Question
from whorl.conformance.runner import Bench

OPSET = 22
PLAIN = [cell for cell in all_cells() if cell.dtype in ("float32", "int64", "int32", "bool")]
LAX = Slack(16, 1024)
"""What another engine may differ by, beside what native code may."""


def main(count: int, seed: int) -> None:
    became: Counter[str] = Counter()
    with Bench("onnxruntime", timeout=20.0) as bench:
        for number in range(count):
            program = plain_program(seed, number)
            for n in range(len(program.runs)):
                status, text = compare(bench, program, n)
                became[status] += 1
                if text:
                    print(f"program {number} run {n}: {status}: {text} {' '.join(map(str, program.cells))}", flush=True)
                if status != "alike":
                    break
    print(dict(became))


def plain_program(seed: int, number: int) -> Program:
    """Two cells of element types that onnxruntime has kernels for, in a version that it knows."""
    rng = np.random.default_rng([seed, number])
    chosen = [PLAIN[n] for n in rng.integers(len(PLAIN), size=2)]
    program = write(chosen, int(rng.integers(1 << 31)))
    program.model.ir_version, program.model.opset_import[0].version = 10, OPSET
    for function in program.model.functions:
        function.opset_import[0].version = OPSET
    return program


def compare(bench: Bench, program: Program, n: int) -> tuple[str, str]:
    """What became of one run, and how it differs."""
    try:
        ours = run(session(program.data, "interpreter", "honour"), program.runs[n])
    except whorl.LoadError:
        return "not taken", ""
    theirs = bench.ask(Question(program.data, program.runs[n]))
    if theirs.status in ("crash", "timeout"):
        return theirs.status, theirs.message[-200:]
    if theirs.status != "ran":
        missing = "NOT_IMPLEMENTED" in theirs.message or "INVALID_GRAPH" in theirs.message or theirs.status != "error"
        status = "not taken" if missing else "refused" if ours.outputs is not None else "refused by both"
        return status, theirs.message[-200:] if status == "refused" else ""
    if ours.outputs is None:
        return "values instead of an error", ours.text
    for info, mine, other in zip(program.model.graph.output, ours.outputs, theirs.runs[0], strict=True):
        if getattr(mine, "size", 1) == 0 == getattr(other, "size", 1):
            continue
        if text := difference(mine, other, program.slack.get(info.name, Slack()) + LAX):
            return "differs", text
    return "alike", ""


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
