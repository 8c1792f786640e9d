"""Native forms of regions of images, against run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, check_failure, draw

from whorl.ir.dtypes import BY_NAME
from whorl.ops.image.regions import RoiAlign

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))


ULPS = 64


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
