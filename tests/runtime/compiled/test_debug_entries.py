"""WHORL_DEBUG: memory against guard pages, kernel programs interpreted, programs and LLVM IR written to files."""

import os
import subprocess
import sys

import pytest
from onnx_text import model

import whorl
from whorl.conformance.cases import load_cases
from whorl.conformance.runner import counts, run
from whorl.debug import debug

posix = pytest.mark.skipif(os.name != "posix", reason="memory is protected by mprotect")

BEYOND = """
import numpy as np
from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import MachineCode
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Const, Var, index_const
from whorl.kernel.program import For, Program, Store
from whorl.runtime.compiled.entries import entry_of

i, x = Var(INT64, "i", False), Buffer("x", FLOAT32, (5,))
loop = For(i, index_const(COUNT), [Store(x, (i,), Const(FLOAT32, 1.0))])
program = Program([], [x], [], [loop])
code = MachineCode(emit(program), FUNCTION)
memory = np.zeros(5, np.float32)
cells = np.array([memory.ctypes.data, 0, 0], np.int64)
print(entry_of(program, code.address)(cells.ctypes.data), memory.sum())
"""


def python(source: str, **variables: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=120)


@posix
def test_access_outside_ends_a_guarded_process_at_once():
    assert python(BEYOND.replace("COUNT", "5"), WHORL_DEBUG="guard").stdout == "0 5.0\n"
    assert python(BEYOND.replace("COUNT", "6"), WHORL_DEBUG="guard").returncode < 0


def test_access_outside_is_reported_by_interpreted_programs():
    assert python(BEYOND.replace("COUNT", "5"), WHORL_DEBUG="programs").stdout == "0 5.0\n"
    assert "x[i] is at [5] of [5]" in python(BEYOND.replace("COUNT", "6"), WHORL_DEBUG="programs").stderr


@posix
@pytest.mark.parametrize("mode", ["guard", "programs"])
def test_cases_of_the_suite_pass(monkeypatch, mode):
    monkeypatch.setenv("WHORL_DEBUG", mode)
    monkeypatch.setenv("WHORL_BACKEND", "native")
    small = [case for case in load_cases() if len(case.data) < 2000]
    assert len(small) > 300
    results = run("whorl", timeout=60, workers=1, cases=small[::5])
    assert counts(results)["pass"] == len(results), [r for r in results if r.status != "pass"]


def test_programs_and_modules_are_dumped(tmp_path):
    text = "main (float[3] x) => (float[3] y) { a = Tanh(x)\\n b = Mul(a, x)\\n y = Exp(b) }"
    source = f"""
import numpy as np, whorl
from onnx import parser
made = whorl.InferenceSession(parser.parse_model('<ir_version: 10, opset_import: ["": 21]> {text}'))
print(made.run(None, {{"x": np.zeros(3, np.float32)}})[0].tolist())
"""
    done = python(source, WHORL_DEBUG=f"dump:{tmp_path}", WHORL_BACKEND="native")
    assert done.stdout == "[1.0, 1.0, 1.0]\n", done.stderr
    (program,) = tmp_path.glob("*.program")
    assert "tanh(x.in[" in program.read_text()
    assert "@whorl_run(ptr" in program.with_suffix(".ll").read_text()


def test_unknown_word_is_refused(monkeypatch):
    monkeypatch.setenv("WHORL_DEBUG", "everything")
    debug.cache_clear()
    try:
        with pytest.raises(whorl.RunError, match="WHORL_DEBUG asks for 'everything'"):
            whorl.InferenceSession(model("main (float[3] x) => (float[3] y) { y = Neg(x) }"), _native())
    finally:
        monkeypatch.undo()
        debug.cache_clear()


def _native() -> whorl.SessionOptions:
    options = whorl.SessionOptions()
    options.backend = "native"
    return options


WRONG_STEP = """
import numpy as np, whorl
from onnx import parser
import whorl.kernel.optimise as steps
from whorl.kernel.program import Store
from whorl.kernel.walk import all_statements

def transpose_stores(program):
    for s in all_statements(program.body) if BROKEN else ():
        if isinstance(s, Store):
            s.index = tuple(reversed(s.index))

steps.STEPS = (transpose_stores, *steps.STEPS)
text = "main (float[2,2] x) => (float[2,2] y) { a = Tanh(x)\\n y = Exp(a) }"
made = whorl.InferenceSession(parser.parse_model('<ir_version: 10, opset_import: ["": 21]> ' + text))
print(made.run(None, {"x": np.float32([[0, 1], [2, 3]])})[0].shape)
"""


def test_step_that_changes_what_a_program_gives_is_reported_by_interpreted_programs():
    modes = {"WHORL_DEBUG": "programs", "WHORL_BACKEND": "native"}
    assert python(WRONG_STEP.replace("BROKEN", "False"), **modes).stdout == "(2, 2)\n"
    report = python(WRONG_STEP.replace("BROKEN", "True"), **modes).stderr
    assert "the optimised program gives another 'out0' than it gave before" in report
