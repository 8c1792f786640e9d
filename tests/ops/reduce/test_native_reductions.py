"""Native reductions, interpreted: totals along any axes, extremes and their indices, by rows and by lines."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.reduce import native_reductions
from whorl.ops.reduce.native_reductions import (
    ROW,
    find_extremes,
    find_extremes_by_rows,
    is_row_reduction,
    map_elements,
    reduce_view,
    reduced_shape,
    standardize_view,
)

X = np.random.default_rng(0).integers(-9, 9, (3, 4, ROW)).astype(np.float32)
NUMPY = {"sum": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("how", list(NUMPY))
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axes", [(2,), (0,), (0, 2), (1, 0), (0, 1, 2)])
def test_reduction_along_axes_is_that_of_numpy(how: str, axes: tuple[int, ...], keepdims: bool) -> None:
    expected = NUMPY[how].reduce(X, axis=axes, keepdims=keepdims)
    result = run_form(lambda k, x: reduce_view(k, x, axes, how, keepdims), X)
    np.testing.assert_array_equal(result, expected)
    assert reduced_shape(X.shape, axes, keepdims) == expected.shape


@pytest.mark.parametrize(("how", "value"), [("sum", 0), ("mul", 1), ("max", -np.inf), ("min", np.inf)])
def test_reduction_of_no_elements_is_its_identity(how: str, value: float) -> None:
    result = run_form(lambda k, x: reduce_view(k, x, (0,), how), X[:0, 0])
    np.testing.assert_array_equal(result, np.full((1, ROW), value))


def test_extremes_of_bools_are_any_and_all() -> None:
    x = np.array([[True, False], [True, True]])
    np.testing.assert_array_equal(run_form(lambda k, x: reduce_view(k, x, (0,), "max"), x), [[True, True]])
    np.testing.assert_array_equal(run_form(lambda k, x: reduce_view(k, x, (0,), "min"), x), [[True, False]])


def test_result_goes_through_finish() -> None:
    for axes in ((0,), (2,)):
        result = run_form(lambda k, x, a=axes: reduce_view(k, x, a, "sum", finish=lambda t: k.apply("neg", t)), X)
        np.testing.assert_array_equal(result, -X.sum(axes, keepdims=True))


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_index_of_an_extreme_is_the_first_or_last_of_equals(axis: int, largest: bool, last: bool) -> None:
    search = np.argmax if largest else np.argmin
    flipped = np.flip(X, axis) if last else X
    expected = search(flipped, axis=axis, keepdims=True)
    expected = X.shape[axis] - 1 - expected if last else expected
    np.testing.assert_array_equal(run_form(lambda k, x: find_extremes(k, x, axis, largest, last), X), expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_nan_wins_by_rows_and_by_lines(axis: int) -> None:
    x = np.array([[1.0, np.nan] * (ROW // 2), [5.0, np.nan] * (ROW // 2), [2.0, 1.0] * (ROW // 2)], np.float32)
    np.testing.assert_array_equal(
        run_form(lambda k, x: find_extremes(k, x, axis, True), x), np.argmax(x, axis=axis, keepdims=True)
    )


@pytest.mark.parametrize("length", [3, 4, 5, 15])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_index_of_an_extreme_is_searched_in_the_right_block(
    length: int, largest: bool, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_reductions, "BLOCK", 4)
    rng = np.random.default_rng(length)
    rows = rng.integers(0, 100, (5, length)).astype(np.float32)
    rows[1] = 7
    rows[2, rng.integers(0, length, 3)] = np.nan
    rows[3, [0, length // 2, length - 1]] = 127 if largest else -1
    rows[4] = -np.inf if largest else np.inf
    search = np.argmax if largest else np.argmin
    expected = search(np.flip(rows, 1) if last else rows, axis=1, keepdims=True)
    expected = length - 1 - expected if last else expected
    np.testing.assert_array_equal(run_form(lambda k, x: find_extremes(k, x, 1, largest, last), rows), expected)


def test_extremes_by_rows_are_written_once_for_a_block() -> None:
    k = KernelBuilder()
    x = k.view_of(k.temporary(np.dtype(np.float32), (3, ROW)))
    assert is_row_reduction(x, 0) and not is_row_reduction(x, 1)
    first = find_extremes_by_rows(k, x, 0, largest=True)
    assert find_extremes_by_rows(k, x, 0, largest=True) is first
    assert find_extremes_by_rows(k, x, 0, largest=False) is not first


def test_mapped_elements_broadcast_to_the_first_view() -> None:
    result = run_form(lambda k, x, y: map_elements(k, k.sub, x, y), X, X[:, :1, :1])
    np.testing.assert_array_equal(result, X - X[:, :1, :1])


def test_standardized_lines_have_mean_0_and_variance_1() -> None:
    def normal(k: KernelBuilder, x: View) -> View:
        return standardize_view(k, x, (1, 2), 0.0)[0]

    result = run_form(normal, X)
    assert result is not None
    np.testing.assert_allclose(result.mean((1, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(result.var((1, 2)), 1, rtol=1e-5)
