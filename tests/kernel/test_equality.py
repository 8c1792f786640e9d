"""Programs are equal whatever their parts are called; their cells, numbers and statements must be the same."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import FLOAT32, FLOAT64, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Load, Var, index_const
from whorl.kernel.equality import key_of
from whorl.kernel.outline import FEW, outline
from whorl.kernel.program import For, Program, Reserve, RunOp, Statement, Store
from whorl.ops.elementwise.arithmetic import Add, Sub


def program(prefix: str, length: int = 100, count: int = FEW, scale: float = 2.0) -> Program:
    """`for i < length: y[i] = scale * x[i]`, several times."""
    x, y = (Buffer(f"{prefix}{name}", FLOAT32, (1000,)) for name in "xy")
    n, body = Var(INT64, f"{prefix}n", False), list[Statement]()
    for number in range(count):
        i = Var(INT64, f"{prefix}{number}")
        value = Apply(FLOAT32, "mul", (Load(FLOAT32, x, (i,)), Const(FLOAT32, scale)))
        body.append(For(i, index_const(length), [Store(y, (i,), value)], parallel=True))
    return Program([n], [x], [y], body)


def key(program: Program) -> str:
    return key_of(program, outline(program))


@pytest.mark.parametrize("count", [1, FEW])
def test_programs_with_other_names_are_equal(count: int) -> None:
    assert key(program("a", count=count)) == key(program("b", count=count))


@pytest.mark.parametrize("count", [1, FEW])
def test_programs_with_other_numbers_differ(count: int) -> None:
    keys = {
        key(program("a", *numbers)) for numbers in ((100, count), (200, count), (100, count, 3.0), (100, count + 1))
    }
    assert len(keys) == 4


def test_programs_with_other_cells_differ() -> None:
    x, y, z = Buffer("x", FLOAT32, (4,)), Buffer("y", FLOAT32, (4,)), Buffer("z", FLOAT64, (4,))
    store = Store(x, (index_const(0),), Const(FLOAT32, 1.0))
    programs = [
        Program([], [x, y], [], [store]),
        Program([], [y, x], [], [store]),
        Program([], [x], [y], [store]),
        Program([], [x, z], [], [store]),
        Program([Var(INT64, "n", False)], [x, y], [], [store]),
    ]
    assert len({key(p) for p in programs}) == len(programs)


def test_calls_of_the_runtime_are_equal_by_their_numbers() -> None:
    def calling(first: RunOp, second: RunOp, *body: RunOp) -> str:
        return key(Program([], [x, y], [], [*body], [first, second]))

    x, y = Buffer("x", FLOAT32, (4,)), Buffer("y", FLOAT32, (4,))
    add, subtract = RunOp(Add(), [x, None], [y]), RunOp(Sub(), [x, None], [y])
    assert calling(add, subtract, add, subtract) == calling(subtract, add, subtract, add)
    assert calling(add, subtract, add, subtract) != calling(add, subtract, subtract, add)


def test_memory_that_grows_is_part_of_a_program() -> None:
    def growing(count: int) -> str:
        buffer = Buffer("x", FLOAT32, (None,), grows=True)
        return key(Program([], [], [buffer], [Reserve(buffer, index_const(count))]))

    assert growing(8) == growing(8) != growing(9)
