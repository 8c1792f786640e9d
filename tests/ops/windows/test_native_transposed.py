"""Native forms of transposed convolutions and of columns that become images, against run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, draw
from one_program import LENGTHS, check_one_program

from whorl.ops.windows.transposed_convolution import Col2Im, ConvTranspose

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))


ULPS = 256
"""Units in the last place of 1 by which sums of up to a hundred products may differ."""


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 5, 5), (2, 3, 3, 3), {}),
    ((2, 4, 5, 6), (4, 3, 3, 3), {"strides": (2, 2), "group": 2, "pads": (1, 1, 1, 1)}),
    ((1, 2, 5, 5), (2, 3, 2, 3), {"strides": (3, 2), "output_padding": (1, 1), "dilations": (1, 2)}),
    ((1, 2, 7), (2, 2, 4), {"strides": (2,), "pads": (1, 1)}),
    ((1, 2, 3, 4, 3), (2, 1, 2, 3, 2), {"strides": (1, 2, 3)}),
    ((1, 3, 4, 4), (3, 2, 2, 2), {"strides": (3, 3)}),
    ((1, 2, 4, 4), (2, 2, 3, 3), {"strides": (2, 2), "auto_pad": "SAME_UPPER"}),
    ((1, 2, 4, 4), (2, 2, 3, 3), {"strides": (2, 2), "output_shape": (12, 10)}),
    ((0, 2, 4, 4), (2, 2, 3, 3), {}),
    ((1, 0, 4, 4), (0, 2, 3, 3), {}),
]


@pytest.mark.parametrize("dtype", FLOATS)
def test_transposed_convolutions_equal_run(dtype: str) -> None:
    cases = []
    for n, (x, w, attributes) in enumerate(TRANSPOSED):

        def make(rng: np.random.Generator, x: Any = x, w: Any = w, n: int = n, group: int = 1) -> list[Any]:
            features = (w[1] * group,)
            return [draw(rng, x, dtype), draw(rng, w, dtype, 0.0), draw(rng, features, dtype) if n % 2 else None]

        group = attributes.get("group", 1)
        cases.append(Case(ConvTranspose(**attributes), lambda rng, m=make, g=group: m(rng, group=g), ulps=ULPS))
    check(cases)


def test_columns_become_images() -> None:
    def make(rng: np.random.Generator) -> list[Any]:
        return [draw(rng, (2, 18, 10), "float32"), np.array([5, 6]), np.array([3, 3])]

    check([Case(Col2Im(pads=(1, 1, 1, 1), dilations=(1, 2), strides=(1, 2)), make, (1, 2), ulps=ULPS)])


@pytest.mark.parametrize(
    ("op", "x", "w"),
    [
        (ConvTranspose(), (None, 6, None), (6, 2, 3)),
        (ConvTranspose(strides=(2, 2)), (None, 3, None, None), (3, 4, 2, 2)),
        (ConvTranspose(strides=(2, 2), pads=(1, 1, 1, 1)), (2, 3, None, None), (3, 4, 4, 4)),
        (ConvTranspose(strides=(2, 3), pads=(1, 0, 0, 2), output_padding=(1, 2)), (1, 3, None, 5), (3, 4, 3, 3)),
        (ConvTranspose(strides=(3,), dilations=(2,), group=2), (None, 4, None), (4, 3, 3)),
        (ConvTranspose(strides=(2,), dilations=(2,), pads=(1, 1)), (None, 4, None), (4, 3, 3)),
        (ConvTranspose(strides=(4,)), (None, 4, None), (4, 3, 2)),
        (ConvTranspose(strides=(2, 2), auto_pad="SAME_UPPER"), (None, 3, None, None), (3, 2, 3, 3)),
        (ConvTranspose(strides=(2, 2), auto_pad="SAME_LOWER", group=3), (None, 3, None, None), (3, 2, 3, 1)),
        (ConvTranspose(strides=(2, 1, 2)), (1, 2, None, None, None), (2, 2, 2, 1, 3)),
    ],
    ids=str,
)
def test_one_program_serves_every_length(op: ConvTranspose, x: tuple[Any, ...], w: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in (w, (w[1] * op.group,))]
    shapes = [[n + axis if length is None else length for axis, length in enumerate(x)] for n in LENGTHS[:3]]
    cases = [[rng.standard_normal(shape).astype(np.float32), *weights] for shape in shapes]
    check_one_program(op, cases, tolerance=1e-5, constants=(1, 2))
