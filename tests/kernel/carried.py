"""A loop of carried values over buffers, as lowering writes it, and what the steps of the optimiser make of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Buffer, Expr, Var
from whorl.kernel.interpret import interpret
from whorl.kernel.optimise import optimise
from whorl.kernel.program import Program, Swap, While
from whorl.kernel.verify import verify_program
from whorl.lowering.builder import KernelBuilder

N, STEPS = 32, 3
I, STOP, GO = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)
NOW, NEXT = Buffer("x.now", FLOAT32, (N,)), Buffer("x.next", FLOAT32, (N,))
FIXED = Buffer("c.in", FLOAT32, (N, 4))
SQUARE = Buffer("a.in", FLOAT32, (N, N))
OUT = Buffer("out", FLOAT32, (None, N))
Body = Callable[[KernelBuilder], None]
Step = Callable[[Program], None]


def looped(body: Body) -> Program:
    """A loop that goes on to `stop`; `body` writes x.next and a row of out."""
    k = KernelBuilder()
    loop = While([], k.apply("and", GO, k.compare("lt", I, STOP)))
    with k.into(loop.body):
        body(k)
        k.block.append(Swap(NOW, NEXT))
        k.assign(I, k.add(I, k.const(1)))
        k.assign(GO, TRUE)
    return Program([I, STOP, GO], [NOW, NEXT, FIXED, SQUARE, OUT], k.scratch, [*k.block, loop])


def outcome(program: Program) -> tuple[np.ndarray, np.ndarray]:
    """The carried value and the rows after some steps."""
    rng = np.random.default_rng(0)
    shapes = [(N,), (N,), (N, 4), (N, N), (STEPS, N)]
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    end = interpret(program, [0, STEPS, True], arrays)
    assert end.status == 0 and end.scalars[0] == STEPS
    return end.arrays[0], end.arrays[4]


def optimised(body: Body, step: Step = optimise) -> str:
    """The text of the loop after a step, which is verified and computes what the loop as it was does."""
    program = looped(body)
    before = outcome(copy.deepcopy(program))
    step(program)
    verify_program(program)
    for a, b in zip(before, outcome(program), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    return str(program)


def check_nest(program: Program, step: Step, arrays: Sequence[np.ndarray]) -> str:
    """The text of a program without a loop of carried values after a step; every buffer gets the bits it got."""
    before = interpret(copy.deepcopy(program), [], [x.copy() for x in arrays])
    step(program)
    verify_program(program)
    after = interpret(program, [], [x.copy() for x in arrays])
    assert before.status == after.status
    for a, b in zip(before.arrays, after.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    return str(program)


def store_row(k: KernelBuilder, value: Callable[[Expr], Expr], target: Buffer = OUT) -> None:
    with k.nest((N,)) as (j,):
        index = (I, j) if target is OUT else (j,)
        k.store(target, index, k.let(value(j)))


def keep(k: KernelBuilder) -> None:
    store_row(k, lambda j: k.load(NOW, (j,)), NEXT)
