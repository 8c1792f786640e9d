"""The best elements of lines, interpreted: one line after the other and many side by side, against a stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.movement.native_selection import LINES, MOST_SIDE_BY_SIDE, MOST_SORTED, select_best

RNG = np.random.default_rng(0)


def expected(x: np.ndarray, axis: int, count: int, largest: bool) -> np.ndarray:
    """The indices of the best, the first of equals first; NaN is above all numbers."""
    if largest:
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis, kind="stable")
    return order.take(range(count), axis)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(
    ("shape", "axis", "count"),
    [((3, 7), 1, 3), ((7,), 0, 7), ((9, LINES), 0, 4), ((2, 20, LINES), 1, 1), ((18, LINES), 0, MOST_SIDE_BY_SIDE + 1),
     ((3, 60), 1, MOST_SORTED + 1), ((50, 2), 0, 50), ((2, 40), 1, 0), ((1,), 0, 1)],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64, np.float16, np.uint32, np.uint64, np.int8])
def test_best_elements_and_their_indices_are_sorted(
    shape: tuple[int, ...], axis: int, count: int, largest: bool, dtype: type
) -> None:
    x = RNG.integers(0, 6, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[RNG.random(shape) < 0.2] = np.nan
        x[RNG.random(shape) < 0.2] *= -0.0
    else:
        x[RNG.random(shape) < 0.2] = np.iinfo(dtype).max

    def part(output: int) -> np.ndarray | None:
        def write(k: KernelBuilder, view: View) -> View:
            return select_best(k, view, axis, count, largest)[output]

        return run_form(write, x)

    indices = expected(x, axis, count, largest)
    np.testing.assert_array_equal(part(1), indices)
    np.testing.assert_array_equal(part(0), np.take_along_axis(x, indices, axis))
