"""Convolutions of few windows: vectors of features give the same bits as vectors of windows."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.convolution.operands import arrays_of, check_result_over_added
from kernels.runs import machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.convolution import llvm
from whorl.kernels.convolution.few import FewWindows, most_windows, tiles_of
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
        if features % 2:
            check_result_over_added(name, arrays, numbers, machine(width))
    np.testing.assert_array_equal(results[0].view(np.uint8), results[1].view(np.uint8))
    assert not np.isnan(results[0]).any()


@pytest.mark.parametrize(
    ("lanes", "height", "parts"),
    [
        (16, 12, [(0, range(12))]),
        (8, 12, [(0, range(8)), (4, range(4, 8))]),
        (8, 9, [(0, range(8)), (1, range(7, 8))]),
        (4, 12, [(0, range(4)), (4, range(4)), (8, range(4))]),
        (4, 1, [(0, range(1))]),
    ],
)
def test_block_is_cut_into_vectors_of_which_the_last_ends_with_it(
    lanes: int, height: int, parts: list[tuple[int, range]]
) -> None:
    assert FewWindows(Vectors("float", 4, lanes), height, 1, False).parts == parts


def test_blocks_are_taken_together_until_the_vectors_suffice() -> None:
    counts = [[tile.blocks for tile in tiles_of(Vectors("float", 4, lanes), 12, False)] for lanes in (16, 8, 4)]
    assert counts == [[2, 1], [1], [1]]


def test_windows_are_few_where_a_tile_would_take_twice_the_products() -> None:
    v = vectors_of(FLOAT32, machine(64))
    assert most_windows(v, 12, 2) == 12 and most_windows(v, 1, 8) == 4
    assert most_windows(vectors_of(FLOAT32, machine(32)), 12, 2) == 6
