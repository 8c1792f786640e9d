"""Packed weights."""

import numpy as np
import pytest

from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.product.layout import pack_matrix, packed_shape, panel_width, unpack_matrix, word_count, words_of


@pytest.mark.parametrize("shape", [(1, 1), (3, 31), (5, 32), (7, 33), (0, 8), (4, 0)])
def test_packed_matrix_unpacks_to_itself(shape):
    matrix = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    packed = pack_matrix(matrix, 32)
    assert packed.shape == packed_shape(*shape, 32)
    assert not packed.size or packed.ctypes.data % 64 == 0
    np.testing.assert_array_equal(unpack_matrix(packed, shape[1]), matrix)


def test_transposed_matrix_is_packed_as_it_is_read():
    matrix = np.arange(35, dtype=np.float32).reshape(7, 5).T
    np.testing.assert_array_equal(unpack_matrix(pack_matrix(matrix, 3), 7), matrix)


def test_columns_beyond_the_matrix_are_zeros():
    assert not pack_matrix(np.ones((2, 5), np.float32), 4)[1, :, 1:].any()


def test_few_rows_have_wide_panels():
    assert [panel_width(rows, FLOAT32) for rows in (1, 3, 4)] == [64, 64, 32]
    assert panel_width(4, FLOAT64) == 16


def test_words_have_four_rows_of_bytes_each_the_lowest_first():
    words = words_of(np.array([[1, -1], [2, 0], [3, 0], [4, 0], [5, -128]], np.int8))
    assert words.view(np.uint32).tolist() == [[0x04030201, 0xFF], [5, 0x80]] and words.dtype == np.int32
    assert [word_count(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert words_of(np.zeros((0, 3), np.uint8)).shape == (0, 3)
