"""Updates of the rows that go on."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import kinds, reason, vectorized

TEXT = """main(%x: float32[n, m, 3], %h: float32[m, 3], %r: float32[3, 3], %k: int64[m]) {{
  %l: float32[m, 3], %y: float32[n, m, 3] = Loop(_, _, %h, %x, %r, %k)
    {{carried = 1, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[m, 3], %v: float32[m, 3], %r: float32[3, 3], %k: int64[m]) {{
    %axis: int64[1] = Constant() {{value = int64[1] <1>}}
    %p: float32[m, 3] = MatMul(%s, %r)
    %a: float32[m, 3] = Add(%p, %v)
    %u: float32[m, 3] = Tanh(%a)
    {lines}
    return %g, %t, {collected}
  }}
  return l = %l, y = %y
}}"""
AXIS = "%c: bool[m, 1] = Unsqueeze(%q, %axis)"
WAYS = {
    "below": ["%q: bool[m] = Less(%i, %k)", AXIS, "%t: $ = Where(%c, %u, %s)"],
    "above": ["%q: bool[m] = Greater(%k, %i)", AXIS, "%t: $ = Where(%c, %u, %s)"],
    "not yet": ["%q: bool[m] = GreaterOrEqual(%i, %k)", AXIS, "%t: $ = Where(%c, %s, %u)"],
    "negative": ["%o: bool[m] = LessOrEqual(%k, %i)", "%q: bool[m] = Not(%o)", AXIS, "%t: $ = Where(%c, %u, %s)"],
}
OTHERS = {
    "beyond": ["%q: bool[m] = Greater(%i, %k)", AXIS, "%t: $ = Where(%c, %u, %s)"],
    "equal": ["%q: bool[m] = LessOrEqual(%i, %k)", AXIS, "%t: $ = Where(%c, %u, %s)"],
}
RNG = np.random.default_rng(0)


def masked(lines, collected="%t"):
    return TEXT.format(lines="\n    ".join(lines).replace("$", "float32[m, 3]"), collected=collected)


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_stop_have_lengths(way):
    program = masked(WAYS[way])
    module, remaining = vectorized(program)
    assert not remaining and "RNN" in kinds(module) and "Loop" not in kinds(module)
    for count, lengths in ((0, [1, 0]), (4, []), (4, [0, 9, 2, -3]), (3, [3, 1])):
        shapes = {"x": (count, len(lengths), 3), "h": (len(lengths), 3), "r": (3, 3)}
        feeds = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        feeds["k"] = np.array(lengths, np.int64)
        for expected, actual in zip(interpreted(copied(read(program)), feeds), interpreted(module, feeds), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("way", OTHERS)
def test_rows_that_begin_late_or_end_otherwise_keep_the_loop(way):
    assert reason(masked(OTHERS[way])) == "carried value 's' has no closed form"


def test_what_stopped_rows_would_become_keeps_the_loop():
    assert reason(masked(WAYS["below"], collected="%u")) == "carried value 's' has no closed form"
