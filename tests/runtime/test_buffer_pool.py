"""Memory of large results: used again once the caller has let go of every view, and never before."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from whorl.debug import debug
from whorl.ir.dtypes import BY_NAME
from whorl.runtime import buffer_pool
from whorl.runtime.buffer_pool import LARGE, adopt, empty, is_recycled, make_allocator, release

FLOAT32 = np.dtype(np.float32)
SHAPE = (LARGE // 4, 3)


@pytest.fixture(autouse=True)
def nothing_spare() -> None:
    buffer_pool._spare.clear()


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_memory_is_used_again_when_the_array_is_gone() -> None:
    first = empty(SHAPE, FLOAT32)
    where = address_of(first)
    del first
    gc.collect()
    assert address_of(empty(SHAPE, FLOAT32)) == where


def test_memory_is_not_used_again_while_a_view_is_stored() -> None:
    first = empty(SHAPE, FLOAT32)
    first[...] = 1
    view = first.reshape(-1)[5:9].view(np.int32)
    del first
    second = empty(SHAPE, FLOAT32)
    second[...] = 2
    assert (view.view(np.float32) == 1).all()


def test_views_of_what_an_array_lies_in_do_not_give_its_memory_back() -> None:
    array = empty(SHAPE, FLOAT32)
    inner = array.base
    assert inner is not None
    for view in (inner[3:], inner.view(np.int8), inner[:0], inner.copy()):
        del view
    gc.collect()
    assert not buffer_pool._spare
    del array
    gc.collect()
    assert not buffer_pool._spare
    del inner
    gc.collect()
    assert len(buffer_pool._spare) == 1


def test_array_is_like_any_other() -> None:
    array = empty(SHAPE, FLOAT32)
    assert array.shape == SHAPE and array.dtype == FLOAT32
    assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    assert is_recycled(array) and not is_recycled(array[1:])


@pytest.mark.parametrize(("shape", "dtype"), [((3,), FLOAT32), (SHAPE, np.dtype(object)), ((), FLOAT32)])
def test_small_arrays_and_objects_have_their_own_memory(shape, dtype) -> None:
    for array in (empty(shape, dtype), make_allocator(shape, dtype)()):
        assert array.shape == shape and not is_recycled(array)


def test_memory_of_another_size_is_left() -> None:
    first = empty(SHAPE, FLOAT32)
    where = address_of(first)
    del first
    other = empty((LARGE,), FLOAT32)
    assert address_of(other) != where
    assert address_of(empty(SHAPE, FLOAT32)) == where


def test_a_few_are_spare() -> None:
    arrays = [empty(SHAPE, FLOAT32) for _ in range(9)]
    del arrays
    gc.collect()
    assert len(buffer_pool._spare) == buffer_pool._spare.maxlen


def test_memory_passed_back_last_is_taken_first() -> None:
    first, second = empty(SHAPE, FLOAT32), empty(SHAPE, FLOAT32)
    where = address_of(second)
    del first
    del second
    assert address_of(empty(SHAPE, FLOAT32)) == where


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3,), (1 << 16,)])
def test_poison_makes_every_float_of_fresh_memory_nan(monkeypatch, dtype, shape):
    monkeypatch.setenv("WHORL_DEBUG", "poison")
    debug.cache_clear()
    try:
        for make in (empty, lambda shape, dtype: make_allocator(shape, dtype)()):
            assert np.isnan(make(shape, BY_NAME[dtype]).astype(np.float64)).all()
        assert (empty(shape, np.dtype(np.int64)) > 1 << 62).all()
    finally:
        monkeypatch.undo()
        debug.cache_clear()


def test_memory_that_an_array_adopts_goes_back_to_the_system() -> None:
    array = adopt(np.arange(64, dtype=np.uint8), (2, 3), FLOAT32)
    assert array.shape == (2, 3) and is_recycled(array)
    del array
    gc.collect()
    assert not buffer_pool._spare


def test_released_pool_is_empty() -> None:
    array = empty(SHAPE, FLOAT32)
    del array
    gc.collect()
    assert buffer_pool._spare
    release()
    assert not buffer_pool._spare
