"""Loops over time as lowering writes them: what counts, and nests over rows."""

from __future__ import annotations

import numpy as np

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Assign, For, Program, Statement, Store, While

TURN, GO, END = Var(INT64, "turn", False), Var(BOOL, "go", False), Var(INT64, "end")
ROWS = Var(INT64, "rows")
A, B, C, I, J, K, L, M = (Var(INT64, name) for name in "abcijklm")
ZERO, ONE = index_const(0), index_const(1)


def plus(x: Expr, y: Expr) -> Expr:
    return Apply(x.dtype, "add", (x, y))


def load(buffer: Buffer, *index: Expr) -> Load:
    return Load(buffer.dtype, buffer, index)


def over_time(*body: Statement) -> While:
    """Goes through statements as often as `END` says."""
    condition = Apply(BOOL, "and", (GO, Apply(BOOL, "lt", (TURN, END))))
    return While([], condition, [*body, Assign(TURN, plus(TURN, ONE)), Assign(GO, TRUE)])


def program(loop: While, *buffers: Buffer, scalars: tuple[Var, ...] = ()) -> Program:
    return Program([END, *scalars], list(buffers), [], [Assign(TURN, ZERO), Assign(GO, TRUE), loop])


def collapsed(state: Buffer, total: Buffer, steps: int) -> While:
    """A nest over two axes that reads other elements of its row, and one whose axes are one loop."""
    (rows, length) = state.shape
    assert isinstance(rows, int) and isinstance(length, int)
    turned = Apply(INT64, "sub", (index_const(length - 1), J))
    add = Store(total, (I, J), plus(load(total, I, J), load(state, I, turned)))
    rows_of_it = For(I, index_const(rows), [For(J, index_const(length), [add], parallel=True)], parallel=True)
    back = For(K, index_const(steps), [Store(state, (ZERO, K), plus(load(total, ZERO, K), load(state, ZERO, K)))])
    return over_time(rows_of_it, back)


def channels(state: Buffer, sums: Buffer, read: Expr = J) -> list[For]:
    """Two nests over a batch and channels, of which one sums what belongs to a channel."""
    n, total, sixty_four, four = ROWS, Var(FLOAT32, "total", False), index_const(64), index_const(4)
    grow = Store(state, (I, C, K), plus(load(state, I, C, K), Const(FLOAT32, np.float32(1))))
    first = For(I, n, [For(C, sixty_four, [For(K, four, [grow], parallel=True)], parallel=True)], parallel=True)
    start = Assign(total, Const(FLOAT32, np.float32(0)))
    add = For(M, four, [Assign(total, plus(total, load(state, L, read, M)))])
    out = Store(sums, (plus(Apply(INT64, "mul", (ZERO, n)), L), J, ZERO), total)
    return [first, For(L, n, [For(J, sixty_four, [start, add, out], parallel=True)])]


def scan(state: Buffer, sums: Buffer, collected: Buffer, read: Expr = A) -> While:
    """The nests over a batch and channels, and one that collects what they give, from another place in the batch."""
    take = Store(collected, (TURN, A, B), load(sums, read, B, ZERO))
    last = For(A, ROWS, [For(B, index_const(64), [take], parallel=True)], parallel=True)
    return over_time(*channels(state, sums), last)


def memory_of_scan(batch: int, turns: int) -> tuple[list[Buffer], list[np.ndarray]]:
    lengths = (ROWS, 64, 4), (ROWS, 64, 1), (END, ROWS, 64)
    buffers = [
        Buffer(name, FLOAT32, shape) for name, shape in zip(("state", "sums", "collected"), lengths, strict=True)
    ]
    state = np.arange(batch * 256, dtype=np.float32).reshape(batch, 64, 4)
    return buffers, [state, np.zeros((batch, 64, 1), np.float32), np.zeros((turns, batch, 64), np.float32)]


X, Y, COLUMNS = Buffer("x", FLOAT32, (ROWS,)), Buffer("y", FLOAT32, (ROWS,)), Buffer("columns", FLOAT32, (END, ROWS))


def grow() -> list[Statement]:
    return [Store(Y, (I,), plus(plus(load(Y, I), load(X, I)), load(COLUMNS, TURN, I)))]


def collect() -> list[Statement]:
    return [Store(Y, (I,), plus(load(Y, I), load(COLUMNS, TURN, I))), Store(COLUMNS, (TURN, I), load(Y, I))]
