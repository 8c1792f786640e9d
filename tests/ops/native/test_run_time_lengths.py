"""Native forms whose lengths only the run knows, interpreted, against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.native.view import View
from whorl.kernel.program import When
from whorl.kernel.walk import all_statements
from whorl.lowering.builder import KernelBuilder
from whorl.ops.native.run_time_lengths import compress_view, count_range, find_nonzero, slice_at_run_time

X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("x", [X % 3, np.zeros((2, 0, 3), np.int32), np.array([0, 5, 0, 1]), np.ones((2, 1, 2))])
def test_nonzero_elements_are_listed_in_row_major_order(x: np.ndarray) -> None:
    np.testing.assert_array_equal(run_form(find_nonzero, x), np.array(np.nonzero(x)).reshape(x.ndim, -1))


@pytest.mark.parametrize("x", [X, X[:, 0], X[:, :1], X[:, :1].astype(np.float16), X[:, :0], X > 4])
@pytest.mark.parametrize("flags", [[True, False, True], [False, True], [False, False, False], []])
def test_compress_keeps_the_slices_whose_flag_is_set(flags: list[bool], x: np.ndarray) -> None:
    result = run_form(lambda k, x, c: compress_view(k, x, c, 0), x, np.array(flags, bool))
    np.testing.assert_array_equal(result, np.compress(flags, x, 0))


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_compress_of_no_elements_keeps_the_other_axes(shape: tuple[int, ...]) -> None:
    flags = np.arange(shape[0]) % 2 == 0
    result = run_form(lambda k, x, c: compress_view(k, x, c, 0), np.zeros(shape, np.int64), flags)
    assert result is not None and result.shape == np.compress(flags, np.zeros(shape), 0).shape


@pytest.mark.parametrize("select", [lambda k, x, c: compress_view(k, x, c, 0), lambda k, x, c: find_nonzero(k, c)])
def test_selection_has_no_branch(select: Callable[..., View]) -> None:
    k = KernelBuilder()
    select(k, *(k.view_of(k.temporary(dtype, (9,))) for dtype in (INT64, BOOL)))
    assert not any(isinstance(statement, When) for statement in all_statements(k.block))


def test_compress_fails_for_a_flag_beyond_the_axis() -> None:
    assert run_form(lambda k, x, c: compress_view(k, x, c, 0), X, np.array([1, 0, 0, 1], bool)) is None
    assert run_form(lambda k, x, c: compress_view(k, x, c, 0), X, np.array([1, 0, 0, 0], bool)) is not None


@pytest.mark.parametrize(
    ("start", "end", "step"), [(0, 3, 1), (-3, 99, 2), (3, -99, -1), (-1, 0, -2), (2, 2, 1), (3, 1, 1), (9, 1, -3)]
)
def test_slice_takes_what_numpy_takes(start: int, end: int, step: int) -> None:
    ends = np.array([start, end], np.int64)
    result = run_form(
        lambda k, x, e: slice_at_run_time(k, x, [1], [(e.at((k.const(0),)), e.at((k.const(1),)), step)]), X, ends
    )
    stop = None if step < 0 and end < -4 else end
    np.testing.assert_array_equal(result, X[:, start:stop:step])


@pytest.mark.parametrize(("start", "limit", "step"), [(0, 10, 3), (10, 0, -3), (5, 5, 1), (0, -4, 2), (-7, 8, 5)])
def test_range_has_as_many_numbers_as_in_python(start: int, limit: int, step: int) -> None:
    result = run_form(lambda k: k.scalar(count_range(k, *map(k.const, (start, limit, step)))))
    assert result is not None and int(result) == len(range(start, limit, step))


def test_range_of_step_0_fails() -> None:
    assert run_form(lambda k: k.scalar(count_range(k, *map(k.const, (0, 1, 0))))) is None
