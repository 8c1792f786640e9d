"""Ops that may take long: a bound of the work, by the sizes and numbers of the inputs, decides which thread runs it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict

from whorl.ir.graph import Op
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.ops.core.aside import run_aside
from whorl.ops.core.base import Elementwise

SMALL = 20
"""The power of two up to which work ends within one polling period."""
FEW = 8
"""Numbers of an input that may say how large a result is."""
QUICK = 0.002
"""Seconds that an op may take for the next one with as much work to run where it is."""


class Effort:
    """What one op of a program has taken so far. Where it may take long, it runs aside, so that limits act meanwhile.

    The work is bounded by all sizes multiplied, and by the numbers where the shape of a result may follow from them: a
    power of two.
    """

    def __init__(self, op: Op, types: Sequence[Type]) -> None:
        self.fixed = _largest_number(op).bit_length() + max(map(_static_bits, types), default=0)
        self.by_numbers = not isinstance(op, Elementwise) and not all(map(_is_static, types))
        self.quick = SMALL

    def run(self, function: Callable[..., Any], inputs: Sequence[Any], check: Callable[[], None]) -> Any:
        """The function's result for the inputs; raises what `check` raises meanwhile."""
        work = self.of(inputs)
        if work <= self.quick:
            return function(*inputs)
        start = time.perf_counter()
        result = run_aside(function, inputs, check)
        if time.perf_counter() - start < QUICK:
            self.quick = max(self.quick, work)
        return result

    def is_quick(self, inputs: Sequence[Any]) -> bool:
        """Whether it runs on the caller's thread for such inputs."""
        return self.of(inputs) <= self.quick

    def of(self, inputs: Sequence[Any]) -> int:
        """The work for these inputs, as a power of two."""
        bits = self.fixed
        for x in inputs:
            if type(x) is np.ndarray:
                bits += x.size.bit_length()
                if self.by_numbers and x.size <= FEW and x.dtype.kind in "iuf":
                    bits += _bits_of(x.reshape(-1).tolist())
            elif type(x) is list:
                bits += sum(getattr(item, "size", 1) for item in x).bit_length()
        return bits


def _bits_of(numbers: Iterable[float]) -> int:
    """Of all numbers multiplied; what lies near 0 counts as what it divides by."""
    total = 0
    for number in numbers:
        if isinstance(number, int):
            total += number.bit_length()
        elif math.isfinite(number):
            total += abs(math.frexp(number)[1])
    return total


def _largest_number(op: Op) -> int:
    """The largest whole number among an op's attributes; small ones, which name axes, do not count."""
    largest = 0
    for value in asdict(op).values():
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int) and not isinstance(number, bool):
                largest = max(largest, abs(number))
    return largest if largest >= 1 << FEW else 0


def _static_bits(type: Type) -> int:
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return 0
    size = math.prod(dim for dim in type.shape if isinstance(dim, int))
    return size.bit_length() if size >= 1 << SMALL - 4 else 0


def _is_static(type: Type) -> bool:
    return (
        isinstance(type, TensorType)
        and not isinstance(type.shape, AnyShape)
        and all(isinstance(dim, int) for dim in type.shape)
    )
