"""What a workload is: a model, its inputs, how many iterations it runs, and what whorl may need beside its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

HEADER = '<ir_version: {ir}, opset_import: ["" : {opset}]>'
Feeds = Mapping[str, Any]


@dataclass(frozen=True)
class Workload:
    """`limits` say what part, or multiple, of a peer's time is the target. `plain` is what C and jax are given.

    `astray` is the part of the whole numbers that may differ, where rounding decides how far a pixel goes.
    """

    name: str
    model: bytes
    feeds: Feeds
    iterations: int
    kind: str
    plain: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 1e-4
    astray: float = 0.0


Make = Callable[[], Workload]


def model(text: str, tensors: Mapping[str, Any] | None = None, opset: int = 17, ir: int = 8) -> bytes:
    """A model from ONNX's text, with tensors as initializers."""
    actual = onnx.parser.parse_model(f"{HEADER.format(ir=ir, opset=opset)} {text}")
    for name, value in (tensors or {}).items():
        actual.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return actual.SerializeToString()


def count(number: int) -> np.ndarray:
    return np.array(number, np.int64)


def floats(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def uniform(seed: int, low: float, high: float, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)
