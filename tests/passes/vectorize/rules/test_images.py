"""Ops on images of many rows."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_rows

X = np.arange(24, dtype=np.float32).reshape(2, 1, 4, 3)


@pytest.mark.parametrize("more", ["", "axes = (-2, -1)", "axes = (2, 3)"])
def test_axes_that_are_resized_belong_to_a_row(more):
    scales = np.array([1, 1, 2, 1.5] if not more else [2, 1.5], np.float32)
    check_rows(f"Resize({{0}}, _, {{1}}) {{{{{more}}}}}", [X, scales], [True, False])


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_grids_belong_to_the_row(mapped):
    grid = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 1, 3, 2)
    check_rows('GridSample({0}, {1}) {{mode = "nearest"}}', [X, grid], mapped)


def test_size_of_an_affine_grid_counts_the_images_of_all_rows():
    theta = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    check_rows("AffineGrid({0}, {1})", [theta, np.array([2, 1, 2, 3])], [True, False])


@pytest.mark.parametrize(
    "mapped", [(True, True, True), (True, False, False), (False, True, False), (True, True, False)]
)
def test_regions_lie_on_images_of_their_row(mapped):
    boxes = np.array([[0, 0, 2, 3], [1, 1, 2, 2], [0, 1, 1, 2]], np.float32)
    check_rows(
        'RoiAlign({0}, {1}, {2}) {{mode = "max", output_height = 2, sampling_ratio = 1}}',
        [X, boxes, np.array([1, 0, 1])],
        mapped,
    )


@pytest.mark.parametrize("op", ["DepthToSpace", "SpaceToDepth"])
def test_blocks_belong_to_a_row(op):
    x = np.arange(32, dtype=np.float32).reshape(1, 4, 2, 4)
    check_rows(f"{op}({{0}}) {{{{blocksize = 2}}}}", [x], [True])


def test_regions_of_rows_on_images_that_all_share():
    regions = np.array([[0, 0, 0, 1, 1], [1, 1, 0, 1, 1]], np.float32)
    check_rows("MaxRoiPool({0}, {1}) {{pooled_shape = (2, 2)}}", [X, regions], [False, True])
