"""Native padding, interpreted, against `np.pad`: fills, crops, and modes that read the tensor again."""

from __future__ import annotations

import numpy as np
import pytest
from native_forms import run_form

from whorl.ir.native.view import View
from whorl.lowering.builder import KernelBuilder
from whorl.ops.movement.native_padding import centre, extend_view, pad_view

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("ends", [[(1, 0), (0, 2)], [(0, 0), (3, 3)], [(-1, 2), (1, -1)], [(0, 0), (0, 0)]])
def test_fill_surrounds_what_is_left_of_the_tensor(ends: list[tuple[int, int]]) -> None:
    cropped = X[max(0, -ends[0][0]) :, : 3 - max(0, -ends[1][1])]
    expected = np.pad(cropped, [(max(0, a), max(0, b)) for a, b in ends], constant_values=7)
    result = run_form(lambda k, x: pad_view(k, x, list(ends), k.const(7, x.dtype)), X)
    np.testing.assert_array_equal(result, expected)


def test_crop_alone_reads_where_the_elements_lie() -> None:
    k = KernelBuilder()
    x = k.view_of(k.temporary(X.dtype, X.shape))
    pad_view(k, x, [(-1, 0), (0, -1)], k.const(0, x.dtype))
    assert not k.block


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
@pytest.mark.parametrize("ends", [[(0, 1), (2, 2)], [(1, 1), (5, 7)], [(0, 0), (4, 0)]])
def test_modes_read_the_tensor_again_as_numpy_does(mode: str, ends: list[tuple[int, int]]) -> None:
    expected = np.pad(X, ends, mode)  # type: ignore[call-overload]

    def write(k: KernelBuilder, x: View) -> View:
        views = extend_view(k, x, list(ends), mode)
        assert views is not None
        return views[0]

    np.testing.assert_array_equal(run_form(write, X), expected)


def test_axis_without_elements_cannot_be_extended() -> None:
    k = KernelBuilder()
    x = k.view_of(k.temporary(X.dtype, (2, 0)))
    assert extend_view(k, x, [(0, 0), (1, 0)], "edge") is None


@pytest.mark.parametrize("more", range(-4, 5))
def test_centre_puts_one_more_after_an_axis_where_the_number_is_odd(more: int) -> None:
    before, after = centre(KernelBuilder(), 9, 9 + more)
    assert (before, after) == (int(more / 2), more - int(more / 2))
