"""The iteration in which outputs differ, from these alone."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.api.tracing.first import describe_counts, first_output

LOOP = whorl.load(
    model("""main (int64 n, float x) => (float y, float[m] all) {
    [count] y, all = Loop (n, , x) <body = a (int64 i, bool k, float s) => (bool h, float t, float r) {
        h = Identity(k)
        t = Add(s, s)
        r = Neg(s)
    }>
}""")
)
Y, ALL = np.array(8, np.float32), np.arange(3, dtype=np.float32)


@pytest.mark.parametrize(
    ("theirs", "loops", "note"),
    [
        ((Y, ALL + np.array([0, 1, 0], np.float32)), [("count", 1)], ""),
        ((Y + 1, ALL + np.array([0, 0, 1], np.float32)), [("count", 2)], ""),
        ((Y + 1, ALL), [], ""),
        ((Y + 1, ALL[:2]), [("count", 2)], "the loop makes 3 iterations here, 2 there; "),
    ],
)
def test_collected_output_tells_the_iteration(
    theirs: tuple[np.ndarray, ...], loops: list[tuple[str, int]], note: str
) -> None:
    first = first_output(LOOP, (Y, ALL), theirs, {})
    assert first is not None
    assert (first.node, first.loops, first.note) == ("Loop 'count'", loops, note)


def test_equal_outputs_have_no_first_difference() -> None:
    assert first_output(LOOP, (Y, ALL), (Y, ALL), {}) is None


def test_numbers_of_iterations_are_described() -> None:
    assert describe_counts(3, 1) == "the loop makes 3 iterations here, 1 there"
