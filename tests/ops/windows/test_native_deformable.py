"""Native forms of deformable convolutions, against run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, draw

from whorl.ir.dtypes import BY_NAME
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.geometry import windows_of

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))


ULPS = 256
"""Units in the last place of 1 by which sums of up to a hundred products may differ."""


@pytest.mark.parametrize("dtype", FLOATS)
def test_deformed_convolutions_equal_run(dtype: str) -> None:
    cases = []
    forms: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
        ((2, 4, 6, 7), (6, 2, 3, 2), {"group": 2, "offset_group": 2, "pads": (1, 0, 1, 1), "strides": (2, 1)}),
        ((1, 2, 9), (3, 2, 3), {"dilations": (2,)}),
    ]
    for k, (x, w, kind) in enumerate(forms):
        op, rank = DeformConv(**kind), len(x) - 2
        counts = [t.count for t in windows_of(op, w[2:]).tracks(x[2:])]
        taps = math.prod(w[2:]) * op.offset_group

        def make(rng: np.random.Generator, a: Any = (x, w, counts, taps, rank), k: int = k) -> list[Any]:
            x, w, counts, taps, rank = a
            offset = rng.uniform(-3, 3, (x[0], taps * rank, *counts)).astype(BY_NAME[dtype])
            mask = draw(rng, (x[0], taps, *counts), dtype, 0.0) if k == 0 else None
            return [draw(rng, x, dtype, 0.0), draw(rng, w, dtype, 0.0), offset, draw(rng, w[:1], dtype, 0.0), mask]

        cases.append(Case(op, make, ulps=ULPS))
    check(cases)
