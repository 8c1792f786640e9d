"""Loops that end after so many iterations at the latest."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.ir.verify import verify
from whorl.passes.context import Context
from whorl.passes.unroll.bounding import bound_loops

TEXT = """main(%n: int32[1], %x: float32[]) {{
  %yes: bool[] = Constant() {{value = bool[] <True>}}
  %r: float32[] = Loop "double" ({trip}, %yes, %x) {{carried = 1}}
  body(%i: int64[], %g: bool[], %s: float32[]) {{
    %t: float32[] = Add(%s, %s)
    return %g, %t
  }}
  return r = %r
}}"""


def bounded(trip: str, **bounds: int):
    module = read(TEXT.format(trip=trip))
    bound_loops(module, Context(module), bounds)
    verify(module)
    return module


@pytest.mark.parametrize(("trip", "n", "result"), [("%n", 2, 4), ("%n", 9, 8), ("%n", -1, 1), ("_", 0, 8)])
@pytest.mark.parametrize("name", ["double", "r"])
def test_loop_ends_at_its_bound_or_before(trip, n, result, name):
    feeds = {"n": np.array([n], np.int32), "x": np.float32(1)}
    assert interpreted(bounded(trip, **{name: 3}), feeds) == [result]


def test_loops_of_other_names_keep_their_trip_counts():
    (loop,) = (node for node in bounded("%n", other=3).nodes() if node.op.name == "Loop")
    assert loop.inputs[0].name == "n"
