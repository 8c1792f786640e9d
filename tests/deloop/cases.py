"""Models with loops and branches as exporters write them, in ONNX text, and what `deloop` is to make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx_text import model

LENGTHS = (0, 1, 2, 7)
"""What open dims are, run by run; where there are several, each then has a length of its own, too."""
OPSET = 17
Draw = Callable[[np.random.Generator, Mapping[str, int]], Any]

TRIPS = """
    shape = Shape(x) first = Constant<value = int64[1] {0}> () next = Constant<value = int64[1] {1}> ()
    length = Slice(shape, first, next) trips = Squeeze(length, first)"""
"""`trips`: the length of `x`, as exporters compute it."""
YES = "yes = Constant<value = bool {1}> ()"


@dataclass(frozen=True)
class Case:
    """A model; `reason` is why the loop remains, and `fix` what the error says to do about it.

    `draws`: inputs that are not normal floats or small integers. `lengths`: what open dims are, where not any.
    `options`: those of `deloop`. `tolerance`: how far floats may lie apart, of themselves and of 1.
    """

    graph: str
    opset: int = OPSET
    draws: Mapping[str, Draw] = field(default_factory=dict)
    lengths: Sequence[int] = LENGTHS
    options: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-5
    reason: str = ""
    fix: str = ""

    @property
    def has_scan(self) -> bool:
        """Whether there is a Scan, which onnxruntime does not run over a length of 0."""
        return " Scan " in self.graph

    @property
    def model(self) -> onnx.ModelProto:
        return model(self.graph, self.opset)


def integers(low: int, high: int, *dims: str | int, dtype: Any = np.int64) -> Draw:
    """Numbers from `low` to `high - 1`; dims by name or number."""

    def draw(rng: np.random.Generator, lengths: Mapping[str, int]) -> np.ndarray:
        return rng.integers(low, high, [lengths[d] if isinstance(d, str) else d for d in dims]).astype(dtype)

    return draw


def whole(*dims: str | int) -> Draw:
    """Floats that are small whole numbers, whose sums are the same in every order."""
    return integers(-4, 5, *dims, dtype=np.float32)


def length(name: str) -> Draw:
    """The length of a dim."""
    return lambda rng, lengths: np.array(lengths[name], np.int64)
