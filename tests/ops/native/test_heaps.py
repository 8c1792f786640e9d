"""Keys in the order of numbers, and heaps of entries, interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.dtypes import BY_NAME, INT64
from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.native.heaps import Heap, entry_of, key_of, position_of

FLOATS = [-np.inf, -3.5, -1e-30, 0.0, 1e-30, 2.0, np.inf, np.nan]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_keys_of_floats_are_in_order_and_zeros_are_equal(dtype: str) -> None:
    x = np.array([*FLOATS, -0.0, -np.nan], BY_NAME[dtype])
    keys = run_form(lambda k, view: k.view(INT64, view.shape, lambda i: key_of(k, view.at(i)), 1), x)
    assert keys is not None
    expected = np.unique(x[:8].astype(np.float64), return_inverse=True)[1]
    assert np.array_equal(np.unique(keys[:8], return_inverse=True)[1], expected)
    assert keys[8] == keys[3] and keys[9] == keys[7] == keys.max()
    assert dtype == "float64" or abs(keys).max() <= 1 << 31


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_keys_of_integers_are_in_order(dtype: str) -> None:
    limits = np.iinfo(BY_NAME[dtype])
    x = np.array([limits.min, limits.min + 1, limits.max // 2, limits.max - 1, limits.max], BY_NAME[dtype])
    keys = run_form(lambda k, view: k.view(INT64, view.shape, lambda i: key_of(k, view.at(i)), 1), x)
    assert keys is not None and (np.diff(keys.astype(object)) > 0).all()


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 33])
def test_sorted_heap_has_entries_in_order_and_the_first_of_equal_ones_is_better(count: int, is_wide: bool) -> None:
    x = RNG.integers(-3, 4, count)

    def write(k: KernelBuilder, view: View) -> View:
        heap = Heap.of_shape(k, (count,), is_wide)
        with k.loop(count) as i:
            heap.store(i, entry_of(k, key_of(k, view.at((i,))), i, is_wide))
        heap.build(k.const(count))
        heap.sort(k.const(count))
        return k.copy(k.view(INT64, (count,), lambda i: position_of(k, heap.load(i[0])), 1))

    np.testing.assert_array_equal(run_form(write, x), np.argsort(-x, kind="stable"))


def test_empty_heap_is_sorted() -> None:
    def write(k: KernelBuilder, view: View) -> View:
        heap = Heap.of_shape(k, view.shape, False)
        heap.build(k.const(0))
        heap.sort(k.const(0))
        return view

    assert run_form(write, np.zeros(0, np.int64)) is not None
