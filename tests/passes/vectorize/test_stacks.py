"""How many iterations a loop has, and what is refused where that cannot be said."""

import numpy as np
import pytest
from passes.vectorize.programs import check, reason

LOOP = """main({inputs}) {{
  %r: float32[m, 3] = Loop({trip}, _{scanned}) {{{how}collected = (Collected(),)}}
  body(%i: int64[], %g: bool[]{slices}) {{
    %z: float32[3] = Constant() {{value = float32[3] <0 1 2>}}
    %f: float32[] = Cast(%i) {{to = float32}}
    %b: float32[3] = Mul(%z, %f)
    return %g, %b
  }}
  return r = %r
}}"""


@pytest.mark.parametrize("trip", [-3, 0, 1, 5])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("shape", ["", "1"])
def test_trip_count_of_any_integer_type(trip, dtype, shape):
    text = LOOP.format(inputs=f"%n: {dtype}[{shape}]", trip="%n", scanned="", how="", slices="")
    check(text, {"n": np.full([1] * len(shape), trip, dtype)})


@pytest.mark.parametrize(
    ("inputs", "how", "why"),
    [
        ("%x: float32[a, 3], %y: float32[b, 3]", "Scanned(), Scanned()", "its scanned inputs may differ in length"),
        (
            "%x: float32[a, 3], %y: float32[a, 3]",
            "Scanned(keep_axis = True, part = 2), Scanned(keep_axis = True, part = 2)",
            "its scanned inputs may not fall into whole parts",
        ),
    ],
)
def test_scanned_inputs_that_may_not_fit_keep_the_loop(inputs, how, why):
    parts = [", %v: float32[2, 3]" if "part" in piece else ", %v: float32[3]" for piece in how.split("), ")]
    slices = "".join(part.replace("%v", f"%v{k}") for k, part in enumerate(parts))
    text = LOOP.format(inputs=inputs, trip="_", scanned=", %x, %y", how=f"scanned = ({how}), ", slices=slices)
    assert reason(text) == why


def test_loop_that_only_its_condition_ends_remains():
    text = """main(%x: float32[]) {
      %yes: bool[] = Constant() {value = bool[] <True>}
      %r: float32[] = Loop(_, %yes, %x) {carried = 1}
      body(%i: int64[], %g: bool[], %s: float32[]) {
        return %g, %s
      }
      return r = %r
    }"""
    assert reason(text) == "only its condition ends it"
