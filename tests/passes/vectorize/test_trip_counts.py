"""Trip counts of loops that a counter ends."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.ir.verify import verify
from whorl.passes.context import Context
from whorl.passes.vectorize.trip_counts import count_iterations

LOOP = """main(%n: int64[], %from: int64[], %most: int64[], %yes: bool[], %x: float32[]) {{
  %k: int64[], %s: float32[] = Loop({trip}, %yes, %from, %x, %n) {{carried = 2}}
  body(%i: int64[], %g: bool[], %k: int64[], %s: float32[], %n: int64[]) {{
    %two: int64[] = Constant() {{value = int64[] <2>}}
    %one: float32[] = Constant() {{value = float32[] <1>}}
    %t: float32[] = Add(%s, %one)
    {update}
    {condition}
    return %o, %m, %t
  }}
  return k = %k, s = %s
}}"""
UP, DOWN = "%m: int64[] = Add(%k, %two)", "%m: int64[] = Sub(%k, %two)"
CASES = {
    "counter_below": (UP, "%o: bool[] = Less(%m, %n)", "_"),
    "counter_before_its_step": (UP, "%o: bool[] = Less(%k, %n)", "_"),
    "counter_at_most": (UP, "%o: bool[] = LessOrEqual(%m, %n)", "_"),
    "limit_above": (UP, "%o: bool[] = Greater(%n, %m)", "_"),
    "not_at_least": (UP, "%p: bool[] = GreaterOrEqual(%m, %n)\n%o: bool[] = Not(%p)", "_"),
    "falling_above": (DOWN, "%o: bool[] = Greater(%m, %n)", "_"),
    "falling_at_least": (DOWN, "%o: bool[] = GreaterOrEqual(%m, %n)", "_"),
    "iteration_number": (UP, "%o: bool[] = Less(%i, %n)", "_"),
    "number_beside": (UP, "%p: int64[] = Add(%m, %two)\n%o: bool[] = Less(%p, %n)", "_"),
    "with_a_trip_count": (UP, "%o: bool[] = Less(%m, %n)", "%most"),
}


def counted(update: str, condition: str, trip: str):
    text = LOOP.format(update=update, condition=condition, trip=trip)
    before, module = read(text), read(text)
    count_iterations(module, Context(module))
    verify(module)
    (loop,) = (node for node in module.nodes() if node.op.name == "Loop")
    return before, module, loop


@pytest.mark.parametrize("case", CASES)
def test_loop_runs_as_often_as_its_counter_says(case):
    before, after, loop = counted(*CASES[case])
    assert loop.inputs[0] is not None and loop.regions[0].results[0].known is not None
    for n in (-3, 0, 1, 4, 5):
        for first in (-1, 0, 3, 6):
            for yes in (True, False):
                feeds = {"n": n, "from": first, "most": 2, "yes": yes, "x": np.float32(0)}
                arrays = {name: np.asarray(value) for name, value in feeds.items()}
                assert interpreted(before, arrays) == interpreted(after, arrays), feeds


def test_other_parts_of_a_condition_stay():
    rest = "%p: bool[] = Less(%m, %n)\n%l: float32[] = Abs(%t)\n%q: bool[] = Less(%l, %one)\n%o: bool[] = And(%q, %p)"
    _, _, loop = counted(UP, rest, "_")
    assert loop.inputs[0] is not None and loop.regions[0].results[0].owner.op.name == "Less"


@pytest.mark.parametrize(
    ("update", "condition"),
    [
        (DOWN, "%o: bool[] = Less(%m, %n)"),
        ("%m: int64[] = Mul(%k, %two)", "%o: bool[] = Less(%m, %n)"),
        (UP, "%o: bool[] = Less(%t, %s)"),
        (UP, "%o: bool[] = Equal(%m, %n)"),
        (UP, "%o: bool[] = Less(%m, %k)"),
    ],
)
def test_condition_without_a_counter_that_gets_there_remains(update, condition):
    _, _, loop = counted(update, condition, "_")
    assert loop.inputs[0] is None
