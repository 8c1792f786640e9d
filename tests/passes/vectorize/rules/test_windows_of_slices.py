"""Slices that begin at the number of the iteration, which are windows of one length."""

import numpy as np
import pytest
from passes.vectorize.programs import check, reason

TEXT = """main(%x: float32[{shape}]) {{
  %k: int64[] = Constant() {{value = int64[] <{trips}>}}
  %r: float32[{trips}, 2, 2] = Loop(%k, _, %x) {{collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %v: float32[{shape}]) {{
    %one: int64[1] = Constant() {{value = int64[1] <1>}}
    %two: int64[] = Constant() {{value = int64[] <2>}}
    %a: int64[] = Add(%i, %two)
    %end: int64[1] = Unsqueeze(%a, %zero)
    %start: int64[1] = Unsqueeze(%i, %zero)
    %y: float32[2, 2] = Slice(%v, %start, %end, %axis{steps})
    return %g, %y
  }}
  return r = %r
}}"""


def text(axis, trips, shape, steps=""):
    pairs = (("zero", 0), ("axis", axis))
    more = "".join(f"%{name}: int64[1] = Constant() {{value = int64[1] <{n}>}}\n" for name, n in pairs)
    return TEXT.format(trips=trips, shape=shape, steps=steps).replace("%one:", more + "%one:", 1)


@pytest.mark.parametrize(("axis", "shape"), [(0, (5, 2)), (-1, (2, 5))])
@pytest.mark.parametrize("trips", [1, 4])
def test_windows_of_all_rows_are_gathered(axis, shape, trips):
    x = np.arange(10, dtype=np.float32).reshape(shape)
    check(text(axis, trips, f"{shape[0]}, {shape[1]}"), {"x": x})


@pytest.mark.parametrize(("trips", "shape", "steps"), [(5, "5, 2", ""), (2, "n, 2", ""), (2, "5, 2", ", %end")])
def test_windows_that_may_be_cut_short_are_the_reason(trips, shape, steps):
    assert reason(text(0, trips, shape, steps)) == "Slice 'y': rows are slices of different lengths"
