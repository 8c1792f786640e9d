"""Functions of what threads share: equal ones once, with failures that say in which iteration they were."""

from __future__ import annotations

import ctypes

import pytest

from whorl.codegen import ranges
from whorl.codegen.emit import FUNCTION, emit_numbered
from whorl.codegen.ranges import ITERATIONS, REPORT, is_in_order
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.codegen.target import MachineCode, host
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.program import Assign, Fail, For, Program, Spread, Statement, Store, When, While

N, TURN, STEP, FLAT = Var(INT64, "n", False), Var(INT64, "turn", False), Var(INT64, "step"), Var(INT64, "flat")
X, Y = Buffer("x", FLOAT32, (8,)), Buffer("y", FLOAT32, (8,))
Fork = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)
Range = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
Report = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 2, ctypes.c_void_p, *[ctypes.c_int64] * 2)


def below(x: Expr, bound: int) -> Expr:
    return Apply(BOOL, "lt", (x, index_const(bound)))


def shared(source: Buffer, target: Buffer, *checks: Statement, extent: int = 8) -> Spread:
    """target[i] = 2 * source[i], after checks that may read FLAT, the number of an element."""
    first, count = Var(INT64, "first"), Var(INT64, "count")
    double = Store(target, (FLAT,), Apply(FLOAT32, "mul", (Load(FLOAT32, source, (FLAT,)), Const(FLOAT32, 2.0))))
    body = [Assign(FLAT, Apply(INT64, "add", (first, STEP))), *checks, double]
    return Spread(first, count, index_const(extent), index_const(1), [For(STEP, count, body)])


def run(program: Program, *cells: int) -> tuple[int, list[tuple[int, ...]], list[int]]:
    """The status, the ranges that ran, each of three steps or less, and what was reported last."""
    ran: list[tuple[int, ...]] = []
    reported: list[int] = []

    @Fork
    def fork(context: int, function: int, arguments: int, extent: int, work: int) -> int:
        status = 0
        for first in range(0, extent, 3):
            ran.append((first, min(3, extent - first)))
            status = status or Range(function)(arguments, *ran[-1], context)
        return status

    @Report
    def report(_context: int, status: int, first: int, iterations: int, count: int, in_order: int) -> None:
        numbers = (ctypes.c_int64 * count).from_address(iterations) if count else ()
        reported[:] = [status - FIRST_FAILURE, first, in_order, *numbers]

    context = (ctypes.c_void_p * ranges.COUNT)()
    context[ranges.callers.FORK] = ctypes.cast(fork, ctypes.c_void_p).value
    context[REPORT], context[ITERATIONS] = ctypes.cast(report, ctypes.c_void_p).value, None
    block = (ctypes.c_int64 * 32)(*cells, ctypes.addressof(context))
    module, _ = emit_numbered(program, host())
    module.definitions[f"@{FUNCTION}"].linkage = ""  # type: ignore[attr-defined]
    code = MachineCode(module, FUNCTION)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)(block), ran, reported


def test_ranges_compute_all_steps() -> None:
    x, y = (ctypes.c_float * 8)(*range(8)), (ctypes.c_float * 8)()
    program = Program([], [X, Y], [], [shared(X, Y)])
    status, ran, _ = run(program, ctypes.addressof(x), ctypes.addressof(y))
    assert (status, ran) == (0, [(0, 3), (3, 3), (6, 2)])
    assert list(y) == [2 * n for n in range(8)]


def test_equal_nests_are_one_function_unless_their_failures_differ() -> None:
    def functions(*reasons: str) -> int:
        body = [shared(X, Y, When(below(FLAT, 9), [], [Fail(1, reason)])) for reason in reasons]
        return str(emit_numbered(Program([], [X, Y], [], body), host())[0]).count("define internal i64 @whorl.nest.")

    assert (functions("a", "a"), functions("a", "b")) == (1, 2)


def test_failure_in_a_range_ends_the_program_and_says_in_which_iteration() -> None:
    around = (("body of Loop", TURN),)
    check = When(below(Apply(INT64, "add", (FLAT, TURN)), 9), [], [Fail(1, "too much", "Add", around)])
    loop = For(TURN, index_const(5), [When(below(N, 100), [], [Fail(1, "before")]), shared(X, X, check)])
    x = (ctypes.c_float * 8)()
    status, ran, reported = run(Program([N], [X], [], [loop]), 7, ctypes.addressof(x))
    assert (status, reported) == (FIRST_FAILURE, [0, 6, 1, 2])
    assert len(ran) == 3 * 3
    assert run(Program([N], [X], [], [loop]), 100, ctypes.addressof(x))[0] == FIRST_FAILURE + 1


@pytest.mark.parametrize("form", ["steps", "time", "while"])
def test_loop_over_time_in_a_range_is_not_in_order(form: str) -> None:
    spread = shared(X, Y)
    if form == "time":
        spread.body = [For(TURN, index_const(5), spread.body)]
    if form == "while":
        spread.body = [While([], below(TURN, 5), spread.body)]
    assert is_in_order(spread) == (form == "steps")
