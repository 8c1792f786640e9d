"""A cell applied to every step of a batch of sequences."""

import numpy as np
import pytest

from whorl.formats.openvino.ops.recurrent.loop import over_steps
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.runtime.session import Session

FLOAT32, INT32 = np.dtype(np.float32), np.dtype(np.int32)
X = np.array([[[1], [2], [3]], [[4], [5], [6]], [[7], [8], [9]]], np.float32)
STATE = np.array([[[10, 20]], [[30, 40]], [[50, 60]]], np.float32).transpose(0, 2, 1).copy()
ONE = np.ones((2, 1), np.float32)


def decayed(b, x, state, w, r, bias):
    """h * 0.5 + x: a cell that shows in which order the steps come."""
    return [b.add(Add(), b.add(Mul(), state[0], b.number(0.5)), x)]


def run(reversals: tuple[bool, ...], lengths: list[int]) -> tuple[list, list]:
    """Y [batch, directions, steps, hidden] and the last state, for the batch X of three rows."""
    count = len(reversals)
    region = Region()
    feeds = {"x": X, "h": STATE[:, :count], "n": np.array(lengths, np.int32), "w": ONE[:count]}
    x, h, n, w = (region.add_argument(k, TensorType(v.dtype, v.shape)) for k, v in feeds.items())
    y, last = over_steps(Builder(region, Inference()), decayed, reversals, x, [h], n, [w, w, w])
    region.results = [y, last]
    outputs = Session(Module(region, ["y", "last"]), backend="interpreter").execute(None, feeds)
    return outputs[0][..., 0].tolist(), outputs[1][..., 0].tolist()


def test_rows_stop_at_their_lengths() -> None:
    y, last = run((False,), [3, 2, 0])
    assert y == [[[6, 5, 5.5]], [[19, 14.5, 0]], [[0, 0, 0]]]
    assert last == [[5.5], [14.5], [0]]


def test_reverse_begins_at_the_last_step_of_each_row() -> None:
    y, last = run((True,), [3, 2, 1])
    assert y == [[[4, 6, 8]], [[14, 20, 0]], [[32, 0, 0]]]
    assert last == [[4], [14], [32]]


def test_directions_have_states_of_their_own() -> None:
    y, last = run((False, True), [3, 3, 3])
    assert y[0] == [[6, 5, 5.5], [5.25, 8.5, 13]]
    assert last[0] == [5.5, 5.25]


def after(state: float, steps: list[float]) -> list[float]:
    """The states after each step."""
    states = []
    for x in steps:
        state = state * 0.5 + x
        states.append(state)
    return states


@pytest.mark.parametrize("lengths", [[3, 3, 3], [0, 0, 0]])
def test_lengths_belong_to_rows_not_to_the_batch(lengths: list[int]) -> None:
    _, last = run((False,), lengths)
    expected = [[after(h, list(row))[-1]] for h, row in zip((10, 30, 50), X[..., 0], strict=True)]
    assert last == (expected if lengths[0] else [[0], [0], [0]])
