"""Extremes so far, in steps of indices."""

import numpy as np
import pytest
from passes.vectorize.programs import check, kinds

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
    module = check(text, *map(feeds, (0, 1, 2, 3, 9, 31, 32, 33, 243, 244)))
    assert "Loop" not in kinds(module)


@pytest.mark.parametrize(("count", "steps"), [(5, 1), (31, 1), (32, 2), (1000, 2), (1100, 3)])
def test_fixed_length_takes_as_few_steps_as_it_needs(count, steps):
    text = BODY.format(update="%t: float32[2] = Max(%s, %v)").replace("[n,", f"[{count},")
    module = check(text, feeds(count))
    assert list(kinds(module)).count("ReduceMax") == steps


def test_extremes_of_nan_are_nan_from_there_on():
    text = BODY.format(update="%t: float32[2] = Max(%s, %v)")
    fed = feeds(9)
    fed["x"][4, 1] = np.nan
    check(text, fed)
