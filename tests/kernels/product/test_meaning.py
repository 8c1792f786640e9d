"""What products mean, and how much memory they use."""

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.kernels.product.layout import pack_matrix, words_of
from whorl.kernels.product.meaning import PACKED_DOTS, PACKED_MATMUL, VECTOR_MATMUL


def test_vector_matmul_is_a_row_by_a_matrix():
    x, b, y = np.arange(3.0), np.arange(6.0), np.zeros(2)
    VECTOR_MATMUL.run([y, x, b], (3, 2))
    assert y.tolist() == (x @ b.reshape(3, 2)).tolist()
    assert VECTOR_MATMUL.extents((3, 2), FLOAT32) == (2, 3, 6)


def test_packed_matmul_widens_a_narrow_matrix():
    a, b = np.arange(6, dtype=np.float32), np.arange(15, dtype=np.int8).reshape(3, 5)
    packed, c = pack_matrix(b, 4), np.zeros(10, np.float32)
    numbers = (2, 3, 5, 4)
    PACKED_MATMUL.run([c, a, packed.reshape(-1)], numbers)
    assert c.reshape(2, 5).tolist() == (a.reshape(2, 3) @ b).tolist()
    assert PACKED_MATMUL.extents(numbers, FLOAT32) == (10, 6, packed.size)
    assert PACKED_MATMUL.steps(numbers) == 30


def test_product_over_nothing_is_zero():
    y = np.full(4, np.nan)
    VECTOR_MATMUL.run([y, np.zeros(0), np.zeros(0)], (0, 4))
    assert y.tolist() == [0, 0, 0, 0]


def test_packed_dots_take_bytes_without_sign_by_bytes_with_one():
    a, b = np.array([[255, 1, 2, 3, 255]], np.uint8), np.array([[-128], [1], [2], [3], [127]], np.int8)
    c, words = np.zeros(1, np.int32), np.ascontiguousarray(words_of(a.T).T)
    PACKED_DOTS.run([c, words, pack_matrix(words_of(b), 4).reshape(-1)], (1, 2, 1, 4))
    assert c.tolist() == [255 * -128 + 14 + 255 * 127]
