"""Loops over neighbouring axes joined into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from kernel.carried import check_nest

from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Expr
from whorl.kernel.collapsed_loops import collapse_loops
from whorl.kernel.program import Program
from whorl.lowering.builder import KernelBuilder

Value = Callable[[KernelBuilder, Sequence[Expr]], Expr]
BLOCK, OTHER, ROW = Buffer("b", FLOAT32, (3, 5, 4)), Buffer("o", FLOAT32, (3, 5, 4)), Buffer("r", FLOAT32, (3, 1, 4))
WHERE = Buffer("p", INT64, (3, 5, 4))
SCALAR = Buffer("s", FLOAT32, ())


def collapsed(value: Value, shape: tuple[int, ...] = (3, 5, 4), parallel: bool = True) -> str:
    """A nest that stores values, after its loops are joined."""
    k = KernelBuilder()
    with k.nest(shape, parallel) as index:
        k.store(OTHER, index, value(k, index))
    rng = np.random.default_rng(0)
    buffers = [BLOCK, OTHER, ROW, WHERE, SCALAR]
    arrays = [rng.standard_normal(b.shape).astype(b.dtype) for b in buffers]
    arrays[3] = rng.permutation(60).reshape(3, 5, 4)
    return check_nest(Program([], buffers, k.scratch, k.block), collapse_loops, arrays)


VALUES: dict[str, tuple[Value, list[int]]] = {
    "whole": (lambda k, i: k.load(BLOCK, tuple(i)), [60]),
    "same_element": (lambda k, i: k.add(k.load(BLOCK, tuple(i)), k.load(SCALAR, ())), [60]),
    "first_row": (lambda k, i: k.load(BLOCK, (i[0], k.const(0), i[2])), [3, 5, 4]),
    "broadcast": (lambda k, i: k.load(ROW, (i[0], k.const(0), i[2])), [3, 5, 4]),
    "broadcast_outside": (lambda k, i: k.load(BLOCK, (k.const(0), i[1], i[2])), [3, 20]),
    "mirrored": (lambda k, i: k.load(BLOCK, (i[0], i[1], k.sub(k.const(3), i[2]))), [3, 5, 4]),
    "counted_outside": (lambda k, i: k.cast(i[0], FLOAT32), [3, 20]),
    "counted_inside": (lambda k, i: k.cast(i[2], FLOAT32), [3, 5, 4]),
    "looked_up": (lambda k, i: k.load(BLOCK, (k.const(0), k.const(0), k.load(WHERE, tuple(i)))), [60]),
    "kept_in_a_register": (lambda k, i: k.let(k.load(BLOCK, tuple(i))), [60]),
    "turned": (lambda k, i: k.load(BLOCK, (k.const(0), k.const(0), k.add(i[0], k.mul(i[2], k.const(3))))), [3, 5, 4]),
}


@pytest.mark.parametrize(("value", "extents"), VALUES.values(), ids=VALUES)
def test_loops_over_memory_in_order_are_one(value: Value, extents: list[int]) -> None:
    text = collapsed(value)
    assert [int(line.split("<")[1].strip(" :")) for line in text.split("\n") if "for " in line] == extents


@pytest.mark.parametrize(("shape", "loops"), [((3, 5, 3), 3), ((2, 5, 4), 1), ((3, 4, 4), 2), ((0, 5, 4), 1)])
def test_inner_loops_go_over_all_of_their_axes(shape: tuple[int, ...], loops: int) -> None:
    text = collapsed(lambda k, i: k.load(BLOCK, tuple(i)), shape)
    assert text.count("for ") == loops


def test_loops_in_order_do_not_change() -> None:
    assert collapsed(lambda k, i: k.load(BLOCK, tuple(i)), parallel=False).count("for ") == 3


def test_nest_around_more_than_one_statement_is_collapsed_as_far_as_it_is_one() -> None:
    k = KernelBuilder()
    with k.nest((3,)) as (a,), k.nest((5, 4)) as (b, c):
        x = k.let(k.load(BLOCK, (a, b, c)))
        k.store(OTHER, (a, b, c), k.mul(x, x))
    with k.nest((3,)) as (a,):
        k.store(ROW, (a, k.const(0), k.const(0)), k.const(1.0, FLOAT32))
        with k.nest((5, 4)) as (b, c):
            k.store(BLOCK, (a, b, c), k.const(2.0, FLOAT32))
    arrays = [np.ones(b.shape, b.dtype) for b in (BLOCK, OTHER, ROW)]
    text = check_nest(Program([], [BLOCK, OTHER, ROW], [], k.block), collapse_loops, arrays)
    assert text.count("for ") == 3 and "< 60:" in text and "< 20:" in text
