"""Native forms of all ops take lengths as they come: one program, and the interpreter's results at each of them."""

from __future__ import annotations

import any_length
import numpy as np
import pytest
from fuzz.cell_programs import spoil
from fuzz.cell_runs import Outcome, run, session
from fuzz.forms import Form, Slack
from fuzz.likeness import difference
from onnx_text import model

from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.partition import CompiledSubgraph

LENGTHS = (
    {"N": 2, "M": 3, "K": 7, "L": 2, "P": 3, "Q": 2, "H": 5, "W": 7},
    {"N": 7, "M": 2, "K": 3, "L": 5, "P": 7, "Q": 3, "H": 9, "W": 4},
    {"N": 3, "M": 100, "K": 2, "L": 3, "P": 2, "Q": 11, "H": 4, "W": 6},
    {"N": 1, "M": 7, "K": 3, "L": 1, "P": 1, "Q": 7, "H": 5, "W": 7},
    {"N": 3, "M": 1, "K": 1, "L": 2, "P": 7, "Q": 1, "H": 5, "W": 7},
    {"N": 0, "M": 3, "K": 0, "L": 2, "P": 3, "Q": 2, "H": 5, "W": 7},
    {"N": 2, "M": 0, "K": 3, "L": 0, "P": 3, "Q": 2, "H": 5, "W": 7},
)
"""Runs of one session: lengths from 2 on, then each letter 1 or 0 where it may be."""
DAMAGED = 6
LISTED = any_length.LIST.read_text(encoding="utf-8").splitlines()
CALLING = {line.split(": ")[0] for line in LISTED}
CASES = {title: case for title, case in any_length.cases().items() if title not in CALLING}
SHARED = [title for title, case in CASES.items() if not case.apart]
APART = [title for title, case in CASES.items() if case.apart]


def test_list_names_the_forms_that_call_run():
    actual, listed = set(any_length.callers()), set(LISTED)
    assert not actual - listed, f"these leave native code for `run` where lengths have names: {sorted(actual - listed)}"
    assert not listed - actual, f"native or gone, but still listed: {sorted(listed - actual)}; {any_length.__doc__}"


@pytest.mark.parametrize("title", SHARED)
def test_form_equals_the_interpreter_at_every_length(title):
    check(CASES[title])


@pytest.mark.slow
@pytest.mark.parametrize("title", APART)
def test_form_whose_axes_share_no_name_equals_the_interpreter(title):
    check(CASES[title])


def check(case: any_length.Case) -> None:
    form, model = case.form, any_length.model_of(case, LENGTHS[0]).SerializeToString()
    native, oracle = session(model, "native"), session(model, "interpreter")
    runs = [any_length.feeds_of(form, lengths) for lengths in LENGTHS]
    for feeds in runs:
        compare(form, run(oracle, feeds), run(native, feeds))
    assert calls(native) == []
    rng = np.random.default_rng(1)
    for seed in range(DAMAGED):
        damaged = [any_length.feeds_of(form, LENGTHS[seed % 4], seed)]
        spoil(rng, damaged)
        compare(form, run(oracle, damaged[0]), run(native, damaged[0]))


def compare(form: Form, expected: Outcome, actual: Outcome) -> None:
    """The same values, or the same error."""
    assert not actual.is_raw, actual.text
    assert actual.error == expected.error, f"{actual.text or 'values'} instead of {expected.text or 'values'}"
    for e, f in zip(expected.outputs or (), actual.outputs or (), strict=True):
        assert difference(e, f, form.slack) == ""


def calls(native) -> list[str]:
    """What programs of a session call or cannot do."""
    caches = [part.cache for part in native.plan.parts if isinstance(part, CompiledSubgraph)]
    programs = [program for cache in caches for program in cache.programs.values()]
    assert programs
    return [str(p) for p in programs if not isinstance(p, Launch) or p.graph.program.calls]


ODD = {
    "batches that differ": (
        "main (float[a, n, k] x, float[b, k, m] y) => (z) { z = MatMul(x, y) }",
        [{"x": (a, 5, 4), "y": (b, 4, 3)} for a in (1, 2, 3) for b in (1, 2, 3)],
    ),
    "inner lengths that differ": (
        "main (float[n, k] x, float[j, m] y) => (z) { z = MatMul(x, y) }",
        [{"x": (5, a), "y": (b, 2)} for a in (1, 2, 3) for b in (1, 2, 3)],
    ),
    "other axes that differ": (
        "main (float[n, k] x, float[m, j] y) => (z) { z = Concat<axis = 0>(x, y) }",
        [{"x": (5, a), "y": (2, b)} for a in (1, 2, 3) for b in (1, 2, 3)],
    ),
    "a shape that is an input": (
        "main (float[a, n, k] x, int64[3] s) => (z) { z = Reshape(x, s) }",
        [
            {"x": own, "s": target}
            for own in ((2, 3, 4), (0, 3, 4), (1, 2, 3), (2, 1, 1))
            for target in ([0, 0, 0], [4, 3, 2], [-1, 3, 4], [0, -1, 2], [-1, -1, 3], [2, -2, 3], [1 << 32, 1 << 32, 0])
        ],
    ),
    "a shape that is an input, whose zeros are lengths": (
        "main (float[a, n] x, int64[3] s) => (z) { z = Reshape<allowzero = 1>(x, s) }",
        [
            {"x": own, "s": target}
            for own in ((2, 12), (0, 3), (1, 2))
            for target in ([0, 0, 0], [4, 3, 2], [0, -1, 2], [1, -1, 1], [0, 3, 9])
        ],
    ),
    "a shape to broadcast with": (
        "main (float[a, 1] x, int64[3] s) => (z) { z = Expand(x, s) }",
        [
            {"x": (own, 1), "s": target}
            for own in (0, 1, 2)
            for target in ([1, 1, 1], [2, 2, 3], [2, 3, 1], [0, 2, 2], [3, 1, 0], [-1, 2, 3], [1, 5, 2])
        ],
    ),
}
"""Models, and the shapes of float inputs, or the elements of integer ones, in runs of one session; some are refused."""


@pytest.mark.parametrize("title", ODD)
def test_what_the_interpreter_refuses_has_no_value(title):
    text, runs = ODD[title]
    proto = model(text).SerializeToString()
    native, oracle = session(proto, "native"), session(proto, "interpreter")
    for shapes in runs:
        feeds = {k: np.array(v) if isinstance(v, list) else numbers(v) for k, v in shapes.items()}
        expected, actual = run(oracle, feeds), run(native, feeds)
        assert actual.error == expected.error, (
            f"{shapes}: {actual.text or 'values'} instead of {expected.text or 'values'}"
        )
        for e, f in zip(expected.outputs or (), actual.outputs or (), strict=True):
            assert difference(e, f, Slack(64, 64)) == "", shapes
    assert calls(native) == []


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
