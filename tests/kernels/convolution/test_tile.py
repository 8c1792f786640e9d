"""Tiles of convolutions: how blocks are split into them, and rows of results that have gaps between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.convolution.operands import arrays_of, check_result_over_added
from kernels.runs import machine, run_kernel
from whorl.ir.dtypes import FLOAT32
from whorl.kernels.convolution.tile import split_block
from whorl.kernels.windows import WindowAxis


@pytest.mark.parametrize("height", range(1, 13))
def test_block_is_split_into_tiles_of_almost_equal_height(height: int) -> None:
    tiles = split_block(height, 6)
    assert [start for start, _ in tiles] == [sum(size for _, size in tiles[:n]) for n in range(len(tiles))]
    assert sum(size for _, size in tiles) == height
    assert max(size for _, size in tiles) <= 6


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("counts", [(1, 5, 40), (1, 7, 16), (3, 4, 5), (2, 1, 33)])
def test_rows_with_gaps_have_the_bits_of_rows_without(width: int, counts: tuple[int, int, int]) -> None:
    depth, rows, columns = counts
    whole = [WindowAxis(n, 1, 1, 1, 0, n) for n in counts]
    name, arrays, numbers = arrays_of(whole, 25, FLOAT32)
    run_kernel(name, arrays, numbers, machine(width))
    row_pitch, pitch = rows + 2, columns + 3
    channels = len(arrays[2])
    image = np.zeros((channels, depth, row_pitch, pitch), np.float32)
    size = math.prod(counts)
    image[:, :, :rows, :columns] = np.stack([arrays[1][n : n + size].reshape(counts) for n in arrays[2]])
    offsets = np.arange(channels, dtype=np.int32) * np.int32(image[0].size)
    gapped = [np.full_like(arrays[0], np.nan), np.append(image, np.zeros(256, np.float32)), offsets, *arrays[3:]]
    reach = int(offsets[-1])
    gaps = [*numbers[:4], reach, depth, rows, columns, row_pitch, pitch]
    span = ((depth - 1) * row_pitch + rows - 1) * pitch + columns
    gapped[1] = gapped[1][: reach + max(span, 128)]
    run_kernel(name, gapped, gaps, machine(width))
    np.testing.assert_array_equal(gapped[0], arrays[0])
    check_result_over_added(name, gapped, gaps, machine(width), [(8, 16), (0, 8)])
