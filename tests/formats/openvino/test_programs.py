"""Random loops and branches: whorl gives what OpenVINO gives, natively and after conversion to ONNX too."""

import numpy as np
import pytest
from formats.openvino.draws import drawn
from formats.openvino.engine import Engine
from formats.openvino.programs import Program, programs
from hypothesis import assume, given

import whorl
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.runtime.session import Session

pytest.importorskip("openvino", reason="openvino has no wheel for this platform")

REFUSED = (
    "Supported values for start {0}, for stride and part_size {1}",
    "Check 'trip_count != 0' failed",
    "The memory desc is undefined",
)
"""What OpenVINO says of programs that it compiles on some of its ways only."""


@pytest.fixture(scope="module")
def engine():
    actual = Engine()
    yield actual
    actual.close()


def loaded(program: Program):
    module = load_ir(program.xml, IrOptions(), program.weights)
    verify(module)
    return module, [value.name for value in module.main.arguments]


def same(actual, expected):
    """Equal outputs; of an empty one only OpenVINO's rank counts, since it leaves lengths 0 that whorl can prove."""
    for f, e in zip(actual, expected, strict=True):
        assert (f.dtype, f.ndim) == (e.dtype, e.ndim)
        if f.size or e.size:
            np.testing.assert_array_equal(f, e)


@drawn(150, 1)
@given(programs())
def test_program_gives_what_openvino_gives(engine, program):
    outcomes = engine.run(program.xml, program.weights, program.runs)
    if isinstance(outcomes, str):
        assert any(text in outcomes for text in REFUSED), outcomes
        assume(False)
    module, names = loaded(program)
    session = Session(module, backend="interpreter")
    for feeds, expected in zip(program.runs, outcomes, strict=True):
        assert not isinstance(expected, str), expected
        same(session.execute(None, dict(zip(names, feeds, strict=True))), expected)


@drawn(40, 2)
@given(programs())
def test_native_code_equals_the_interpreter(program):
    module, names = loaded(program)
    native, interpreted = (Session(module, backend=name) for name in ("native", "interpreter"))
    for feeds in program.runs:
        passed = dict(zip(names, feeds, strict=True))
        for f, e in zip(native.execute(None, passed), interpreted.execute(None, passed), strict=True):
            assert (f.dtype, f.shape) == (e.dtype, e.shape)
            np.testing.assert_array_equal(f, e)


@drawn(40, 3)
@given(programs())
def test_program_as_onnx_and_optimized(tmp_path_factory, program):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    module, names = loaded(program)
    assert print_module(parse_module(print_module(module))) == print_module(module)
    path = tmp_path_factory.mktemp("programs") / "m.onnx"
    whorl.save(module, path)
    theirs = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    mine = Session(module, backend="interpreter")
    optimized = Session(whorl.optimize(module), backend="interpreter")
    for feeds in program.runs:
        passed = dict(zip(names, feeds, strict=True))
        expected = mine.execute(None, passed)
        same(theirs.run(None, passed), expected)
        same(optimized.execute(None, passed), expected)
