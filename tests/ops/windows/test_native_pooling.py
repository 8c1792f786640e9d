"""Native forms of pooling and of normalization over channels, against `run`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowering.looped import Case, check, check_failure, draw

from whorl.ops.reduce.local_response import LRN
from whorl.ops.windows.pooling import AveragePool, GlobalAveragePool, GlobalLpPool, GlobalMaxPool, LpPool, MaxPool
from whorl.ops.windows.unpooling import MaxUnpool

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))
ULPS = 64
WINDOWS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 5, 7), {"kernel_shape": (3, 3)}),
    ((1, 2, 8, 9), {"kernel_shape": (3, 2), "strides": (2, 2), "pads": (1, 1, 1, 0)}),
    ((1, 1, 7, 40), {"kernel_shape": (2, 2), "strides": (3, 3), "ceil_mode": 1}),
    ((1, 2, 7), {"kernel_shape": (3,), "dilations": (2,), "pads": (2, 2)}),
    ((1, 1, 4, 6, 7), {"kernel_shape": (2, 3, 2), "strides": (1, 2, 3), "auto_pad": "SAME_LOWER"}),
    ((0, 2, 5, 5), {"kernel_shape": (2, 2)}),
    ((1, 1, 3, 3), {"kernel_shape": (1, 1), "strides": (4, 4), "pads": (2, 2, 2, 2)}),
    ((2, 3, 4, 7), {"kernel_shape": (4, 7), "strides": (2, 2)}),
    ((1, 2, 4, 7), {"kernel_shape": (4, 5), "strides": (2, 2)}),
    ((1, 2, 9, 40), {"kernel_shape": (2, 2), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
]
PLANES = ((2, 3, 9, 11), (1, 2, 40), (0, 3, 4, 4), (2, 3), (1, 2, 3, 4, 5))


def pools(op: type, dtype: str, outputs: int = 1, ulps: float = 0, **attributes: Any) -> list[Case]:
    """The op over every kind of window; some elements are NaN or infinite where nothing is summed."""
    wild = 0.0 if ulps else 0.2
    return [
        Case(op(**attributes, **how), lambda rng, s=shape: [draw(rng, s, dtype, wild)], outputs=outputs, ulps=ulps)
        for shape, how in WINDOWS
    ]


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint8"])
def test_maxima_equal_run(dtype: str) -> None:
    check(pools(MaxPool, dtype))


@pytest.mark.parametrize("order", [0, 1])
def test_indices_of_maxima_equal_run(order: int) -> None:
    for dtype in ("float32", "int8"):
        check(pools(MaxPool, dtype, outputs=2, output_count=2, storage_order=order))


@pytest.mark.parametrize("dtype", FLOATS)
def test_means_equal_run(dtype: str) -> None:
    check([case for padded in (0, 1) for case in pools(AveragePool, dtype, ulps=ULPS, count_include_pad=padded)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_norms_equal_run(dtype: str) -> None:
    check([case for p in (1, 2, 3) for case in pools(LpPool, dtype, ulps=ULPS, p=p)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_of_planes_equal_run(dtype: str) -> None:
    ops = (GlobalAveragePool(), GlobalMaxPool(), GlobalLpPool(p=1), GlobalLpPool(), GlobalLpPool(p=3))
    check([Case(op, lambda rng, s=s: [draw(rng, s, dtype, 0.0)], ulps=ULPS) for op in ops for s in PLANES])


@pytest.mark.parametrize("dtype", FLOATS)
def test_normalization_over_channels_equals_run(dtype: str) -> None:
    ops = (LRN(size=3), LRN(size=5, alpha=0.3, beta=0.5), LRN(size=2, beta=0.6, bias=2.0), LRN(size=20, beta=1.0))
    shapes = ((2, 3, 4, 5), (1, 7, 9), (0, 3, 4, 4), (2, 3))
    check([Case(op, lambda rng, s=s: [draw(rng, s, dtype, 0.0)], ulps=ULPS) for op in ops for s in shapes])


def unpooled(limit: int) -> Case:
    def make(rng: np.random.Generator) -> list[Any]:
        indices = rng.permutation(limit)[:18].reshape(1, 2, 3, 3)
        return [draw(rng, (1, 2, 3, 3), "float32"), indices.astype(np.int64), np.array([1, 2, 7, 9])]

    return Case(MaxUnpool(kernel_shape=(2, 2), strides=(2, 2)), make, (2,))


def test_maxima_go_back_to_their_indices() -> None:
    check([unpooled(72)])


def test_maxima_without_an_index_are_refused() -> None:
    check_failure(unpooled(5000))
