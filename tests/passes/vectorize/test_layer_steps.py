"""Loops whose body has a layer of one step are one layer over all steps."""

from collections.abc import Iterable

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import kinds, reason, vectorized

LSTM = """main(%x: float32[{n}, {m}, 2], %w: float32[1, 12, 2], %r: float32[1, 12, 3], %h: float32[{m}, 3]) {{
  %o: float32[{m}, 3], %l: float32[{m}, 3], %y: float32[{n}, {m}, 3] = Loop(_, _, %h, %h, %x, %w, %r)
    {{carried = 2, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[{m}, 3], %c: float32[{m}, 3], %v: float32[{m}, 2], %w: float32[1, 12, 2],
       %r: float32[1, 12, 3]) {{
    %zero: int64[1] = Constant() {{value = int64[1] <0>}}
    %v1: float32[1, {m}, 2] = Unsqueeze(%v, %zero)
    %s1: float32[1, {m}, 3] = Unsqueeze(%s, %zero)
    %c1: float32[1, {m}, 3] = Unsqueeze(%c, %zero)
    %a: float32[1, 1, {m}, 3], %hn: float32[1, {m}, 3], %cn: float32[1, {m}, 3] =
      LSTM(%v1, %w, %r, _, _, {starts}) {{{options}}}
    %t: float32[{m}, 3] = Squeeze({h}, %zero)
    %u: float32[{m}, 3] = Squeeze({c}, %zero)
    return %g, %t, %u, %t
  }}
  return o = %o, l = %l, y = %y
}}"""
PLAIN = {"n": "n", "m": "m", "starts": "%s1, %c1", "options": "hidden_size = 3", "h": "%hn", "c": "%cn"}


def feeds(count: int, batch: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng([count, batch])
    shapes = {"x": (count, batch, 2), "w": (1, 12, 2), "r": (1, 12, 3), "h": (batch, 3)}
    return {name: draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def check_near(text: str, op: str, runs: Iterable[dict[str, np.ndarray]]) -> None:
    """One op is left, and gives what the loop gives, but for the order in which products sum."""
    module, remaining = vectorized(text)
    assert not remaining and op in kinds(module) and "Loop" not in kinds(module)
    for feed in runs:
        for expected, actual in zip(interpreted(copied(read(text)), feed), interpreted(module, feed), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_cell_in_a_loop_becomes_one_layer():
    runs = [feeds(count, batch) for count in (0, 1, 2, 7) for batch in (1, 3)]
    check_near(LSTM.format(**PLAIN), "LSTM", runs)


@pytest.mark.parametrize(
    "change",
    [
        {"starts": "%c1, %s1"},
        {"h": "%cn", "c": "%hn"},
        {"starts": "%s1, %s1"},
    ],
)
def test_layer_of_other_states_remains(change):
    assert "has no closed form" in reason(LSTM.format(**PLAIN | change))


def test_layer_that_goes_backwards_through_one_step_is_none_that_goes_forwards():
    text = LSTM.format(**PLAIN | {"options": 'hidden_size = 3, direction = "reverse"'})
    assert "has no closed form" in reason(text)


GRU = """main(%x: float32[n, 2, 2], %w: float32[1, 9, 2], %r: float32[1, 9, 3], %b: float32[1, 18], %h: float32[2, 3]) {
  %o: float32[2, 3], %y: float32[n, 2, 3] = Loop(_, _, %h, %x, %w, %r, %b)
    {carried = 1, scanned = (Scanned(),), collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2, 3], %v: float32[2, 2], %w: float32[1, 9, 2], %r: float32[1, 9, 3],
       %b: float32[1, 18]) {
    %zero: int64[1] = Constant() {value = int64[1] <0>}
    %v1: float32[1, 2, 2] = Unsqueeze(%v, %zero)
    %s1: float32[1, 2, 3] = Unsqueeze(%s, %zero)
    %a: float32[1, 1, 2, 3], %hn: float32[1, 2, 3] = GRU(%v1, %w, %r, %b, _, %s1) {hidden_size = 3}
    %t: float32[2, 3] = Squeeze(%hn, %zero)
    return %g, %t, %s
  }
  return o = %o, y = %y
}"""


def test_cell_of_one_state_gives_also_what_it_was_before():
    draw = np.random.default_rng(0)
    shapes = {"w": (1, 9, 2), "r": (1, 9, 3), "b": (1, 18), "h": (2, 3)}
    fixed = {name: draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    check_near(GRU, "GRU", [{"x": np.ones((count, 2, 2), np.float32)} | fixed for count in (0, 1, 5)])
