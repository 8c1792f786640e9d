"""What may fail where it would not run is made total: indices and divisors."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.passes.context import Context
from whorl.passes.unroll.clamping import speculatable
from whorl.passes.unroll.legality import CannotUnroll

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def total(node: str):
    """A program of one node, and the same where the node cannot fail."""
    text = f"main(%x: float32[n, 2], %z: float32[3], %k: int64[m], %d: int64[m]) {{\n  {node}\n  return y = %y\n}}"
    module, before = read(text), read(text)
    module.main = speculatable(module.main, Context(module).inference)
    return before, module


@pytest.mark.parametrize(
    "node",
    [
        "%y: float32[m, 2] = Gather(%x, %k)",
        "%y: float32[n, m] = Gather(%x, %k) {axis = 1}",
        "%y: float32[m] = Gather(%z, %k)",
        "%y: int64[m] = Div(%k, %d)",
        "%y: int64[m] = Mod(%k, %d)",
    ],
)
def test_operands_that_fit_give_what_they_gave(node):
    before, after = total(node)
    feeds = {"x": ROWS, "z": ROWS[:, 0], "k": np.array([1, 0, -1, -2]), "d": np.array([1, -2, 3, 4])}
    assert np.array_equal(interpreted(before, feeds)[0], interpreted(after, feeds)[0])


def test_indices_outside_and_divisors_of_zero_give_something():
    feeds = {"x": ROWS, "z": ROWS[:, 0], "k": np.array([-9, 9]), "d": np.array([0, 0])}
    assert interpreted(total("%y: float32[m, 2] = Gather(%x, %k)")[1], feeds)[0].tolist() == [[0, 1], [0, 0]]
    assert interpreted(total("%y: float32[m] = Gather(%z, %k)")[1], feeds)[0].tolist() == [0, 4]
    assert interpreted(total("%y: int64[m] = Div(%k, %d)")[1], feeds)[0].tolist() == [-9, 9]
    empty = feeds | {"x": ROWS[:0]}
    assert interpreted(total("%y: float32[m, 2] = Gather(%x, %k)")[1], empty)[0].tolist() == [[0, 0], [0, 0]]


def test_other_nodes_that_may_fail_are_the_reason():
    with pytest.raises(CannotUnroll) as caught:
        total("%y: int64[m] = Pow(%k, %d)")
    assert str(caught.value) == "Pow 'y' may fail on values that it does not see now"


def test_texts_are_not_read_at_clamped_indices():
    module = read("main(%x: string[n], %k: int64[]) {\n %y: string[] = Gather(%x, %k)\n return y = %y\n}")
    with pytest.raises(CannotUnroll) as caught:
        speculatable(module.main, Context(module).inference)
    assert str(caught.value) == "Gather 'y' may fail on values that it does not see now"
