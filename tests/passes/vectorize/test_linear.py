"""Linear recurrences: an LSTM of linear activations."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import kinds, reason, vectorized

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


@pytest.mark.parametrize(
    "update",
    [
        "%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %v)",
        "%m: float32[2] = Mul(%a, %s)\n %t: float32[2] = Add(%v, %m)",
    ],
)
def test_linear_recurrence_is_an_lstm(update):
    text = BODY.format(update=update)
    module, remaining = vectorized(text, linear=True)
    assert not remaining and "Loop" not in kinds(module) and "LSTM" in kinds(module)
    for count in (0, 1, 2, 3, 9):
        fed = feeds(count)
        for expected, actual in zip(interpreted(copied(read(text)), fed), interpreted(module, fed), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("update", "options"),
    [
        ("%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %v)", {}),
        ("%m: float32[2] = Mul(%s, %s)\n %t: float32[2] = Add(%m, %v)", {"linear": True}),
        ("%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %s)", {"linear": True}),
        ("%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Sub(%m, %v)", {"linear": True}),
    ],
)
def test_other_recurrences_have_no_closed_form(update, options):
    assert reason(BODY.format(update=update), **options) == "carried value 's' has no closed form"


def test_wide_rows_stay_in_their_loop():
    text = BODY.format(update="%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %v)").replace("2]", "129]")
    assert (
        reason(text, linear=True) == "carried value 's' has no closed form: rows of 129 elements are as fast in a loop"
    )


@pytest.mark.parametrize(("width", "size"), [(1, 1), (7, 7), (17, 1), (24, 12), (128, 16)])
def test_elements_of_a_row_are_a_batch_of_groups(width, size):
    text = BODY.format(update="%m: float32[2] = Mul(%s, %a)\n %t: float32[2] = Add(%m, %v)")
    module, _ = vectorized(text.replace("2]", f"{width}]"), linear=True)
    (op,) = (node.op for node in module.nodes() if node.op.name == "LSTM")
    assert op.hidden_size == size
