"""Native forms of resizing, against run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, draw

from whorl.ops.image.resize import Resize

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

        locations = tuple(n for n in (2, 3) if known[n - 2] is not None)
        cases.append(Case(Resize(**mode), make, locations, ulps=ULPS if mode.get("mode") else 0))
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
