"""Native forms of convolutions, against `run`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, draw

from whorl.ir.dtypes import BY_NAME
from whorl.ops.windows.convolution import Conv, ConvInteger, QLinearConv

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))
ULPS = 256
"""Units in the last place of 1 by which sums of up to a hundred products may differ."""
CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 3, 8, 8), (4, 3, 3, 3), {}),
    ((1, 3, 8, 9), (13, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((2, 4, 7, 9), (26, 2, 3, 2), {"pads": (1, 0, 2, 1), "group": 2, "strides": (2, 3)}),
    ((1, 5, 14, 12), (25, 5, 1, 1), {}),
    ((1, 5, 9, 9), (3, 5, 1, 1), {"strides": (2, 2)}),
    ((1, 2, 20, 20), (8, 2, 7, 7), {"strides": (2, 2), "pads": (3, 3, 3, 3)}),
    ((2, 6, 7, 17), (6, 1, 3, 3), {"group": 6, "pads": (1, 1, 1, 1)}),
    ((1, 6, 9, 20), (6, 1, 3, 3), {"group": 6, "pads": (0, 1, 2, 1), "strides": (2, 1)}),
    ((1, 3, 6, 6), (6, 1, 3, 3), {"group": 3, "dilations": (2, 1)}),
    ((1, 6, 40), (7, 6, 5), {"pads": (2, 2), "dilations": (2,)}),
    ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {"pads": (1, 0, 1, 0, 1, 1), "strides": (1, 2, 3)}),
    ((1, 2, 9, 9), (12, 2, 3, 3), {"dilations": (2, 3), "strides": (3, 2), "pads": (1, 2, 3, 4)}),
    ((1, 4, 10, 11), (4, 4, 3, 3), {"auto_pad": "SAME_UPPER", "strides": (3, 3)}),
    ((1, 4, 10, 11), (4, 4, 2, 2), {"auto_pad": "SAME_LOWER"}),
    ((1, 2, 12, 12), (2, 2, 2, 2), {"auto_pad": "VALID", "strides": (5, 4)}),
    ((1, 2, 1, 1), (3, 2, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((0, 2, 4, 4), (3, 2, 3, 3), {}),
    ((1, 2, 4, 4), (0, 2, 3, 3), {}),
    ((1, 2, 1, 4), (3, 2, 2, 1), {}),
    ((2, 0, 4, 4), (3, 0, 3, 3), {}),
    ((1, 3, 7, 7), (61, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 2, 9, 15), (64, 2, 3, 3), {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    ((1, 2, 6, 14), (100, 1, 2, 4), {"pads": (0, 3, 1, 3), "strides": (1, 2), "dilations": (1, 3), "group": 2}),
    ((1, 9, 5, 5), (300, 9, 1, 1), {}),
    ((2, 400, 7, 7), (50, 200, 1, 1), {"group": 2}),
]


def convolutions(dtype: str, constants: tuple[int, ...], wild: float = 0.0) -> Iterator[Case]:
    for n, (x, w, attributes) in enumerate(CONVOLUTIONS):
        ulps = 0 if wild else ULPS

        def make(rng: np.random.Generator, x: Any = x, w: Any = w, biased: Any = n % 3) -> list[Any]:
            return [draw(rng, x, dtype, wild), draw(rng, w, dtype, 0.0), draw(rng, w[:1], dtype) if biased else None]

        yield Case(Conv(**attributes), make, constants, ulps=ulps)


@pytest.mark.parametrize("dtype", FLOATS)
def test_convolutions_equal_run(dtype: str) -> None:
    check(list(convolutions(dtype, ())))


@pytest.mark.parametrize("dtype", FLOATS[:2])
def test_convolutions_by_fixed_filters_equal_run(dtype: str) -> None:
    check(list(convolutions(dtype, (1, 2))))


def test_infinities_and_nan_go_through_a_convolution() -> None:
    def make(rng: np.random.Generator) -> list[Any]:
        x = np.ones((1, 2, 6, 6), np.float32)
        x[0, rng.integers(2), 2, 3] = rng.choice([np.nan, np.inf, -np.inf])
        return [x, np.ones((3, 2, 3, 3), np.float32), None]

    check([Case(Conv(pads=(1, 1, 1, 1)), make), Case(Conv(), make, (1,))])


def test_four_spatial_axes_are_left_to_run() -> None:
    def make(rng: np.random.Generator) -> list[Any]:
        return [draw(rng, (1, 2, 3, 3, 3, 3), "float32"), draw(rng, (2, 2, 2, 2, 2, 2), "float32"), None]

    check([Case(Conv(), make, ulps=ULPS, native=False)])


# ---- integers ------------------------------------------------------------------------------------------------

INTEGERS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 3, 9, 9), (4, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((2, 8, 9, 9), (6, 4, 3, 3), {"group": 2, "strides": (2, 2)}),
    ((1, 4, 12), (4, 1, 3), {"group": 4}),
    ((1, 300, 3, 5), (13, 300, 1, 1), {}),
    ((1, 40, 4, 5), (3, 40, 3, 3), {}),
    ((1, 80, 4, 5), (4, 40, 3, 3), {"group": 2}),
    ((1, 2, 0, 5), (2, 2, 1, 1), {}),
]


def zeros(rng: np.random.Generator, features: int, x: str, w: str, n: int) -> list[Any]:
    """Zero points: none, scalars, and one a feature."""
    if n == 0:
        return [None, None]
    return [draw(rng, (), x), draw(rng, (features,) if n > 1 else (), w)]


@pytest.mark.parametrize(("x", "w"), [("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")])
def test_convolutions_of_integers_are_exact(x: str, w: str) -> None:
    cases = []
    for k, (shape, filters, attributes) in enumerate(INTEGERS):

        def make(rng: np.random.Generator, a: Any = shape, b: Any = filters, n: int = k % 3) -> list[Any]:
            return [draw(rng, a, x), draw(rng, b, w), *zeros(rng, b[0], x, w, n)]

        cases.append(Case(ConvInteger(**attributes), make))
    check(cases)


@pytest.mark.parametrize(("x", "w"), [("uint8", "int8"), ("int8", "uint8")])
def test_quantized_convolutions_equal_run(x: str, w: str) -> None:
    def scale(rng: np.random.Generator, shape: tuple[int, ...] = (), factor: float = 1) -> np.ndarray:
        return np.asarray(rng.uniform(0.01, 0.2, shape) * factor, np.float32)

    cases = []
    for k, (shape, filters, attributes) in enumerate(INTEGERS):

        def make(rng: np.random.Generator, a: Any = shape, b: Any = filters, n: int = k % 2 + 1) -> list[Any]:
            first, second = zeros(rng, b[0], x, w, n)
            left, right = [draw(rng, a, x), scale(rng), first], [draw(rng, b, w), scale(rng, second.shape), second]
            bias = rng.integers(-(1 << 20), 1 << 20, b[0]).astype(BY_NAME["int32"]) if n == 1 else None
            return [*left, *right, scale(rng, (), 40), draw(rng, (), x), bias]

        cases.append(Case(QLinearConv(**attributes), make))
    check(cases)
