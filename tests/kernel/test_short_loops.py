"""Short loops that change memory in place are cut into whole vectors, and compute what they did."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.native.expressions import TRUE, Buffer, Const, Var
from whorl.kernel.interpret import interpret
from whorl.kernel.optimise import optimise
from whorl.kernel.program import For, Program, While
from whorl.kernel.verify import verify_program
from whorl.kernel.walk import all_statements
from whorl.lowering.builder import KernelBuilder

I, STOP, GO = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)


def program(length: int, inplace: bool) -> Program:
    """`while i < stop: x = 2 x - y`, which also changes y, or writes another tensor."""
    k = KernelBuilder()
    x, y, z = (Buffer(f"{name}.now", FLOAT64, (length,)) for name in "xyz")
    loop = While([], k.apply("and", GO, k.compare("lt", I, STOP)))
    with k.into(loop.body):
        with k.nest((length,)) as index:
            a, b = k.view_of(x).at(index), k.view_of(y).at(index)
            total = k.let(k.sub(k.add(a, a), b))
            k.store(x if inplace else z, index, total)
            if inplace:
                k.store(y, index, k.mul(total, k.const(0.5, FLOAT64)))
        k.assign(I, k.add(I, k.const(1)))
        k.assign(GO, TRUE)
    return Program([I, STOP, GO], [x, y, z], k.scratch, [*k.block, loop])


def lengths(program: Program) -> list[int]:
    """The lengths of the loops, in order."""
    loops = [s for s in all_statements(program.body) if isinstance(s, For)]
    return [int(loop.extent.value) for loop in loops if isinstance(loop.extent, Const)]


@pytest.mark.parametrize(("length", "pieces"), [(4, [4]), (5, [4, 1]), (8, [8]), (10, [8, 2]), (15, [8, 4, 2, 1])])
def test_loop_inplace_is_cut_into_powers_of_two(length: int, pieces: list[int]) -> None:
    made = program(length, inplace=True)
    arrays = [np.random.default_rng(n).standard_normal(length) for n in range(3)]
    before = interpret(copy.deepcopy(made), [0, 4, True], copy.deepcopy(arrays)).arrays
    optimise(made)
    verify_program(made)
    assert lengths(made) == pieces
    for a, b in zip(before, interpret(made, [0, 4, True], arrays).arrays, strict=True):
        np.testing.assert_array_equal(a, b)


def test_loop_that_writes_elsewhere_and_longer_loops_stay() -> None:
    for length, inplace in ((10, False), (17, True)):
        made = program(length, inplace)
        optimise(made)
        assert lengths(made) == [length]
