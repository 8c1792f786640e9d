"""Closed forms in steps that double: extremes so far, and linear recurrences."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import check, kinds, reason, vectorized

BODY = """main(%h: float32[2], %x: float32[n, 2], %f: float32[n, 1]) {{
  %r: float32[2], %y: float32[n, 2] = Loop(_, _, %h, %x, %f)
    {{carried = 1, scanned = (Scanned(), Scanned()), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[2], %v: float32[2], %a: float32[1]) {{
    {update}
    return %g, %t, %t
  }}
  return r = %r, y = %y
}}"""
RNG = np.random.default_rng(0)


def feeds(count: int) -> dict[str, np.ndarray]:
    names = {"h": (2,), "x": (count, 2), "f": (count, 1)}
    return {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in names.items()}


@pytest.mark.parametrize("op", ["Max", "Min"])
def test_extremes_so_far_keep_every_bit(op):
    text = BODY.format(update=f"%t: float32[2] = {op}(%s, %v)")
    module = check(text, *map(feeds, (0, 1, 2, 3, 9)))
    assert "Loop" not in kinds(module)


@pytest.mark.parametrize(
    "update",
    [
        "%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %v)",
        "%m: float32[2] = Mul(%a, %s)\n %t: float32[2] = Add(%v, %m)",
    ],
)
def test_linear_recurrence_where_sums_may_be_regrouped(update):
    text = BODY.format(update=update)
    module, remaining = vectorized(text, doubling=True)
    assert not remaining and "Loop" not in kinds(module)
    for count in (0, 1, 2, 3, 9):
        fed = feeds(count)
        for expected, actual in zip(interpreted(copied(read(text)), fed), interpreted(module, fed), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("update", "options"),
    [
        ("%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %v)", {}),
        ("%m: float32[2] = Mul(%s, %s)\n %t: float32[2] = Add(%m, %v)", {"doubling": True}),
        ("%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %s)", {"doubling": True}),
        ("%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Sub(%m, %v)", {"doubling": True}),
    ],
)
def test_other_recurrences_have_no_closed_form(update, options):
    assert reason(BODY.format(update=update), **options) == "carried value 's' has no closed form"


def test_fixed_length_takes_as_many_steps_as_it_has_digits():
    text = BODY.format(update="%t: float32[2] = Max(%s, %v)").replace("[n,", "[5,")
    module = check(text, feeds(5))
    assert list(kinds(module)).count("Max") == 2 * 3
