"""Sums block by block, to the last bit those of the whole array."""

import ml_dtypes
import numpy as np
import pytest

from whorl.ir.elements import sums
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import Mapped
from whorl.ir.elements.sums import blockwise_sum, row_major


@pytest.mark.parametrize("count", [0, 1, 7, 8, 1023, 1024, 1025, 5000, 12345, 65536])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_sum_of_floats_has_every_bit_of_that_of_the_array(count, dtype, monkeypatch):
    monkeypatch.setattr(sums, "BLOCK", 1024)
    array = np.random.default_rng(count).standard_normal(count).astype(dtype)
    total = blockwise_sum(Mapped(np.negative, [Leaf(-array)], array.dtype, array.shape))
    kind = np.float64 if dtype is np.float64 else np.float32
    assert total.dtype == kind and total.shape == ()
    assert total.tobytes() == np.add.reduce(array.astype(kind)).tobytes()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_sum_of_integers_wraps(dtype, monkeypatch):
    monkeypatch.setattr(sums, "BLOCK", 16)
    array = np.full(1000, np.iinfo(dtype).max, dtype)
    total = blockwise_sum(Leaf(array))
    assert total.dtype == dtype and total == np.add.reduce(array, dtype=dtype)


def test_rows_are_added_in_row_major_order(monkeypatch):
    monkeypatch.setattr(sums, "BLOCK", 64)
    array = np.random.default_rng(0).standard_normal((40, 50)).astype(np.float32).T
    assert blockwise_sum(Leaf(array)).tobytes() == np.add.reduce(np.ascontiguousarray(array).reshape(-1)).tobytes()


@pytest.mark.parametrize("special", [np.inf, np.nan, -0.0])
def test_special_numbers_are_added_as_they_are(special):
    assert (
        blockwise_sum(Leaf(np.full(3, special, np.float32))).tobytes()
        == np.full(3, special, np.float32).sum().tobytes()
    )


def test_row_major_array_is_not_copied():
    array = np.ones((2, 3))
    assert row_major(array) is array
    assert row_major(array.T) is not array.T and row_major(array.T).flags.c_contiguous
    assert row_major(np.array(1.0)).shape == ()
