"""The conformance suite and random nests of loops, with the passes run first."""

import os

import pytest
from fuzz import onnx_form, oracle
from fuzz.programs import programs
from hypothesis import HealthCheck, assume, given, note, settings
from onnx import printer
from passes.bits import copied

import whorl
from whorl.conformance.case import Case
from whorl.conformance.cases import load_cases
from whorl.conformance.messages import Answer
from whorl.conformance.runner import verdict
from whorl.errors import WhorlError
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize

EXAMPLES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "100"))
OPTIONS = PassOptions(verify=True, max_iterations=2000, max_seconds=2.0)


def session(model: object) -> whorl.InferenceSession:
    """A session of the interpreter on what the passes make of a model."""
    module = copied(whorl.load(model))  # type: ignore[arg-type]
    optimize(module, OPTIONS)
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    return whorl.InferenceSession(module, options)


def answer(case: Case) -> Answer:
    try:
        sessions = [session(case.data) for _ in range(case.sessions)]
        runs = [s.run(None, dict(case.inputs)) for s in sessions for _ in range(case.repeat)]
    except WhorlError as error:
        return Answer("error", str(error))
    return Answer("ran", runs=tuple(runs))


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.name)
def test_case_gives_what_it_must_after_the_passes(case: Case) -> None:
    assert verdict(case, answer(case)) == ("pass", "")


@pytest.mark.slow
@settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(programs())
def test_program_gives_what_the_oracle_gives_after_the_passes(program: tuple) -> None:
    block, inputs = program
    model = onnx_form.model(block)
    note(printer.to_text(model))
    try:
        expected = oracle.run(block, inputs)
    except (oracle.Failure, oracle.NoAnswer):
        assume(False)
    actual = session(model).run(None, inputs)
    assert len(actual) == len(expected)
    for a, b in zip(expected, actual, strict=True):
        assert _plain(a) == _plain(b)


def _plain(value: object) -> object:
    """A value as something that compares by kind, type, shape and bits, NaN aside."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not hasattr(value, "dtype"):
        return value
    return str(value.dtype), value.shape, repr(value.tolist())  # type: ignore[attr-defined]
