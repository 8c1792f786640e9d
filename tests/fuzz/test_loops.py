"""Random nests of Loop, Scan and If against the oracle, bit for bit, and against onnxruntime where it is right.

`WHORL_FUZZ_EXAMPLES` sets how many programs are drawn; a failure prints what reproduces it.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from onnx import printer

import whorl
from fuzz import onnx_form, oracle
from fuzz.programs import Block, IfStatement, LoopStatement, ScanStatement, programs
from whorl.conformance.messages import Question
from whorl.conformance.runner import Bench
from whorl.formats.onnx.saving import to_proto
from whorl.ir.verify import verify

EXAMPLES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "200"))
fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def assert_same(expected: list, found: list) -> None:
    assert len(expected) == len(found)
    for e, f in zip(expected, found, strict=True):
        assert (f.dtype, f.shape) == (e.dtype, e.shape)
        np.testing.assert_array_equal(f, e)


@pytest.mark.slow
@fuzz
@given(programs())
def test_program_gives_what_the_oracle_gives(program):
    block, inputs = program
    model = onnx_form.model(block)
    note(printer.to_text(model))
    expected = oracle.run(block, inputs)
    module = whorl.load(model)
    verify(module)
    assert_same(expected, whorl.InferenceSession(module).run(None, inputs))


@pytest.mark.slow
@fuzz
@given(programs())
def test_program_written_and_read_again_gives_the_same(program):
    block, inputs = program
    model = onnx_form.model(block)
    note(printer.to_text(model))
    again = to_proto(whorl.load(model))
    assert_same(oracle.run(block, inputs), whorl.InferenceSession(again).run(None, inputs))


def engines_agree_on(block: Block, inputs: dict) -> bool:
    """Whether the specification leaves nothing to engines: no Loop without a condition, no Scan of length 0."""
    for statement in block.statements:
        match statement:
            case LoopStatement(condition=None):
                return False
            case LoopStatement(body=body) if not engines_agree_on(body, inputs):
                return False
            case ScanStatement() as scan:
                if 0 in scan.scanned[0].type.shape or not engines_agree_on(scan.body, inputs):
                    return False
            case IfStatement(branches=branches) if not all(engines_agree_on(b, inputs) for b in branches):
                return False
    return True


@pytest.fixture(scope="module")
def ask_onnxruntime():
    """onnxruntime in a process of its own: some programs end it with a signal. None stands for no answer."""
    pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    with Bench("onnxruntime", timeout=20.0) as bench:
        yield lambda model, inputs: bench.ask(Question(model.SerializeToString(), inputs))


@pytest.mark.slow
@fuzz
@given(program=programs(extremes=False))
def test_oracle_gives_what_onnxruntime_gives(ask_onnxruntime, program):
    block, inputs = program
    if not engines_agree_on(block, inputs):
        return
    model = onnx_form.model(block)
    note(printer.to_text(model))
    answer = ask_onnxruntime(model, inputs)
    if answer.status == "ran":
        assert_same(oracle.run(block, inputs), answer.runs[0])
    else:
        note(f"onnxruntime: {answer.status}: {answer.message}")
