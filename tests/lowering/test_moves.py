"""Native forms of ops that move elements and of those that make tensors, against `run`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from lowering.looped import Case, check, draw
from whorl.ir.graph import Op
from whorl.ops.movement.axes import Concat, ReverseSequence, Slice, Split, Tile, Transpose
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth
from whorl.ops.movement.filling import ConstantOfShape, EyeLike, Range
from whorl.ops.movement.padding import CenterCropPad, Pad
from whorl.ops.movement.selection import Trilu
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Shape, Size, Squeeze, Unsqueeze

FEW = ("bool", "int16", "float64")
REST = ("int8", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float16", "bfloat16")
DTYPES = [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def case(op: Op, dtype: Any, *shapes: Sequence[int], extra: Sequence[np.ndarray | None] = (), outputs: int = 1) -> Case:
    """Tensors of one type that change, then arguments that stay."""
    constants = tuple(range(len(shapes), len(shapes) + len(extra)))
    make: Callable[[np.random.Generator], Any] = lambda rng: [*(draw(rng, s, dtype) for s in shapes), *extra]  # noqa: E731
    return Case(op, make, constants, outputs)


def reshapes(dtype: str) -> Iterator[Case]:
    pairs = [
        ((3, 4), (12,)), ((12,), (3, 4)), ((2, 3, 4), (4, 3, 2)), ((2, 3, 4), (6, 4)), ((2, 3, 4), (2, 12)),
        ((1, 6, 1), (2, 1, 3)), ((1,), ()), ((), (1, 1)), ((0, 3), (3, 0)), ((2, 3), (1, 2, 1, 3, 1)), ((6, 5), (5, 6)),
        ((3, 2, 5, 2), (6, 10)), ((3, 2, 5, 2), (3, 10, 2)), ((17, 3), (51,)), ((4, 1, 5), (2, 2, 5)),
    ]  # fmt: skip
    for old, new in pairs:
        yield case(Reshape(allowzero=1), dtype, old, extra=[numbers(*new)])
    yield case(Reshape(), dtype, (4, 3), extra=[numbers(0, -1)])
    for axis in (0, 1, -1, 3):
        yield case(Flatten(axis), dtype, (2, 3, 4))
    yield case(Squeeze(), dtype, (1, 3, 1, 2), extra=[numbers(0, -2)])
    yield case(Squeeze(), dtype, (1, 1))
    yield case(Unsqueeze(), dtype, (3, 2), extra=[numbers(0, -1)])
    yield case(Unsqueeze(), dtype, (), extra=[numbers(0)])
    for shape, wide in (((3, 1), (2, 3, 4)), ((), (2, 2)), ((2, 1, 3), (1, 4, 1)), ((1,), (0,)), ((4,), (4,))):
        yield case(Expand(), dtype, shape, extra=[numbers(*wide)])
    yield case(Shape(1), dtype, (3, 0, 5))
    yield case(Size(), dtype, (3, 4))


def moves(dtype: str) -> Iterator[Case]:
    for shape, perm in (
        ((3, 4), None),
        ((2, 3, 4), (1, 2, 0)),
        ((2, 1, 3, 2), (3, 0, 1, 2)),
        ((), None),
        ((0, 2), (1, 0)),
    ):
        yield case(Transpose(perm), dtype, shape)
    yield case(Concat(0), dtype, (2, 3), (0, 3), (17, 3))
    yield case(Concat(-1), dtype, (3, 1), (3, 1), (3, 1))
    yield case(Concat(1), dtype, (2, 2, 2), (2, 5, 2))
    yield case(Concat(0), dtype, *((1,) for _ in range(12)))
    yield case(Concat(0), dtype, (4,))
    yield case(Concat(0), dtype, (0,), (0,))
    yield case(Split(0, None, 2), dtype, (6, 2), outputs=2)
    yield case(Split(1, None, 3), dtype, (2, 7), extra=[numbers(2, 0, 5)], outputs=3)
    yield case(Split(0, 3, 3), dtype, (7,), outputs=3)
    for shape, times in (((2, 3), (2, 2)), ((1, 3), (4, 1)), ((3,), (0,)), ((2, 1), (1, 5)), ((2, 3, 2), (1, 3, 1))):
        yield case(Tile(), dtype, shape, extra=[numbers(*times)])
    for mode in ("DCR", "CRD"):
        yield case(DepthToSpace(2, mode), dtype, (2, 8, 2, 3))
        yield case(SpaceToDepth(3, mode), dtype, (1, 2, 3, 6))
    for upper in (0, 1):
        for k in (None, 0, 1, -2, 99):
            yield case(Trilu(upper), dtype, (2, 3, 4), extra=[None if k is None else np.array(k)])


def cuts(dtype: str) -> Iterator[Case]:
    far = np.iinfo(np.int64).max
    for starts, ends, axes, steps in (
        ((1,), (3,), None, None), ((0, -3), (far, -1), (0, 2), (2, 1)), ((-1,), (-far - 1,), (1,), (-1,)),
        ((3,), (1,), (1,), None), ((5, 0), (0, far), (1, 0), (-2, 3)), ((-99,), (99,), (-1,), (3,)),
    ):  # fmt: skip
        lists = [starts, ends, axes, steps]
        yield case(Slice(), dtype, (4, 6, 5), extra=[None if x is None else numbers(*x) for x in lists])
    for mode in ("constant", "edge", "reflect", "wrap"):
        for pads in ((1, 2, 3, 0), (-1, 4, 2, -2), (0, 0, 0, 0), (-1, -1, 0, -1), (9, 0, 0, 11)):
            yield case(Pad(mode), dtype, (4, 5), extra=[numbers(*pads)])
        yield case(Pad(mode), dtype, (1, 3), extra=[numbers(2, 3), None, numbers(0)])
    yield case(CenterCropPad(), dtype, (4, 5), extra=[numbers(7, 2)])
    yield case(CenterCropPad((0,)), dtype, (4, 5), extra=[numbers(3)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_reshapes_equal_run(dtype: str) -> None:
    check(list(reshapes(dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_moves_equal_run(dtype: str) -> None:
    check(list(moves(dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cuts_equal_run(dtype: str) -> None:
    check(list(cuts(dtype)))


def test_arguments_that_change_equal_run() -> None:
    def padded(rng: np.random.Generator) -> list[np.ndarray]:
        return [draw(rng, (2, 3), "float32"), numbers(1, 0, 0, 2), draw(rng, (), "float32")]

    def lower(rng: np.random.Generator) -> list[np.ndarray]:
        return [draw(rng, (4, 4), "float32"), np.array(rng.integers(-5, 6))]

    def reverse(rng: np.random.Generator) -> list[np.ndarray]:
        return [draw(rng, (5, 3, 2), "int32"), rng.integers(0, 6, 3)]

    def batch_first(rng: np.random.Generator) -> list[np.ndarray]:
        return [draw(rng, (3, 5), "bool"), rng.integers(0, 6, 3)]

    check(
        [
            Case(Pad(), padded, (1,)),
            Case(Trilu(), lower),
            Case(Trilu(0), lower),
            Case(ReverseSequence(), reverse),
            Case(ReverseSequence(0, 1), batch_first),
        ]
    )


def test_made_tensors_equal_run() -> None:
    cases = [case(EyeLike(k=k), "int16", (3, 5)) for k in (0, 2, -1, 9, -9)]
    cases += [case(EyeLike(np.dtype("float32")), "bool", (4, 2))]
    cases += [case(Shape(), "bool", shape) for shape in ((), (2,), (1,) * 18)]
    ones, bounds = ConstantOfShape(np.ones(1, np.int8)), [np.array(1), np.array(3)]
    table = [(Shape(), (0,)), (ones, (1,))]
    cases.append(Case(ones, lambda rng: [draw(rng, (2, 3), "bool")], steps=table))
    count = [(Size(), (0,)), (Range(), (1, 3, 2))]
    cases.append(Case(Range(), lambda rng: [draw(rng, (2, 7), "bool"), *bounds], (1, 2), steps=count))
    check(cases)
