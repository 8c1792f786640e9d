"""Convolutions of few windows: vectors of features give the same bits as vectors of windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from kernels.layouts import CHANNELS
from kernels.runs import draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32
from whorl.kernels.convolution import llvm
from whorl.kernels.convolution.few import FewWindows, most_windows, tiles_of
from whorl.kernels.plane.layout import split_phases
from whorl.kernels.table import KERNELS
from whorl.kernels.windows import WindowAxis
from whorl.llvm.vectors import Vectors, vectors_of

LAYOUTS = {
    "one window": [WindowAxis(3, 3, 1, 1, 0, 1)],
    "two": [WindowAxis(4, 3, 2, 1, 1, 2)],
    "four": [WindowAxis(640, 256, 128, 1, 0, 4)],
    "five of seven": [WindowAxis(9, 3, 1, 1, 0, 7)],
    "rows": [WindowAxis(3, 2, 1, 1, 0, 2), WindowAxis(4, 2, 1, 1, 0, 3)],
    "slices": [WindowAxis(2, 1, 1, 1, 0, 2), WindowAxis(3, 2, 1, 1, 0, 2), WindowAxis(4, 2, 2, 1, 1, 2)],
    "twelve": [WindowAxis(12, 3, 1, 1, 1, 12)],
}


RESTS = (1, 5, 8, 9, 16, 17, 24, 25, 31)
"""Windows behind the last whole tile of two vectors of 16."""


def arrays_of(layout: Sequence[WindowAxis], features: int, dtype: np.dtype) -> tuple[str, list[np.ndarray], list[int]]:
    """A kernel, its operands, their images with contents that are no numbers behind the last window."""
    split = split_phases(layout, dtype.itemsize)
    name, inner = ("convolution", "convolution_sum")[features % 2], CHANNELS * split.taps
    numbers = [features, inner, features % 3 and 1, 64, split.reach(CHANNELS), *split.grid]
    made = features * math.prod(split.counts)
    image = draw(dtype, KERNELS[name].meaning.extents(tuple(numbers), dtype)[1])
    arrays = [np.full(made, np.nan, dtype), image, split.offsets(CHANNELS).astype(INT32)]
    arrays += [draw(dtype, features * inner), draw(dtype, features), np.array([-1, 2], dtype)[: 2 * numbers[2]]]
    return name, arrays + [draw(dtype, made)] * (features % 2), numbers


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("features", [1, 2, 7, 12, 24, 29, 38])
def test_features_in_vectors_give_the_bits_of_windows_in_vectors(
    width: int, layout: str, features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype = FLOAT64 if features == 7 else FLOAT32
    results: list[np.ndarray] = []
    for most in (0, 1 << 20):
        monkeypatch.setattr(llvm, "most_windows", lambda *_, most=most: most)
        name, arrays, numbers = arrays_of(LAYOUTS[layout], features, dtype)
        run_kernel(name, arrays, numbers, machine(width))
        results.append(arrays[0])
    np.testing.assert_array_equal(results[0].view(np.uint8), results[1].view(np.uint8))
    assert not np.isnan(results[0]).any()


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("features", [9, 12, 24])
def test_last_windows_have_the_bits_of_a_whole_tile(
    width: int, rest: int, features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[np.ndarray] = []
    for least in (0, 1 << 20):
        monkeypatch.setattr(llvm, "LEAST_HEIGHT", least)
        count = 64 + rest
        name, arrays, numbers = arrays_of([WindowAxis(count, 1, 1, 1, 0, count)], features, FLOAT32)
        run_kernel(name, arrays, numbers, machine(width))
        results.append(arrays[0])
    np.testing.assert_array_equal(results[0].view(np.uint8), results[1].view(np.uint8))
    assert not np.isnan(results[0]).any()


@pytest.mark.parametrize(
    ("lanes", "height", "parts"), [(16, 12, [12]), (8, 12, [8, 4]), (4, 12, [4, 4, 4]), (4, 1, [1])]
)
def test_block_is_cut_into_vectors(lanes: int, height: int, parts: list[int]) -> None:
    assert FewWindows(Vectors("float", 4, lanes), height, 1, False).parts == parts


def test_blocks_are_taken_together_until_the_vectors_suffice() -> None:
    counts = [[tile.blocks for tile in tiles_of(Vectors("float", 4, lanes), 12, False)] for lanes in (16, 8, 4)]
    assert counts == [[2, 1], [1], [1]]


def test_windows_are_few_where_a_tile_would_take_twice_the_products() -> None:
    v = vectors_of(FLOAT32, machine(64))
    assert most_windows(v, 12, 2) == 12 and most_windows(v, 1, 8) == 4
    assert most_windows(vectors_of(FLOAT32, machine(32)), 12, 2) == 6
