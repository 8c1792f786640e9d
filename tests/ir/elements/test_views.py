"""Views of elements that are not computed equal NumPy's views of the array, in every part that is read."""

import numpy as np
import pytest

from whorl.ir.elements.base import Elements, Leaf
from whorl.ir.elements.mapped import Mapped
from whorl.ir.elements.views import Concatenated, Reshaped, StridedView, tiled, viewed

NUMBERS = np.arange(2 * 3 * 4, dtype=np.int32).reshape(2, 3, 4)


def waiting(array: np.ndarray = NUMBERS) -> Elements:
    """Elements that must be computed: the negatives of an array."""
    return Mapped(np.negative, [Leaf(array)], array.dtype, array.shape)


VIEWS = {
    "transposed": lambda x: x.transpose(2, 0, 1),
    "cut": lambda x: x[1:, :, 1:3],
    "backwards in steps": lambda x: x[::-1, :, ::-2],
    "axes of length 1 added": lambda x: x[:, None, :, :, None],
    "an axis dropped": lambda x: x[:, 1],
    "repeated": lambda x: np.broadcast_to(x[:, None], (2, 5, 3, 4)),
    "merged": lambda x: x.reshape(6, 4),
    "divided": lambda x: x.reshape(2, 3, 2, 2),
    "flat": lambda x: x.reshape(-1),
    "unchanged": lambda x: x,
}


def assert_reads(actual: Elements, expected: np.ndarray) -> None:
    """Whole, element by element, and in parts."""
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual.numpy(), expected)
    for limit in (1, 5):
        blocks = [block.reshape(-1) for block in actual.blocks(limit)]
        np.testing.assert_array_equal(np.concatenate(blocks), expected.reshape(-1))
    np.testing.assert_array_equal(actual.flat(1, expected.size), expected.reshape(-1)[1:])


@pytest.mark.parametrize("name", VIEWS)
def test_view_of_waiting_elements(name):
    (actual,) = viewed(VIEWS[name], waiting()) or ()
    assert not isinstance(actual, Leaf)
    assert_reads(actual, -VIEWS[name](NUMBERS))


@pytest.mark.parametrize("name", VIEWS)
def test_view_of_what_is_stored_shares_its_memory(name):
    (actual,) = viewed(VIEWS[name], Leaf(NUMBERS)) or ()
    assert isinstance(actual, Leaf) and np.shares_memory(actual.array, NUMBERS)
    assert_reads(actual, VIEWS[name](NUMBERS))


def test_reshape_of_what_lies_in_another_order_waits():
    (actual,) = viewed(lambda x: x.reshape(12, 2), Leaf(NUMBERS.T)) or ()
    assert isinstance(actual, Reshaped)
    assert_reads(actual, NUMBERS.T.reshape(12, 2))


def test_several_views_at_once():
    first, second = viewed(lambda x: tuple(np.split(x, [1], 2)), waiting()) or ()
    assert_reads(first, -NUMBERS[..., :1])
    assert_reads(second, -NUMBERS[..., 1:])


def test_views_of_views():
    (turned,) = viewed(lambda x: x.transpose(2, 0, 1), waiting()) or ()
    (cut,) = viewed(lambda x: x[1:3, ::-1], turned) or ()
    assert isinstance(cut, StridedView)
    assert_reads(cut, -NUMBERS.transpose(2, 0, 1)[1:3, ::-1])


def test_nothing_and_a_diagonal_are_no_views():
    assert viewed(lambda x: x[:0], waiting()) is None
    assert viewed(lambda x: np.einsum("ijj->ij", x), waiting(np.zeros((2, 3, 3)))) is None


def test_combined_and_tiled():
    assert_reads(Concatenated([waiting(), Leaf(NUMBERS)], 1), np.concatenate([-NUMBERS, NUMBERS], 1))
    actual = tiled(waiting(), (2, 1, 3))
    assert actual is not None
    assert_reads(actual, np.tile(-NUMBERS, (2, 1, 3)))


def test_shared_part_is_computed_once_a_block():
    calls = []

    def counted(x: np.ndarray) -> np.ndarray:
        calls.append(x.shape)
        return x + 1

    shared: Elements = Mapped(counted, [Leaf(NUMBERS)], NUMBERS.dtype, NUMBERS.shape)
    for _ in range(20):
        shared = Mapped(np.add, [shared, shared], NUMBERS.dtype, NUMBERS.shape)
    np.testing.assert_array_equal(shared.numpy(), (NUMBERS + 1) << 20)
    assert len(calls) == 1
