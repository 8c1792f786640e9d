"""Elements read whole, in blocks, in pieces, and by several readers."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from whorl.ir.elements import base
from whorl.ir.elements.base import Elements, Leaf, elements_of, leaves_of
from whorl.ir.elements.mapped import Mapped

NUMBERS = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


class Counted(Elements):
    """The negatives of an array, and how often they were computed."""

    __slots__ = ("array", "count")

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array.dtype, array.shape)
        self.array, self.count = array, 0

    def compute(self, region, memo):
        self.count += 1
        return -self.array[tuple(slice(a, b) for a, b in region)]


def add(x: Elements, y: Elements) -> Elements:
    return Mapped(np.add, [x, y], x.dtype, x.shape)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 0, 3), (2, 3), (1, 1, 1)])
def test_elements_of_every_shape_are_read_whole_and_in_blocks(shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    source = Counted(array)
    assert (source.size, source.ndim, source.nbytes) == (array.size, array.ndim, array.nbytes)
    assert source.numpy().shape == shape and source.numpy().tolist() == (-array).tolist()
    for limit in (1, 2, None):
        blocks = list(source.blocks(limit))
        assert all(block.ndim == array.ndim for block in blocks)
        assert [x for block in blocks for x in block.reshape(-1).tolist()] == (-array).reshape(-1).tolist()


@pytest.mark.parametrize(("start", "stop"), [(0, 24), (5, 5), (0, 1), (23, 24), (3, 21), (12, 24)])
def test_piece_of_the_row_major_order_is_a_vector(start, stop):
    assert Counted(NUMBERS).flat(start, stop).tolist() == (-NUMBERS).reshape(-1)[start:stop].tolist()
    assert Counted(NUMBERS).flat(start, stop).dtype == np.int32


def test_value_with_two_readers_is_computed_once_for_each_block():
    source = Counted(NUMBERS)
    total = add(source, source)
    assert total.numpy().tolist() == (-2 * NUMBERS).tolist() and source.count == 1
    alone = Counted(NUMBERS)
    add(alone, Leaf(NUMBERS)).numpy()
    assert alone.count == 1 and alone.shared == 1 and source.shared == 2


def test_array_is_shared_as_long_as_somebody_has_it():
    source = Counted(NUMBERS)
    first = source.numpy()
    assert source.numpy() is first and source.count == 1
    alive = weakref.ref(first)
    del first
    gc.collect()
    assert alive() is None and source.numpy() is not None and source.count == 2


def test_large_elements_are_read_block_by_block_into_an_array_of_their_own(monkeypatch):
    monkeypatch.setattr(base, "BLOCK", 5)
    source = Counted(NUMBERS)
    array = source.numpy()
    assert source.count > 4 and array.tolist() == (-NUMBERS).tolist()
    assert array.flags.c_contiguous and not array.flags.writeable


def test_leaf_is_the_array_itself():
    leaf = elements_of(NUMBERS)
    assert isinstance(leaf, Leaf) and leaf.numpy() is NUMBERS and elements_of(leaf) is leaf
    assert not leaf.is_across and leaf.depth == 0


def test_leaf_that_lies_in_columns_says_so():
    assert Leaf(NUMBERS.T).is_across and not Leaf(NUMBERS[:, ::2]).is_across and not Leaf(NUMBERS[::-1]).is_across
    assert not Leaf(np.broadcast_to(NUMBERS[:1], (5, 3, 4))).is_across
    assert add(Leaf(NUMBERS.T), Leaf(NUMBERS.T)).is_across


def test_window_is_wider_where_reading_jumps_about(monkeypatch):
    monkeypatch.setattr(base, "BLOCK", 4)
    large = np.broadcast_to(np.float32(0), (64, 64))
    assert Leaf(large).window == 4
    columns = Leaf(np.zeros((64, 64), np.float32).T)
    assert columns.window == 64 * 64 // 32


def test_core_of_repeated_axes_has_length_one_there():
    repeated = Leaf(np.broadcast_to(np.arange(3)[:, None], (2, 3, 4)))
    assert repeated.core().shape == (1, 3, 1) and repeated.core().reshape(-1).tolist() == [0, 1, 2]
    assert Leaf(np.array(5)).core().shape == ()


def test_depth_and_leaves_come_from_all_inputs():
    leaf, other = Leaf(NUMBERS), Leaf(NUMBERS)
    one = add(leaf, other)
    two = add(one, leaf)
    assert (one.depth, two.depth) == (1, 2) and set(leaves_of(two)) == {leaf, other}
    assert [*leaves_of(leaf)] == [leaf]


def test_chain_of_thousands_has_one_leaf():
    leaf = Leaf(NUMBERS)
    chain: Elements = leaf
    for _ in range(5000):
        chain = add(chain, leaf)
    assert [*leaves_of(chain)] == [leaf] and chain.depth == 5000


def test_elements_are_pickled_as_their_array():
    again = pickle.loads(pickle.dumps(add(Leaf(NUMBERS), Leaf(NUMBERS))))
    assert isinstance(again, Leaf) and again.array.tolist() == (2 * NUMBERS).tolist()


def test_elements_of_what_gives_an_array_are_its_own():
    class Lazy:
        dtype, shape = NUMBERS.dtype, NUMBERS.shape

        def numpy(self):
            return NUMBERS

    assert elements_of(Lazy()).numpy() is NUMBERS
