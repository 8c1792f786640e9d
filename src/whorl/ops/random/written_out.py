"""Random ops as nodes that draw from a stream: the numbers that they draw from a generator in the same state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import FLOAT64
from whorl.ir.graph import Node, NodeBuilder, Value
from whorl.ir.types import tensor
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, Where
from whorl.ops.movement.shapes import Shape
from whorl.ops.random.distributions import (
    Bernoulli,
    Dropout,
    Multinomial,
    Random,
    RandomNormal,
    RandomNormalLike,
    RandomUniform,
    RandomUniformLike,
    chance_of,
)
from whorl.ops.random.streams import Draw, DrawClasses, DrawNormal, DrawUniform

Drawn = tuple[list[Value], Value]
"""The outputs of an op, and the stream behind them."""


def write_random(op: Random, inputs: Sequence[Value | None], stream: Value, build: NodeBuilder) -> Drawn | None:
    """An op by nodes that draw from a stream; None where it stays, since its numbers or its errors are its own."""
    first = inputs[0] if inputs else None
    match op:
        case RandomNormal():
            return _write_numbers(DrawNormal(), stream, build.int64(*op.shape), op.mean, op.scale, op.dtype, build)
        case RandomUniform():
            shape = build.int64(*op.shape)
            return _write_numbers(DrawUniform(), stream, shape, op.low, op.high - op.low, op.dtype, build)
        case RandomNormalLike() if first is not None:
            dtype, shape = op.dtype or tensor(first).dtype, build.add(Shape(), first)
            return _write_numbers(DrawNormal(), stream, shape, op.mean, op.scale, dtype, build)
        case RandomUniformLike() if first is not None:
            dtype, shape = op.dtype or tensor(first).dtype, build.add(Shape(), first)
            return _write_numbers(DrawUniform(), stream, shape, op.low, op.high - op.low, dtype, build)
        case Bernoulli() if first is not None:
            return _write_bernoulli(op, first, stream, build)
        case Multinomial() if first is not None:
            draw = DrawClasses(op.dtype, op.sample_size)
            classes, stream = build.add_many(draw, [stream, first], ["classes", "stream"])
            return [classes], stream
        case Dropout() if first is not None:
            return _write_dropout(first, inputs[1:], stream, build)
        case _:
            return None


def _write_numbers(
    draw: Draw, stream: Value, shape: Value, first: float, scale: float, dtype: np.dtype, build: NodeBuilder
) -> Drawn | None:
    """first + scale x of numbers x that are drawn, rounded once. NumPy refuses other than finite numbers."""
    if not np.isfinite([first, scale]).all() or (isinstance(draw, DrawNormal) and np.signbit(scale)):
        return None
    write, (numbers, stream) = Writer(build), build.add_many(draw, [stream, shape], ["numbers", "stream"])
    moved = write.add(write.number(first, FLOAT64), write.mul(write.number(scale, FLOAT64), numbers))
    return [write.cast(moved, dtype)], stream


def _draw_like(like: Value, stream: Value, build: NodeBuilder) -> tuple[Value, Value]:
    """Numbers of [0, 1) in the shape of a tensor, and the stream behind them."""
    numbers, stream = build.add_many(DrawUniform(), [stream, build.add(Shape(), like)], ["numbers", "stream"])
    return numbers, stream


def _write_bernoulli(op: Bernoulli, probability: Value, stream: Value, build: NodeBuilder) -> Drawn:
    write, (numbers, stream) = Writer(build), _draw_like(probability, stream, build)
    hits = build.add(Less(), numbers, write.cast(probability, FLOAT64))
    return [write.cast(hits, op.dtype or tensor(probability).dtype)], stream


def _write_dropout(x: Value, rest: Sequence[Value | None], stream: Value, build: NodeBuilder) -> Drawn | None:
    """Where the ratio and whether it trains are constants."""
    constants = [_constant(value) for value in rest]
    if len(rest) < 2 or any(array is None and value is not None for array, value in zip(constants, rest, strict=True)):
        return None
    try:
        chance = chance_of(np.zeros(()), *constants)
    except RunError:
        return None
    if not chance:
        return None
    write, dtype = Writer(build), tensor(x).dtype
    wide = accumulator(dtype)
    numbers, stream = _draw_like(x, stream, build)
    mask = build.add(GreaterOrEqual(), numbers, write.number(chance, FLOAT64))
    scaled = write.mul(write.cast(x, wide), write.number(1 / (1 - chance), wide))
    return [write.cast(build.add(Where(), mask, scaled, write.number(0, wide)), dtype), mask], stream


def _constant(value: Value | None) -> np.ndarray | None:
    """The contents of a constant."""
    owner = None if value is None else value.owner
    return as_array(owner.op.value) if isinstance(owner, Node) and isinstance(owner.op, Constant) else None
