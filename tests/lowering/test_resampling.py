"""Native forms of resizing and of sampling at fractional places, against `run`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lowering.looped import Case, check, check_failure, draw
from whorl.ir.dtypes import BY_NAME
from whorl.ops.image.regions import RoiAlign
from whorl.ops.image.resize import Resize
from whorl.ops.image.sampling import AffineGrid, GridSample

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))
ULPS = 64
MODES: list[dict[str, Any]] = [
    {},
    {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    {"mode": "linear"},
    {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"},
    {"mode": "linear", "antialias": 1},
    {"mode": "cubic", "exclude_outside": 1},
]


def resized(dtype: str, mode: dict[str, Any]) -> list[Case]:
    scales: list[tuple[tuple[int, ...], Any, Any]] = [
        ((1, 2, 5, 6), (1, 1, 2, 2), None),
        ((1, 2, 5, 6), (1, 1, 0.5, 1.7), None),
        ((2, 3, 9), (1, 1, 3), None),
        ((1, 1, 4, 20), None, (1, 1, 7, 43)),
        ((1, 0, 4), None, (1, 0, 7)),
    ]
    cases = []
    for shape, factors, sizes in scales:
        known = [None if factors is None else np.array(factors, np.float32), None if sizes is None else np.array(sizes)]

        def make(rng: np.random.Generator, shape: Any = shape, known: Any = known) -> list[Any]:
            return [draw(rng, shape, dtype, 0.0), None, *known]

        places = tuple(n for n in (2, 3) if known[n - 2] is not None)
        cases.append(Case(Resize(**mode), make, places, ulps=ULPS if mode.get("mode") else 0))
    return cases


@pytest.mark.parametrize("dtype", [*FLOATS, "uint8"])
def test_resizing_equals_run(dtype: str) -> None:
    check([case for mode in MODES for case in resized(dtype, mode)])


def test_a_cropped_part_is_resized_and_what_lies_outside_is_filled() -> None:
    roi = np.array([0, 0, -0.2, 0.3, 1, 1, 1.1, 0.8], np.float32)

    def make(rng: np.random.Generator) -> list[Any]:
        return [draw(rng, (1, 2, 5, 6), "float32", 0.0), roi, None, np.array([1, 2, 7, 9])]

    mode = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    check([Case(Resize(mode="linear", **mode), make, (1, 3), ulps=ULPS), Case(Resize(**mode), make, (1, 3))])


@pytest.mark.parametrize("dtype", [*FLOATS, pytest.param("int32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sampling_by_a_grid_equals_run(mode: str, dtype: str) -> None:
    images = (((2, 2, 5, 6), (2, 4, 7, 2)), ((1, 2, 7), (1, 9, 1)), ((1, 1, 1, 1), (1, 3, 3, 2)))
    cases = []
    for number, (image, places) in enumerate(images):
        for k, padding in enumerate(("zeros", "border", "reflection")):

            def make(rng: np.random.Generator, image: Any = image, places: Any = places) -> list[Any]:
                grid = rng.uniform(-1.4, 1.4, places).astype(np.float32)
                grid.flat[0] = rng.choice([np.nan, np.inf, -np.inf])
                return [draw(rng, image, dtype, 0.0), grid]

            op = GridSample(mode=mode, padding_mode=padding, align_corners=(number + k) % 2)
            cases.append(Case(op, make, ulps=0 if mode == "nearest" else ULPS))
    check(cases)


def test_affine_grids_equal_run() -> None:
    cases = []
    for shape, size in (((2, 2, 3), (2, 3, 4, 5)), ((1, 3, 4), (1, 2, 3, 20, 1))):
        for aligned in (0, 1):

            def make(rng: np.random.Generator, shape: Any = shape, size: Any = size) -> list[Any]:
                return [draw(rng, shape, "float32", 0.0), np.array(size)]

            cases.append(Case(AffineGrid(aligned), make, (1,), ulps=ULPS))
    check(cases)


def regions(dtype: str, images: int = 2, **attributes: Any) -> Case:
    def make(rng: np.random.Generator) -> list[Any]:
        corners = rng.uniform(-2, 10, (3, 4)).astype(np.float32)
        corners[:, 2:] = corners[:, :2] + rng.uniform(0.1, 9, (3, 2))
        return [draw(rng, (2, 2, 8, 9), dtype, 0.0), corners.astype(BY_NAME[dtype]), rng.integers(0, images, 3)]

    return Case(RoiAlign(**attributes), make, ulps=ULPS)


@pytest.mark.parametrize("dtype", FLOATS)
def test_regions_are_sampled(dtype: str) -> None:
    cases = []
    for mode in ("avg", "max"):
        for shift in ("half_pixel", "output_half_pixel"):
            for points in (0, 2):
                kind = {"mode": mode, "coordinate_transformation_mode": shift, "sampling_ratio": points}
                cases.append(regions(dtype, output_height=2, output_width=3, spatial_scale=0.7, **kind))
    check(cases)


def test_a_region_of_no_image_is_refused() -> None:
    check_failure(regions("float32", images=99))
