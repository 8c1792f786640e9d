"""Nests that do the same have equal texts, whatever their memory is called, and however long they are."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, index_const
from whorl.kernel.canonical import Nest, NestDescription
from whorl.kernel.lengths import LONG, LONG_ALONE, SMALL
from whorl.kernel.program import Assign, Call, Fail, For, Poll, RunOp, Statement, Store, Swap, When, While
from whorl.ops.elementwise.arithmetic import Add


def var(name: str, once: bool = True) -> Var:
    return Var(INT64, name, once)


def plus(a: Expr, b: int) -> Expr:
    return Apply(INT64, "add", (a, index_const(b)))


def scaled(name: str, rows: int, columns: int, offset: int = 100, op: str = "sqrt") -> For:
    """`for i: for j: y[i, j] = op(x[i, j + offset])`."""
    i, j = var(f"{name}i"), var(f"{name}j")
    x, y = Buffer(f"{name}x", FLOAT32, (rows, 4096)), Buffer(f"{name}y", FLOAT32, (rows, 4096))
    value = Apply(FLOAT32, op, (Load(FLOAT32, x, (i, plus(j, offset))),))
    inner = For(j, index_const(columns), [Store(y, (i, j), value)], parallel=True)
    return For(i, index_const(rows), [Poll(rows), inner], parallel=True)


def nest(statement: For | While, *seen: Var) -> Nest:
    return NestDescription(statement).nest(seen)


def numbers(nest: Nest) -> list[object]:
    return [length.value for length in nest.lengths]


def test_nests_with_other_names_and_lengths_are_equal() -> None:
    a, b = nest(scaled("a", 20, LONG)), nest(scaled("b", 3000, LONG + 100, 200))
    assert a == b and hash(a) == hash(b) and len({a, b}) == 1
    assert numbers(a) == [20, LONG, 100] and numbers(b) == [3000, LONG + 100, 200]
    assert [buffer.name for buffer in b.buffers] == ["bx", "by"]
    assert [poll.work for poll in b.polls] == [3000] and b.asks and not b.ends


@pytest.mark.parametrize(
    "other",
    [
        scaled("b", 20, LONG, op="abs"),
        scaled("b", 20, 64),
        scaled("b", 20, LONG, SMALL),
        For(var("i"), index_const(20), [], parallel=True),
    ],
)
def test_nests_that_do_other_things_differ(other: For) -> None:
    assert nest(scaled("a", 20, LONG)) != nest(other)


def test_steps_between_elements_are_part_of_a_nest() -> None:
    def column(width: int) -> For:
        i, x = var("i"), Buffer("x", FLOAT32, (5, width))
        return For(i, index_const(5), [Store(x, (i, index_const(0)), Const(FLOAT32, 0.0))], parallel=True)

    def row(height: int) -> For:
        i, x = var("i"), Buffer("x", FLOAT32, (height, 5))
        return For(i, index_const(5), [Store(x, (index_const(0), i), Const(FLOAT32, 0.0))], parallel=True)

    assert nest(column(7)) != nest(column(8)), "each element is a row further"
    assert nest(row(7)) == nest(row(8)), "nothing is read by rows"


def test_loops_with_functions_differ_where_their_vectors_do() -> None:
    def mapping(length: int, op: str) -> Nest:
        i, x = var("i"), Buffer("x", FLOAT32, (length,))
        store = Store(x, (i,), Apply(FLOAT32, op, (Load(FLOAT32, x, (i,)),)))
        return nest(For(i, index_const(length), [store], parallel=True))

    assert mapping(LONG_ALONE, "exp") != mapping(LONG, "exp")
    assert mapping(LONG_ALONE, "sqrt") == mapping(LONG, "sqrt")
    assert mapping(LONG_ALONE - 1, "sqrt") != mapping(LONG_ALONE, "sqrt")


def test_variables_are_read_changed_or_a_nest_s_own() -> None:
    i, limit, total, own = var("i"), var("limit"), var("total", False), var("own")
    loop = For(i, limit, [Assign(own, plus(i, 1)), Assign(total, Apply(INT64, "add", (total, own)))])
    alone, seen = nest(loop), nest(loop, limit, total)
    assert (alone.values, alone.results) == ((limit,), ())
    assert (seen.values, seen.results) == ((limit,), (total,))
    assert alone != seen


def test_loop_over_time_swaps_memory_and_may_end() -> None:
    go, a, b = Var(BOOL, "go", False), Buffer("a", FLOAT32, (4,)), Buffer("b", FLOAT32, (4,))
    loop = While([], go, [When(go, [Swap(a, b)], [Fail(3)]), Assign(go, Const(BOOL, False))])
    made = nest(loop, go)
    assert made.moved == (a, b) and made.ends and not made.asks and made.results == (go,)
    assert "fail 3" in made.text


def test_kernel_that_polls_asks() -> None:
    x = Buffer("x", FLOAT32, (100,))
    call = Call("vector_matmul", [(x, (index_const(0),))] * 3, (1, 1), polls=True)
    made = nest(For(var("i"), index_const(2), [call]))
    assert made.asks and made.buffers == (x,)


def test_very_deep_expressions_have_names() -> None:
    i, x = var("i"), Buffer("x", FLOAT32, (LONG,))
    value: Expr = Load(FLOAT32, x, (i,))
    for _ in range(20_000):
        value = Apply(FLOAT32, "neg", (value,))
    assert nest(For(i, index_const(LONG), [Store(x, (i,), value)])).text.count("neg") == 20_000


def test_op_that_the_runtime_runs_is_no_part_of_a_nest() -> None:
    body: list[Statement] = [RunOp(Add(), [], [])]
    with pytest.raises(TypeError, match="RunOp is no part of a nest"):
        NestDescription(For(var("i"), index_const(2), body))
