"""Expressions: shared parts are computed once a block, memory is read anew after it changes."""

from __future__ import annotations

import numpy as np

from codegen.maps import mapping
from codegen.running import run_program
from whorl.codegen.emit import emit
from whorl.codegen.target import Target, machine, optimised
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import For, Program, Store
from whorl.llvm.module import Machine

MACHINE = Machine(32, True)
X = Buffer("x", FLOAT32, (4,))


def plus(a: Expr, b: Expr) -> Expr:
    return Apply(FLOAT32, "add", (a, b))


def test_shared_part_is_computed_once() -> None:
    part = plus(Load(FLOAT32, X, (index_const(0),)), Const(FLOAT32, 1.0))
    program = Program([], [X], [], [Store(X, (index_const(1),), Apply(FLOAT32, "mul", (part, part)))])
    assert str(emit(program, MACHINE)).count("fadd float") == 1


def test_element_is_read_anew_after_a_store() -> None:
    x = np.array([1, 0, 0, 0], np.float32)
    first = Load(FLOAT32, X, (index_const(0),))
    body = [Store(X, (index_const(k),), plus(first, first)) for k in (0, 1)]
    status, _ = run_program(Program([], [X], [], body), x)
    assert status == 0 and x.tolist() == [2, 4, 0, 0]


def test_index_is_row_major_and_zeros_cost_nothing() -> None:
    matrix, i = Buffer("m", FLOAT32, (3, 5)), Var(INT64, "i", False)
    stores = [Store(matrix, (i, index_const(2)), Const(FLOAT32, 7.0))]
    m = np.zeros((3, 5), np.float32)
    run_program(Program([], [matrix], [], [For(i, index_const(3), stores)]), m)
    assert m[:, 2].tolist() == [7, 7, 7] and m.sum() == 21
    zero = Store(matrix, (index_const(0), index_const(0)), Const(FLOAT32, 7.0))
    assert "mul nsw" not in str(emit(Program([], [matrix], [], [zero]), MACHINE))


def test_columns_as_far_apart_as_only_the_run_knows_are_not_expected_side_by_side() -> None:
    n, i, j = (Var(INT64, name, False) for name in "nij")
    x, y = Buffer("x", FLOAT32, (256, n)), Buffer("y", FLOAT32, (n, 256))
    value = Apply(FLOAT32, "exp", (Load(FLOAT32, x, (j, i)),))
    inner = For(j, index_const(256), [Store(y, (i, j), value)], parallel=True)
    program = Program([n], [x, y], [], [For(i, n, [inner], parallel=True)], results=[y])
    target = Target(64, True, triple="x86_64-unknown-linux-gnu", cpu="x86-64-v4", features="")
    written = str(optimised(emit(program, target).split()[0], machine(target)))
    assert "ident.check" not in written


def test_accesses_in_parallel_loops_carry_the_groups_of_all_of_them() -> None:
    i, j = (Var(INT64, name, False) for name in "ij")
    matrix = Buffer("m", FLOAT32, (4, 4))
    inner = For(j, index_const(4), [Store(matrix, (i, j), Const(FLOAT32, 0.0))], parallel=True)
    text = str(emit(Program([], [matrix], [], [For(i, index_const(4), [inner], parallel=True)]), MACHINE))
    assert "!{!0, !1}" in text and text.count("distinct !{}") == 2


def test_very_deep_expression_is_written() -> None:
    def deep(k, x):
        total = x
        for _ in range(20_000):
            total = k.add(total, x)
        return total

    assert str(emit(mapping(deep, ["float32"], "float32"))).count("fadd float") == 20_000
