"""Selections between truth values as logic."""

import numpy as np
from passes.bits import interpreted
from passes.programs import read

from whorl.passes.context import Context
from whorl.passes.unroll.truth_values import select_by_logic

TEXT = """main(%c: bool[2, 1], %a: bool[2], %b: bool[], %x: float32[2]) {
  %r: bool[2, 2] = Where(%c, %a, %b)
  %q: float32[2, 2] = Where(%c, %x, %x)
  return r = %r, q = %q
}"""


def test_truth_values_are_selected_by_logic_and_numbers_are_not():
    module = read(TEXT)
    select_by_logic(module, Context(module))
    assert [node.op.name for node in module.main.nodes] == ["And", "Not", "And", "Or", "Where"]
    for bits in range(16):
        c, a, b = (
            np.array([[bits & 1], [bits & 2]], bool),
            np.array([bits & 4, bits & 8], bool),
            np.array(bits % 3 == 0),
        )
        feeds = {"c": c, "a": a, "b": b, "x": np.zeros(2, np.float32)}
        assert np.array_equal(interpreted(module, feeds)[0], np.where(c, a, b))
