"""Native forms of sampling at fractional locations, against `run`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, draw

from whorl.ops.image.sampling import AffineGrid, GridSample

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))
ULPS = 64


@pytest.mark.parametrize("dtype", [*FLOATS, pytest.param("int32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sampling_by_a_grid_equals_run(mode: str, dtype: str) -> None:
    images = (((2, 2, 5, 6), (2, 4, 7, 2)), ((1, 2, 7), (1, 9, 1)), ((1, 1, 1, 1), (1, 3, 3, 2)))
    cases = []
    for number, (image, locations) in enumerate(images):
        for k, padding in enumerate(("zeros", "border", "reflection")):

            def make(rng: np.random.Generator, image: Any = image, locations: Any = locations) -> list[Any]:
                grid = rng.uniform(-1.4, 1.4, locations).astype(np.float32)
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
