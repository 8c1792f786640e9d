"""Native parts of quantization, interpreted: parameters along an axis or by blocks, and a range that sets the scale."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.linear.native_quantization import quantize_to_range, spread_view
from whorl.ops.linear.quantization import DynamicQuantizeLinear

SHAPE = (2, 5, 3)


def spread(parameter: np.ndarray, axis: int, block_size: int = 0) -> np.ndarray | None:
    def write(k: KernelBuilder, view: View) -> View:
        spread = spread_view(k, view, SHAPE, axis, block_size)
        assert spread is not None
        return spread

    return run_form(write, parameter)


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def test_parameter_repeats_along_the_other_axes() -> None:
    np.testing.assert_array_equal(spread(numbers(1) + 3, 1), np.full(SHAPE, 3))
    np.testing.assert_array_equal(spread(numbers(5), 1), np.broadcast_to(numbers(5)[:, None], SHAPE))
    np.testing.assert_array_equal(spread(numbers(3), -1), np.broadcast_to(numbers(3), SHAPE))


def test_block_shares_a_parameter_and_the_last_may_be_short() -> None:
    blocks = numbers(2, 3, 3)
    np.testing.assert_array_equal(spread(blocks, 1, 2), np.repeat(blocks, 2, 1)[:, :5])


@pytest.mark.parametrize(("shape", "axis", "block_size"), [((4,), 1, 0), ((5,), 9, 0), ((2, 2, 3), 1, 2)])
def test_parameter_that_does_not_fit_has_no_view(shape: tuple[int, ...], axis: int, block_size: int) -> None:
    k = KernelBuilder()
    assert spread_view(k, k.view_of(k.temporary(np.dtype(np.float32), shape)), SHAPE, axis, block_size) is None


@pytest.mark.parametrize("x", [numbers(7) - 3, numbers(4) + 1, np.zeros(3, np.float32), -numbers(5)])
@pytest.mark.parametrize("output", range(3))
def test_range_of_a_tensor_sets_scale_and_zero_point(x: np.ndarray, output: int) -> None:
    def write(k: KernelBuilder, view: View) -> View:
        views = quantize_to_range(k, view)
        assert views is not None
        return views[output]

    np.testing.assert_array_equal(run_form(write, x), DynamicQuantizeLinear().run(x)[output], strict=True)
