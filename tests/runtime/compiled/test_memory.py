"""Memory of programs: growable buffers keep their contents, sequences lie as rows."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32, INT64, STRING
from whorl.ir.types import AnyShape, TensorType
from whorl.runtime.buffer_pool import is_recycled
from whorl.runtime.compiled.memory import (
    ANY_RANK,
    GrowableMemory,
    address,
    array_at,
    flatten_list,
    stack_sequence,
    state_signature,
)

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_address_is_that_of_the_first_element() -> None:
    assert address(X) == X.ctypes.data
    assert address(X[1:]) == X.ctypes.data + 12
    np.testing.assert_array_equal(array_at(address(X), X.shape, X.dtype), X)


def test_buffer_that_grows_keeps_its_contents_and_frees_the_old_one() -> None:
    buffers = GrowableMemory()
    old = buffers.allocate(8)
    buffers.arrays[old][:] = 7
    new = buffers.grow(old, 32)
    assert (list(buffers.arrays), buffers.size) == ([new], 32)
    assert buffers.arrays[new][:8].tolist() == [7] * 8
    buffers.clear()
    assert (buffers.arrays, buffers.size) == ({}, 0)


@pytest.mark.parametrize("is_shown", [False, True])
def test_large_buffer_grows_with_its_contents_also_while_an_array_shows_it(is_shown: bool) -> None:
    buffers = GrowableMemory()
    start = buffers.allocate(1 << 20)
    buffers.arrays[start][-1] = 7
    shown = buffers.arrays[start][-1:] if is_shown else None
    for size in (1 << 21, 1 << 23):
        start = buffers.grow(start, size)
        assert (list(buffers.arrays), len(buffers.arrays[start]), buffers.size) == ([start], size, size)
    assert buffers.arrays[start][(1 << 20) - 1] == 7
    assert shown is None or shown.tolist() == [7]
    assert buffers.grow(start, 1 << 60) == 0
    assert list(buffers.arrays) == [start]
    assert buffers.arrays[start][(1 << 20) - 1] == 7


@pytest.mark.parametrize("size", [64, 1 << 20, 1 << 22])
def test_array_that_takes_a_buffer_is_alone_in_its_memory(size: int) -> None:
    buffers = GrowableMemory()
    start = buffers.allocate(size)
    buffers.arrays[start][:24] = X.reshape(-1).view(np.uint8)
    value = buffers.take(start, X.shape, X.dtype)
    assert (buffers.arrays, buffers.mappings, buffers.size) == ({}, {}, 0)
    np.testing.assert_array_equal(value, X)
    assert is_recycled(value) and value.flags.writeable and value.flags.c_contiguous


def test_buffer_that_cannot_grow_is_address_zero() -> None:
    buffers = GrowableMemory()
    old = buffers.allocate(8)
    assert buffers.grow(old, 1 << 62) == 0
    assert list(buffers.arrays) == [old]


def test_sequences_have_a_signature_where_their_tensors_are_equal() -> None:
    assert state_signature(X) is X
    assert state_signature([X, X]) == state_signature([X])
    assert state_signature([X, X[0]]) is None
    assert state_signature(None) is None


def test_sequence_is_stacked_and_an_empty_one_has_no_rows() -> None:
    type = TensorType(FLOAT32, (2, 2, 3))
    assert stack_sequence([X, X], type).shape == (2, 2, 3)
    assert stack_sequence([], type).shape == (0, 2, 3)


def test_lists_of_arrays_of_one_rank_are_elements_and_a_table() -> None:
    pair = flatten_list([X, X[:1, :2], X[:0]], TensorType(FLOAT32))
    assert pair is not None and pair[0].tolist() == [0, 1, 2, 3, 4, 5, 0, 1]
    assert pair[1].tolist() == [[0, 2, 3], [6, 1, 2], [8, 0, 3]]
    scalars = flatten_list([np.array(n, FLOAT32) for n in (3, 4)], TensorType(FLOAT32))
    assert scalars is not None and [a.tolist() for a in scalars] == [[3, 4], [[0], [1]]]
    for shape, columns in (((UNKNOWN, 3), 3), ((), 1), (AnyShape(), 1 + ANY_RANK)):
        empty = flatten_list([], TensorType(STRING, shape))
        assert empty is not None and [(a.shape, a.dtype) for a in empty] == [((0,), STRING), ((0, columns), INT64)]
    for value in ([X, X[0]], [X, X.astype(float)], X, None):
        assert flatten_list(value, TensorType(FLOAT32)) is None
