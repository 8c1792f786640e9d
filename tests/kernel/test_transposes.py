"""Nests that read across the rows of memory go tile by tile, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from kernel.carried import check_nest

from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Expr, Load, Var, index_const
from whorl.kernel.interpret import interpret
from whorl.kernel.program import For, Program, Store
from whorl.kernel.transposes import FAR, stride, tile_transposes
from whorl.kernel.verify import verify_program
from whorl.lowering.builder import KernelBuilder

ROWS, COLUMNS = 37, 150
READ = Buffer("x", FLOAT32, (COLUMNS, ROWS))
I, J, N = (Var(INT64, name) for name in "ijn")


def tiled(shape: tuple[int, ...], read: Buffer, at: Callable[[KernelBuilder, Sequence[Expr]], Sequence[Expr]]) -> str:
    """A nest that copies to memory of a shape what lies elsewhere at other places, after it is tiled."""
    k, target = KernelBuilder(), Buffer("y", FLOAT32, shape)
    with k.nest(shape) as index:
        k.store(target, index, k.load(read, tuple(at(k, index))))
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(b.shape).astype(np.float32) for b in (read, target)]
    return check_nest(Program([], [read, target], k.scratch, k.block), tile_transposes, arrays)


def loops(text: str) -> list[str]:
    return [line.split("< ")[1].strip(" :") for line in text.split("\n") if "for " in line]


def test_matrix_is_transposed_by_tiles() -> None:
    text = tiled((ROWS, COLUMNS), READ, lambda k, i: (i[1], i[0]))
    assert loops(text)[:2] == ["3", "10"] and len(loops(text)) == 4


def test_axes_between_go_around_the_tiles() -> None:
    text = tiled((32, 7, 48), Buffer("x", FLOAT32, (7, 48, 32)), lambda k, i: (i[1], i[2], i[0]))
    assert loops(text) == ["2", "7", "3", "16", "16"]


def test_rows_of_an_image_that_are_flat_are_known_by_their_stride() -> None:
    flat = Buffer("x", FLOAT32, (1, 48 * 32))
    text = tiled((32, 4, 48), flat, lambda k, i: (k.const(0), k.add(k.mul(i[2], k.const(32)), i[0])))
    assert loops(text) == ["2", "4", "3", "16", "16"]


@pytest.mark.parametrize(
    ("shape", "read", "at"),
    [
        ((ROWS, COLUMNS), (ROWS, COLUMNS), lambda k, i: i),
        ((8, 16), (16, 8), lambda k, i: (i[1], i[0])),
        ((4, 500), (500, 4), lambda k, i: (i[1], i[0])),
        ((500, 4), (4, 500), lambda k, i: (i[1], i[0])),
        ((20, 150), (150, 20, 3), lambda k, i: (i[1], i[0], k.const(1))),
    ],
    ids=["in order", "near", "few rows", "short rows", "neither axis in order"],
)
def test_other_nests_are_as_they_were(
    shape: tuple[int, ...], read: tuple[int, ...], at: Callable[[KernelBuilder, Sequence[Expr]], Sequence[Expr]]
) -> None:
    assert len(loops(tiled(shape, Buffer("x", FLOAT32, read), at))) == len(shape)


def test_loop_whose_length_follows_from_a_row_is_as_it_was() -> None:
    x, y = Buffer("x", FLOAT32, (200, 20)), Buffer("y", FLOAT32, (20, 200))
    inner = For(
        J, Apply(INT64, "mul", (I, index_const(9))), [Store(y, (I, J), Load(FLOAT32, x, (J, I)))], parallel=True
    )
    program = Program([], [x, y], [], [For(I, index_const(20), [inner], parallel=True)])
    before = str(program)
    tile_transposes(program)
    assert str(program) == before


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 33])
@pytest.mark.parametrize("columns", [0, 1, 16, 31])
def test_lengths_that_only_the_run_knows(rows: int, columns: int) -> None:
    m = Var(INT64, "m")
    x, y = Buffer("x", FLOAT32, (m, N)), Buffer("y", FLOAT32, (N, m))
    store = Store(y, (I, J), Load(FLOAT32, x, (J, I)))
    program = Program([N, m], [x, y], [], [For(I, N, [For(J, m, [store], parallel=True)], parallel=True)])
    tile_transposes(program)
    verify_program(program)
    assert len(loops(str(program))) == 4
    memory = np.arange(rows * columns, dtype=np.float32).reshape(columns, rows)
    result = np.zeros((rows, columns), np.float32)
    assert interpret(program, [rows, columns], [memory, result]).status == 0
    np.testing.assert_array_equal(result, memory.T)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((I, J), 20),
        ((J, I), 1),
        ((J, J), 0),
        ((index_const(0), Apply(INT64, "add", (Apply(INT64, "mul", (index_const(3), I)), J))), 3),
        ((Apply(INT64, "sub", (J, I)), I), -19),
        ((Apply(INT64, "div", (I, index_const(2))), J), None),
    ],
)
def test_stride_is_what_the_next_value_of_a_variable_adds(index: tuple[Expr, ...], expected: int | None) -> None:
    assert stride(Buffer("x", FLOAT32, (30, 20)), index, I) == expected


def test_stride_over_unknown_lengths_is_far() -> None:
    assert stride(Buffer("x", FLOAT32, (30, N)), (I, J), I) == FAR
