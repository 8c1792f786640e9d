"""Depthwise convolutions of images whose channels lie side by side, against `run`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from lowering.graphs import lowered
from lowering.looped import Case, check, draw

from whorl.ir.parse import parse_module
from whorl.kernel.program import Call
from whorl.kernel.walk import all_statements
from whorl.ops.movement.axes import Transpose
from whorl.ops.windows.convolution import Conv
from whorl.runtime.session import Session

ULPS = 64
"""Units in the last place of 1 by which sums of up to 16 products may differ."""
CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 9, 6), (4,), {"pads": (3, 3)}),
    ((1, 3, 20), (4,), {"pads": (3, 0)}),
    ((3, 1, 5), (3,), {"pads": (1, 1)}),
    ((1, 2, 5), (5,), {"pads": (4, 6)}),
    ((2, 12, 3), (3,), {"strides": (2,), "dilations": (2,), "pads": (0, 3)}),
    ((2, 12, 17), (16,), {"auto_pad": "SAME_UPPER"}),
    ((2, 18, 17), (17,), {}),
    ((1, 6, 7, 9), (3, 3), {"pads": (1, 1, 1, 1)}),
    ((2, 7, 8, 5), (2, 3), {"pads": (0, 2, 1, 0), "strides": (2, 1), "dilations": (1, 2)}),
    ((1, 4, 3, 4, 6), (2, 2, 2), {"strides": (1, 1, 2)}),
]
DECLARED = """main(%x: float32[B, L, 24], %w: float32[24, 1, 4], %b: float32[24]) {
  %rows: float32[B, 24, L] = Transpose(%x) {perm = (0, 2, 1)}
  %y: float32[B, 24, M] = Conv(%rows, %w, %b) {group = 24, pads = (3, 1)}
  return y = %y
}"""


def cases(constants: tuple[int, ...]) -> list[Case]:
    """A Transpose of [N, axes..., C], then the convolution."""
    made: list[Case] = []
    for n, (x, kernel, attributes) in enumerate(CONVOLUTIONS):
        perm, channels = (0, len(x) - 1, *range(1, len(x) - 1)), x[-1]
        conv = Conv(group=channels, **attributes)

        def make(rng: np.random.Generator, x: Any = x, w: Any = (x[-1], 1, *kernel), biased: Any = n % 3) -> list[Any]:
            arrays = [draw(rng, shape, "float32") for shape in (x, w, w[:1])]
            return arrays if biased else [*arrays[:2], None]

        steps = ((Transpose(perm), (0,)), (conv, (3, 1, 2)))
        made.append(Case(conv, make, constants, ulps=ULPS, steps=steps))
    return made


@pytest.mark.parametrize("constants", [(), (1, 2)], ids=["any", "fixed"])
def test_convolutions_of_transposed_images_equal_run(constants: tuple[int, ...]) -> None:
    check(cases(constants))


def feeds(batch: int, length: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(batch * length)
    shapes = {"x": (batch, length, 24), "w": (24, 1, 4), "b": (24,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_any_length_is_served_also_one_without_elements() -> None:
    native, interpreter = (Session(parse_module(DECLARED), backend=backend) for backend in ("native", "interpreter"))
    for batch, length in ((2, 9), (1, 33), (3, 2), (5, 1), (2, 0)):
        (expected,), (actual,) = (s.execute(None, feeds(batch, length)) for s in (interpreter, native))
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("perm", "kernels"), [("0, 2, 1", 0), ("1, 0, 2", 1)], ids=["channels", "images"])
def test_channels_are_lanes_only_where_they_are_neighbours(perm: str, kernels: int) -> None:
    made = feeds(24, 24)
    declared = re.sub(r"\b[BL]\b", "24", DECLARED)
    graph = lowered(declared.replace("0, 2, 1", perm), made)
    calls = [s.kernel for s in all_statements(graph.program.body) if isinstance(s, Call)]
    assert len(calls) == kernels
