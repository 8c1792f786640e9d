"""Random nests of Loop, Scan and If against the oracle, bit for bit, and against onnxruntime where it is right.

`WHORL_FUZZ_EXAMPLES` sets how many programs are drawn, anew each time; without it they are the same 200. A failure
prints what reproduces it.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from onnx import ModelProto, printer
from type_watch import RELAXATIONS, Watch, relaxed

import whorl
from fuzz import onnx_form, oracle
from fuzz.programs import programs
from fuzz.syntax import Block, LoopStatement, ScanStatement, Type, statements_of
from whorl.conformance.messages import Question
from whorl.conformance.runner import Bench
from whorl.formats.onnx.saving import to_proto
from whorl.ir.verify import verify

EXAMPLES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "200"))
pytestmark = pytest.mark.slow
fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    derandomize="WHORL_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)


def assert_same(expected: Any, actual: Any) -> None:
    """Equal kinds, types, shapes and elements; NaN equals NaN, 0 is not -0."""
    assert type(actual) is type(expected)
    if isinstance(expected, list):
        assert len(expected) == len(actual)
        for e, f in zip(expected, actual, strict=True):
            assert_same(e, f)
    elif expected is not None:
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(actual, expected)
        if expected.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(actual)[actual == 0], np.signbit(expected)[actual == 0])


def expected_of(block: Block, inputs: dict[str, Any]) -> list | None:
    """What the oracle gives, None where it says that the program fails."""
    try:
        return oracle.run(block, inputs)
    except oracle.Failure as failure:
        note(f"must fail: {failure}")
        return None
    except oracle.NoAnswer:
        assume(False)


def noted(block: Block) -> ModelProto:
    model = onnx_form.model(block)
    note(printer.to_text(model))
    return model


def options(backend: str) -> whorl.SessionOptions:
    chosen = whorl.SessionOptions()
    chosen.backend = backend
    return chosen


def agree(expected: list | None, run: Callable[[], list]) -> None:
    """The run gives what is expected, or fails as it must."""
    if expected is None:
        with pytest.raises(whorl.WhorlError):
            run()
    else:
        assert_same(expected, run())


@fuzz
@given(programs())
def test_program_gives_what_the_oracle_gives(program):
    block, inputs = program
    model, expected = noted(block), expected_of(block, inputs)

    def run() -> list:
        module = whorl.load(model)
        verify(module)
        return whorl.InferenceSession(module, options("interpreter")).run(None, inputs)

    agree(expected, run)


@fuzz
@given(programs(), st.sampled_from(RELAXATIONS))
def test_types_hold_for_every_value_of_a_program(program, how):
    block, inputs = program
    model, expected = noted(block), expected_of(block, inputs)
    assume(expected is not None)
    watch = Watch(whorl.load(relaxed(model, how)))
    assert_same(expected, watch.run(inputs))
    assert not watch.problems


@fuzz
@given(programs())
def test_program_written_and_read_again_gives_the_same(program):
    block, inputs = program
    model, expected = noted(block), expected_of(block, inputs)
    assume(expected is not None)
    again = to_proto(whorl.load(model))
    note(printer.to_text(again))
    agree(expected, lambda: whorl.InferenceSession(again, options("interpreter")).run(None, inputs))


@fuzz
@given(programs())
def test_program_without_the_loops_that_can_go_gives_what_the_oracle_gives(program):
    block, inputs = program
    model, expected = noted(block), expected_of(block, inputs)
    assume(expected is not None)
    module = whorl.deloop(model, partial=True, target="any")
    verify(module)
    agree(expected, lambda: whorl.InferenceSession(module, options("interpreter")).run(None, inputs))


@settings(fuzz, max_examples=max(1, EXAMPLES // 10))
@given(programs())
def test_native_code_gives_what_the_oracle_gives(program):
    block, inputs = program
    model, expected = noted(block), expected_of(block, inputs)
    agree(expected, lambda: whorl.InferenceSession(model, options("native")).run(None, inputs))


def engines_agree_on(block: Block) -> bool:
    """Whether a program keeps to what onnxruntime does as ONNX says.

    It heeds conditions that are ignored, refuses Scans of length 0, and loses strings that loops collect.
    """
    for statement in statements_of(block):
        results = statement.body.results if isinstance(statement, LoopStatement | ScanStatement) else []
        if any(isinstance(v.type, Type) and v.type.dtype == "str" for v in results):
            return False
        if isinstance(statement, LoopStatement) and statement.condition is None:
            return False
        if isinstance(statement, ScanStatement) and 0 in statement.scanned[0].type.shape:
            return False
    return True


@pytest.fixture(scope="module")
def ask_onnxruntime():
    """onnxruntime in a process of its own: some programs end it with a signal. None stands for no answer."""
    pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    with Bench("onnxruntime", timeout=20.0) as bench:
        yield lambda model, inputs: bench.ask(Question(model.SerializeToString(), inputs))


@fuzz
@given(program=programs(extremes=False, portable=True))
def test_oracle_gives_what_onnxruntime_gives(ask_onnxruntime, program):
    block, inputs = program
    if not engines_agree_on(block):
        return
    model, expected = noted(block), expected_of(block, inputs)
    assume(expected is not None)
    answer = ask_onnxruntime(model, inputs)
    if answer.status != "ran":
        return
    assert_same(expected, answer.runs[0])
    again = to_proto(whorl.load(model))
    note(printer.to_text(again))
    answer = ask_onnxruntime(again, inputs)
    assert answer.status == "ran", answer.message
    assert_same(expected, answer.runs[0])
