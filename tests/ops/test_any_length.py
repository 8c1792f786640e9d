"""Native forms of all ops take lengths as they come: one program, and the interpreter's results at each of them."""

from __future__ import annotations

from typing import Any

import any_length
import numpy as np
import pytest
from fuzz.cell_programs import spoil
from fuzz.cell_runs import Outcome, run, session
from fuzz.forms import Form, Slack
from fuzz.likeness import difference
from onnx_text import model

import whorl
from whorl.runtime.compiled.binding import Pattern
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.partition import CompiledSubgraph
from whorl.runtime.compiled.refusals import Refusal

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


def programs(native: whorl.InferenceSession) -> list[Launch | Refusal]:
    """What a session has compiled for inputs that have elements; for others there may be nothing to do."""
    caches = [part.cache for part in native.plan.parts if isinstance(part, CompiledSubgraph)]
    return [program for cache in caches for pattern, program in cache.programs.items() if not has_zero(pattern)]


def calls(native: whorl.InferenceSession) -> list[str]:
    """Programs that call something, or are none."""
    return [str(p) for p in programs(native) if not isinstance(p, Launch) or p.graph.program.calls]


def has_zero(pattern: Pattern) -> bool:
    return any(isinstance(shape, tuple) and 0 in shape for shape in pattern)


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
    "parts that are inputs": (
        "main (float[n, m] x, int64[3] s) => (a, b, c) { a, b, c = Split<axis = 1>(x, s) }",
        [
            {"x": (2, n), "s": target}
            for n in (0, 1, 5)
            for target in ([1, 2, 2], [0, 0, 1], [0, 0, 0], [5, 0, 0], [-1, 3, 3], [6, -1, 0], [1, 1, 1])
        ],
    ),
    "equal parts of a length that does not divide": (
        "main (float[n, m] x) => (a, b) { a, b = Split<axis = 0>(x) }",
        [{"x": (n, 3)} for n in (2, 5, 6, 0, 1)],
    ),
    "parts of lengths less than another": (
        """main (float[n] x, float[m] y) => (a, b) {
            n = Shape(x) m = Shape(y) less = Sub(n, m) s = Concat<axis = 0>(less, m)
            a, b = Split<axis = 0>(x, s)
        }""",
        [{"x": (n,), "y": (m,)} for n in (0, 1, 2, 7) for m in (0, 1, 2, 3, 7)],
    ),
    "padding that is an input": (
        'main (float[n, m] x, int64[4] p) => (y, z) { y = Pad(x, p) z = Pad<mode = "reflect">(x, p) }',
        [
            {"x": own, "p": pads}
            for own in ((2, 3), (1, 7), (0, 2))
            for pads in (
                [1, 2, 0, 3],
                [0, -1, 0, -1],
                [-2, 0, 0, 0],
                [-1, -3, -1, 0],
                [1 << 62, 0, 1 << 62, 0],
                [0] * 4,
            )
        ],
    ),
    "padding by lengths": (
        """main (float[n] x, float[m] y) => (a, b) {
            n = Shape(x) m = Shape(y) less = Sub(m, n) zero = Sub(n, n) p = Concat<axis = 0>(zero, less)
            a = Pad(x, p) b = Pad<mode = "wrap">(x, p)
        }""",
        [{"x": (n,), "y": (m,)} for n in (0, 1, 2, 7) for m in (0, 1, 2, 3, 9)],
    ),
    "cropping to lengths that are an input": (
        "main (float[n, m] x, int64[2] s) => (y) { y = CenterCropPad(x, s) }",
        [{"x": own, "s": target} for own in ((2, 3), (1, 8)) for target in ([3, 2], [5, 0], [-1, 2], [2, 7])],
    ),
    "repeats that are an input": (
        "main (float[n, m] x, int64[2] s) => (y) { y = Tile(x, s) }",
        [{"x": own, "s": target} for own in ((2, 3), (1, 8)) for target in ([3, 2], [5, 0], [-1, 2], [1, 7])],
    ),
    "classes that are an input": (
        "main (int64[n] x, int64[k] depth, float[m] v) => (y) { y = OneHot(x, depth, v) }",
        [
            {"x": [0, 5, -1, -7], "depth": depth, "v": (m,)}
            for depth in ([3], [0], [-1], [3, 3], [])
            for m in (0, 1, 2, 3)
        ],
    ),
    "updates of another shape": (
        "main (float[n, m] x, int64[k, l] i, float[a, b] u) => (y) { y = ScatterElements(x, i, u) }",
        [
            {"x": (3, m), "i": i, "u": u}
            for m in (1, 2)
            for i in ([[0, 1]], [[0], [1]], [[2, -3], [0, 0]], [[3, 0]], [[0, -4]], [[0, 0, 0]])
            for u in ((1, 2), (2, 1), (2, 2), (1, 1))
        ],
    ),
    "rows to write of another shape": (
        "main (float[n, m] x, int64[k, 1] i, float[a, b] u) => (y) { y = ScatterND(x, i, u) }",
        [
            {"x": (3, m), "i": i, "u": u}
            for m in (1, 2)
            for i in ([[0], [1]], [[-3], [2]], [[3], [0]], [[0], [-4]], [[2]])
            for u in ((1, 2), (2, 1), (2, 2), (1, 1))
        ],
    ),
    "indices of another shape": (
        "main (float[n, m] x, int64[k, l] i) => (y) { y = GatherElements(x, i) }",
        [{"x": (n, m), "i": i} for n in (1, 2, 3) for m in (1, 2) for i in ([[0, 1]], [[0], [1]], [[-1], [0], [1]])],
    ),
    "rows to read in batches that differ": (
        "main (float[n, m] x, int64[k, 1] i) => (y) { y = GatherND<batch_dims = 1>(x, i) }",
        [{"x": (n, m), "i": i} for n in (1, 2, 3) for m in (1, 2) for i in ([[0]], [[0], [1]], [[-1], [0], [1]])],
    ),
    "whole numbers from one to another": (
        "main (int64 a, int64 b, int64 c) => (y) { y = Range(a, b, c) }",
        [
            {"a": a, "b": b, "c": c}
            for a in (0, 3, -(1 << 63))
            for b in (0, 7, -4, (1 << 63) - 1)
            for c in (1, -2, 0, 1 << 62, -(1 << 63))
            if not (b > 1 << 60 and c == 1)
        ],
    ),
    "numbers from one to another": (
        "main (float a, float b, float c) => (y) { y = Range(a, b, c) }",
        [
            {"a": float(a), "b": float(b), "c": float(c)}
            for a in (0, 0.3, -1, "nan", "inf")
            for b in (0, 2.05, "inf", "-inf")
            for c in (0.1, -0.25, 0, "inf", "nan")
        ],
    ),
    "blocks that do not divide": (
        "main (float[n, c, h, w] x) => (y) { y = SpaceToDepth<blocksize = 2>(x) }",
        [{"x": (n, c, h, w)} for n in (1, 2) for c in (2, 3) for h in (2, 3) for w in (0, 1, 4, 5)],
    ),
    "channels that do not divide": (
        "main (float[n, c, h, w] x) => (y) { y = DepthToSpace<blocksize = 2>(x) }",
        [{"x": (n, c, h, w)} for n in (1, 2) for c in (4, 6) for h in (2, 3) for w in (0, 1, 4, 5)],
    ),
    "scales of another length": (
        "main (float[n, m] x, float[k] s) => (y) { y = QuantizeLinear(x, s) }",
        [{"x": (2, m), "s": s} for m in (1, 2, 3) for s in ([0.5], [0.5, 2.0], [1.0, 2.0, 3.0], [])],
    ),
    "lengths to reverse of another number": (
        "main (float[n, m] x, int64[k] s) => (y) { y = ReverseSequence(x, s) }",
        [{"x": (n, m), "s": s} for n in (1, 4) for m in (1, 2) for s in ([1], [1, 4], [4, 5], [-1, 1], [0, 0, 0])],
    ),
    "the best, as many as an input says": (
        """main (float[n, m] x, int64[l] k) => (y, i, z, j) {
            y, i = TopK(x, k) z, j = TopK<axis = 0, largest = 0>(x, k)
        }""",
        [
            {"x": shape, "k": k}
            for shape in ((3, 7), (50, 60), (1, 4), (0, 2))
            for k in ([2], [0], [-1], [40], [1, 2], [])
        ],
    ),
    "rows of a cache": (
        "main (float[n, m, 1] x, float[k, l, 1] u, int64[j] i) => (y) { y = TensorScatter(x, u, i) }",
        [
            {"x": (2, m, 1), "u": (k, l, 1), "i": i}
            for m in (2, 5)
            for k in (1, 2)
            for l in (1, 2, 3)
            for i in ([0, 1], [1], [-1, 0], [0, 4])
        ],
    ),
}
"""Models, and the shapes of float inputs, or the elements of integer ones, in runs of one session; some are refused."""


@pytest.mark.parametrize("title", ODD)
def test_what_the_interpreter_refuses_has_no_value(title):
    text, runs = ODD[title]
    proto = model(text, 24 if "TensorScatter" in text else 13 if "Split" in text else 18).SerializeToString()
    native, oracle = session(proto, "native"), session(proto, "interpreter")
    for shapes in runs:
        feeds = {name: array(value) for name, value in shapes.items()}
        expected, actual = run(oracle, feeds), run(native, feeds)
        assert actual.error == expected.error, (
            f"{shapes}: {actual.text or 'values'} instead of {expected.text or 'values'}"
        )
        for e, f in zip(expected.outputs or (), actual.outputs or (), strict=True):
            assert difference(e, f, Slack(64, 64)) == "", shapes
    assert any(isinstance(program, Launch) and not program.graph.program.calls for program in programs(native))


def array(value: tuple[int, ...] | list[Any] | float) -> np.ndarray:
    """Numbers of this shape, or an array of these elements."""
    if isinstance(value, tuple):
        return np.arange(np.prod(value), dtype=np.float32).reshape(value)
    elements = np.array(value)
    return elements.astype(np.float32 if elements.dtype.kind == "f" and elements.size else np.int64)
