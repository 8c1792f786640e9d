"""Rectangles of tensors: blocks make up the whole in order, ranges become rectangles and back."""

import numpy as np
import pytest

from whorl.ir.elements.regions import blocks_of, lengths_of, rectangles, runs, slices_of, unraveled, whole

SHAPES = [(), (5,), (3, 4), (2, 3, 4), (1, 7, 1, 2), (4, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_blocks_follow_each_other_and_make_up_the_whole(shape, limit):
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    blocks = [numbers[(..., *slices_of(region))] for region in blocks_of(shape, limit)]
    assert np.concatenate([block.reshape(-1) for block in blocks]).tolist() == list(range(numbers.size))
    assert all(block.size <= limit for block in blocks)


@pytest.mark.parametrize("shape", SHAPES)
def test_ranges_are_rectangles_in_order(shape):
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for start in range(numbers.size):
        for stop in range(start + 1, numbers.size + 1):
            parts = [numbers[(..., *slices_of(region))].reshape(-1) for region in rectangles(shape, start, stop)]
            assert np.concatenate(parts).tolist() == list(range(start, stop))


def test_region_is_runs_of_the_row_major_order():
    shape, region = (4, 5, 6), ((1, 3), (2, 4), (0, 6))
    numbers = np.arange(120).reshape(shape)
    actual = [k for start, stop in runs(shape, region) for k in range(start, stop)]
    assert actual == numbers[slices_of(region)].reshape(-1).tolist()
    assert lengths_of(region) == (2, 2, 6) and list(runs(shape, whole(shape))) == [(0, 120)]


def test_unraveled_is_numpys():
    assert [unraveled(k, (2, 3)) for k in range(6)] == [tuple(map(int, np.unravel_index(k, (2, 3)))) for k in range(6)]
