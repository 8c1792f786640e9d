"""Blocks of features by the last windows: by vectors, each alone, or by a tile that goes back, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.convolution.operands import arrays_of, check_result_over_added
from kernels.runs import machine, run_kernel
from whorl.ir.dtypes import FLOAT32
from whorl.kernels.convolution import block
from whorl.kernels.windows import WindowAxis

RESTS = (1, 5, 8, 9, 16, 17, 24, 25, 31)
"""Windows behind the last whole tile of two vectors of 16."""


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("features", [9, 12, 24])
def test_last_windows_have_the_bits_of_a_whole_tile(
    width: int, rest: int, features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[np.ndarray] = []
    for least in (0, 1 << 20):
        monkeypatch.setattr(block, "LEAST_HEIGHT", least)
        count = 64 + rest
        name, arrays, numbers = arrays_of([WindowAxis(count, 1, 1, 1, 0, count)], features, FLOAT32)
        run_kernel(name, arrays, numbers, machine(width))
        results.append(arrays[0])
        if features % 2:
            check_result_over_added(name, arrays, numbers, machine(width))
    np.testing.assert_array_equal(results[0].view(np.uint8), results[1].view(np.uint8))
    assert not np.isnan(results[0]).any()
