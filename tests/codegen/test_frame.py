"""Cells are read into variables before a program runs, and written back after it."""

from __future__ import annotations

import numpy as np

from codegen.running import run_program
from whorl.codegen.emit import emit
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Var, index_const
from whorl.kernel.program import Assign, Program, Reserve, Swap
from whorl.llvm.module import Machine


def test_scalars_come_back_changed() -> None:
    n, go = Var(INT64, "n", False), Var(BOOL, "go", False)
    body = [Assign(n, Apply(INT64, "add", (n, index_const(2)))), Assign(go, Apply(BOOL, "not", (go,)))]
    status, cells = run_program(Program([n, go], [], [], body), 40, 1)
    assert status == 0 and cells.tolist() == [42, 0]


def test_addresses_of_buffers_come_back_swapped_and_the_ones_of_scratch_do_not() -> None:
    arrays = [np.zeros(2, np.float32) for _ in range(4)]
    a, b, c, d = (Buffer(name, FLOAT32, (2,)) for name in "abcd")
    program = Program([], [a, b], [c, d], [Swap(a, b), Swap(c, d)])
    _, cells = run_program(program, *arrays)
    first, second, *scratch = (x.ctypes.data for x in arrays)
    assert cells.tolist() == [second, first, *scratch]


def test_capacity_of_a_growing_buffer_follows_the_cells_of_the_runtime() -> None:
    grown = Buffer("grown", FLOAT32, (None,), grows=True)
    text = str(emit(Program([], [], [grown], [Reserve(grown, Const(INT64, 8))]), Machine(32, True)))
    assert "getelementptr inbounds i64, ptr %cells, i64 3" in text, "buffer, context, memory function, capacity"
