"""Native scattering, interpreted: checked indices, updates that combine in order, rows of a cache."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.movement.native_scattering import combine_at, read_checked, write_rows
from whorl.ops.movement.scattering import TensorScatter

ROW = np.array([1, 2, 3], np.int64)


def scatter(reduction: str, data: np.ndarray, indices: list[int], updates: list[int]) -> list[int] | None:
    def write(k: KernelBuilder, x: View, targets: View, values: View) -> View:
        buffer = k.writable(x)
        with k.nest(targets.shape, parallel=False) as index:
            target = read_checked(k, targets, index, x.shape[0])
            combine_at(k, buffer, (target,), values.at(index), reduction)
        return k.view_of(buffer)

    result = run_form(write, data, np.array(indices, np.int64), np.array(updates, data.dtype))
    return None if result is None else result.tolist()


@pytest.mark.parametrize(
    ("reduction", "expected"), [("none", [1, 7, 3]), ("add", [1, 14, 3]), ("mul", [1, 70, 3]), ("max", [1, 7, 3])]
)
def test_updates_of_one_index_combine_in_order(reduction: str, expected: list[int]) -> None:
    assert scatter(reduction, ROW, [1, -2], [5, 7]) == expected


def test_bools_combine_as_or_and_and() -> None:
    data = np.array([True, False], bool)
    assert scatter("add", data, [1, 1], [1, 1]) == [True, True]
    assert scatter("mul", data, [0], [0]) == [False, False]


@pytest.mark.parametrize("index", [3, -4])
def test_index_outside_the_axis_fails(index: int) -> None:
    assert scatter("none", ROW, [index], [0]) is None


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("first", [[0, 3], [2, 4], [5, 0]])
def test_rows_of_a_cache_follow_the_meaning_of_the_op(mode: str, first: list[int]) -> None:
    cache = np.arange(24, dtype=np.float32).reshape(2, 6, 2)
    update, starts = -np.ones((2, 2, 2), np.float32), np.array(first, np.int64)
    result = run_form(lambda k, *views: write_rows(k, *views, 1, mode == "circular"), cache, update, starts)
    if mode == "linear" and max(first) > 4:
        assert result is None
    else:
        np.testing.assert_array_equal(result, TensorScatter(1, mode).run(cache, update, starts))
