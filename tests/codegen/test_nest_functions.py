"""Nests as functions: called with their memory, their scalars and lengths, they do what they did inside a program."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.running import ENTRY, run_program
from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.nest_functions import name_of
from whorl.codegen.target import MachineCode
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.outline import FEW, outline
from whorl.kernel.program import Assign, Fail, For, Program, Reserve, Statement, Store, Swap, When, While
from whorl.llvm.module import Effort

X, Y, Z = (Buffer(name, FLOAT32, (600,)) for name in "xyz")
N, GO = Var(INT64, "n", False), Var(BOOL, "go", False)


def plus(a: Expr, b: Expr) -> Expr:
    return Apply(a.dtype, "add", (a, b))


def adding(number: int, source: Buffer, target: Buffer, length: int, first: int) -> For:
    """`for i < length: target[i] += source[i + first]`."""
    i = Var(INT64, f"i{number}")
    total = plus(Load(FLOAT32, target, (i,)), Load(FLOAT32, source, (plus(i, index_const(first)),)))
    return For(i, index_const(length), [Store(target, (i,), total)], parallel=True)


def sums() -> list[Statement]:
    return [adding(0, X, Y, 100, 20), adding(1, Y, Z, 300, 50), adding(2, X, Z, 200, 400), adding(3, Z, Y, 600, 0)][
        :FEW
    ]


def arrays() -> list[np.ndarray]:
    return [np.arange(600, dtype=np.float32) * scale for scale in (1, 100, 10_000)]


def test_equal_nests_are_one_function_called_with_their_memory_and_lengths() -> None:
    program = Program([], [X, Y, Z], [], [*sums(), adding(4, X, Y, 500, 100)])
    main, routines = emit(program).split()
    (name,) = {name_of(nest) for nest in outline(program).values() if nest.lengths[1:]}
    assert main.text.count(f"call i64 {name}(") == 4 and main.effort == Effort.GLUE
    assert routines[name].text.startswith(f"define i64 {name}(ptr noundef %b0, ptr noundef %b1, i64 %n0, i64 %n1)")
    x, y, z = arrays()
    expected = [a.copy() for a in (x, y, z)]
    run_program(program, x, y, z)
    a, b, c = expected
    b[:100] += a[20:120]
    c[:300] += b[50:350]
    c[:200] += a[400:]
    b += c
    b[:500] += a[100:]
    for array, result in zip((x, y, z), expected, strict=True):
        np.testing.assert_array_equal(array, result)


def test_scalars_go_in_and_come_back() -> None:
    i, step = Var(INT64, "i"), Var(INT64, "step")
    loop = For(i, index_const(10), [Assign(N, plus(N, step))])
    body = [Assign(step, plus(N, index_const(1))), *sums(), loop, Assign(N, plus(N, index_const(1000)))]
    _, cells = run_program(Program([N], [X, Y, Z], [], body), 4, *arrays())
    assert cells[0] == 4 + 10 * 5 + 1000


def test_bools_go_in_and_come_back() -> None:
    i = Var(INT64, "i")
    loop = For(i, index_const(3), [Assign(GO, Apply(BOOL, "not", (GO,)))])
    program = Program([GO], [X, Y, Z], [], [*sums(), loop])
    assert [run_program(program, go, *arrays())[1][0] for go in (0, 1)] == [1, 0]


@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_loop_over_time_leaves_its_memory_swapped(times: int) -> None:
    head = Apply(BOOL, "lt", (N, index_const(times)))
    loop = While([], head, [Swap(X, Y), Assign(N, plus(N, index_const(1)))])
    ending = Store(X, (index_const(0),), Const(FLOAT32, -1.0))
    x, y, z = arrays()
    status, cells = run_program(Program([N], [X, Y, Z], [], [*sums(), loop, ending]), 0, x, y, z)
    first, second = (y, x) if times % 2 else (x, y)
    assert (status, cells.tolist()) == (0, [times, *(a.ctypes.data for a in (first, second, z))])
    assert first[0] == -1


def test_failure_in_a_nest_ends_the_program() -> None:
    i = Var(INT64, "i")
    loop = For(i, index_const(10), [When(Apply(BOOL, "eq", (i, N)), [Fail(9)])])
    program = Program([N], [X, Y, Z], [], [loop, *sums()])
    assert run_program(program, 10, *arrays())[0] == 0
    x, y, z = arrays()
    assert run_program(program, 5, x, y, z)[0] == 9
    np.testing.assert_array_equal(y, arrays()[1])


def test_functions_give_the_bits_that_one_function_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    def result() -> bytes:
        x, y, z = arrays()
        run_program(Program([], [X, Y, Z], [], [*mixed()]), x, y, z)
        return b"".join(a.tobytes() for a in (x, y, z))

    apart = result()
    monkeypatch.setattr("whorl.kernel.outline.FEW", 1 << 30)
    assert result() == apart


def mixed() -> list[Statement]:
    """Sums in order and in any, functions, and rows that no vector divides."""
    body: list[Statement] = []
    for n, (length, op) in enumerate([(600, "exp"), (100, "tanh"), (77, "sigmoid"), (513, "sin")]):
        i, j, total = Var(INT64, f"i{n}"), Var(INT64, f"j{n}"), Var(FLOAT32, f"total{n}", False)
        small = Apply(FLOAT32, "mul", (Load(FLOAT32, X, (i,)), Const(FLOAT32, 0.01)))
        body.append(For(i, index_const(length), [Store(Y, (i,), Apply(FLOAT32, op, (small,)))], parallel=True))
        sum_up = Assign(total, Apply(FLOAT32, "sum" if n % 2 else "add", (total, Load(FLOAT32, Y, (j,)))))
        body += [Assign(total, Const(FLOAT32, 0.0)), For(j, index_const(length), [sum_up])]
        body.append(Store(Z, (index_const(n),), total))
    return body


def test_loop_whose_memory_grows_calls_for_it_and_hands_it_on() -> None:
    now, after = (Buffer(name, FLOAT32, (None,), grows=True) for name in ("now", "next"))
    head = Apply(BOOL, "lt", (N, index_const(3)))
    position = (index_const(0),)
    grow = [Reserve(after, index_const(8)), Store(after, position, Const(FLOAT32, 7.0)), Swap(now, after)]
    loop = While([], head, [*grow, Assign(N, plus(N, index_const(1)))])
    program = Program([N], [X, Y, Z], [now, after], [*sums(), loop, Store(X, position, Load(FLOAT32, now, position))])
    x, y, z = arrays()
    memory = [np.zeros(8, np.float32) for _ in range(2)]
    addresses = [a.ctypes.data for a in (x, y, z, *memory)]
    block = np.array([0, *addresses, 0, 0, 32, 33], np.int64)
    code = MachineCode(emit(program), FUNCTION)
    assert ENTRY(code.address)(block.ctypes.data) == 0
    assert x[0] == 7 and block[0] == 3
    assert block[4:6].tolist() == [addresses[4], addresses[3]] and block[8:].tolist() == [33, 32]
