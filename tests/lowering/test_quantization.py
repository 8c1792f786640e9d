"""Native forms of ops whose operands have shapes of their own: quantization, bounds, slopes, broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lowering.looped import Case, check, draw
from whorl.ir.graph import Op
from whorl.ops.elementwise.arithmetic import Clip, Div, Max, Mod
from whorl.ops.elementwise.casting import CastLike
from whorl.ops.elementwise.comparison import Where
from whorl.ops.elementwise.nonlinear import PRelu, SwiGLU
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.quantization import DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear


def case(op: Op, *operands: tuple[Any, Sequence[int]], **settings: Any) -> Case:
    """Operands by element type and shape."""
    return Case(op, lambda rng: [draw(rng, shape, dtype) for dtype, shape in operands], **settings)


@pytest.mark.parametrize("target", ["uint8", "int8", "int16", "uint16"])
def test_quantize_linear_along_an_axis(target: str) -> None:
    f = "float32"
    check(
        [
            case(QuantizeLinear(), (f, (2, 5, 3)), (f, (5,)), (target, (5,))),
            case(QuantizeLinear(axis=-1), (f, (2, 5, 3)), (f, (3,)), (target, (3,))),
            case(QuantizeLinear(axis=0), (f, (4,)), (f, (4,)), (target, (4,))),
            case(QuantizeLinear(), (f, (2, 3)), (f, (1,)), (target, (1,))),
            case(QuantizeLinear(), (f, ()), (f, (1,)), (target, ())),
            case(QuantizeLinear(axis=1, block_size=2), (f, (2, 5)), (f, (2, 3)), (target, (2, 3))),
            case(QuantizeLinear(axis=0, block_size=3), ("int32", (6, 2)), (f, (2, 2)), (target, (2, 2))),
        ]
    )


@pytest.mark.parametrize("source", ["uint8", "int8", "int16", "uint16", "int32"])
def test_dequantize_linear_along_an_axis(source: str) -> None:
    f = "float32"
    check(
        [
            case(DequantizeLinear(), (source, (2, 5, 3)), (f, (5,)), (source, (5,))),
            case(DequantizeLinear(axis=-1), (source, (2, 5, 3)), ("float64", (3,))),
            case(DequantizeLinear(), (source, (2, 3)), (f, (1,)), (source, (1,))),
            case(DequantizeLinear(axis=1, block_size=2), (source, (2, 5)), (f, (2, 3)), (source, (2, 3))),
        ]
    )


@pytest.mark.parametrize("wild", [0.0, 0.3])
def test_dynamic_quantize_linear(wild: float) -> None:
    make = lambda shape: lambda rng: [draw(rng, shape, "float32", wild)]  # noqa: E731
    check([Case(DynamicQuantizeLinear(), make(shape), outputs=3) for shape in ((4, 5), (1,), (), (0, 3), (33,))])


def test_bounds_of_any_rank() -> None:
    check(
        [
            case(Clip(), ("float32", ()), ("float32", (1,)), ("float32", (1, 1))),
            case(Clip(), ("int8", (3, 4)), ("int8", ()), ("int8", (1,))),
            Case(Clip(), lambda rng: [draw(rng, (7,), "float64"), None, np.array(0.5)]),
            Case(Clip(), lambda rng: [draw(rng, (7,), "uint16")]),
        ]
    )


def test_operands_broadcast() -> None:
    f = "float32"
    check(
        [
            case(Where(), ("bool", (3, 1)), ("int64", (4,)), ("int64", (2, 1, 1))),
            case(Max(), (f, (3, 1)), (f, (4,)), (f, (2, 1, 1))),
            case(PRelu(), (f, (2, 3, 4)), (f, (3, 1))),
            case(PRelu(), ("int16", (2, 3)), ("int16", ())),
            case(SwiGLU(), (f, (2, 3)), (f, (2, 3)), ulps=8),
            case(CastLike(), (f, (2, 3)), ("int8", (7,))),
            Case(Div(), lambda rng: [draw(rng, (3, 4), "int32"), rng.integers(1, 9, (4,), np.int32)]),
            Case(Mod(), lambda rng: [draw(rng, (), "int32"), rng.integers(-9, 0, (2, 1), np.int32)]),
            Case(Pow(), lambda rng: [draw(rng, (3, 1), "int32"), rng.integers(0, 9, (2,), np.int64)]),
        ]
    )
