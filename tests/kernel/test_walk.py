"""Walks over kernel programs: every kind of statement once, and what is replaced, copied and renamed."""

from __future__ import annotations

import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Apply, Buffer, Const, Expr, Load, Var, index_const, text
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
    Poll,
    Program,
    Reserve,
    RunOp,
    Statement,
    Store,
    Swap,
    Take,
    When,
    While,
    text_of,
)
from whorl.kernel.walk import (
    Replacement,
    all_statements,
    assigned,
    blocks,
    copy_block,
    copy_program,
    count_uses,
    expressions,
    loads,
    memory_parts,
    position,
    positions_in,
    rename_buffers,
    used_by,
    written,
    written_parts,
)
from whorl.ops.elementwise.arithmetic import Neg

I, N, M, V, ONCE = (
    Var(INT64, "i", False),
    Var(INT64, "n", False),
    Var(INT64, "m", False),
    Var(FLOAT32, "v", False),
    Var(FLOAT32, "w"),
)
GO = Var(BOOL, "go", False)
A, B, C, G = (
    Buffer("a", FLOAT32, (4,)),
    Buffer("b", FLOAT32, (4,)),
    Buffer("c", FLOAT32, (4,)),
    Buffer("g", FLOAT32, (N,), True),
)
ONE = Const(FLOAT32, 1.0)


def load(buffer: Buffer, index: Expr) -> Load:
    return Load(FLOAT32, buffer, (index,))


def add(x: Expr, y: Expr) -> Apply:
    return Apply(x.dtype, "add", (x, y))


CALL = RunOp(Neg(), [A, None], [G], "neg", [(N,), ()], [(M,)])
EVERY: list[Statement] = [
    Assign(V, load(A, I)),
    Store(B, (I,), add(V, load(C, I))),
    Swap(A, B),
    Take(C, A),
    Reserve(G, N),
    CALL,
    Call("matmul", [(A, (I,)), (B, (index_const(0),))], (3, N)),
    Poll(7, N),
    Poll(7),
    Fail(2),
]
NESTED: list[Statement] = [
    For(I, N, [When(GO, [EVERY[0]], [EVERY[1]])]),
    While([EVERY[4]], GO, [EVERY[9]]),
]


def test_statements_inside_come_in_the_order_in_which_they_run() -> None:
    kinds = [type(s).__name__ for s in all_statements(NESTED)]
    assert kinds == ["For", "When", "Assign", "Store", "While", "Reserve", "Fail"]
    assert [len(list(blocks(s))) for s in (*NESTED, EVERY[0])] == [1, 2, 0]


@pytest.mark.parametrize(
    ("statement", "shown"),
    list(zip(EVERY, ["a[i]", "i add(v, c[i])", "", "", "n", "n", "i 0 n", "n", "", ""], strict=True)),
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else x,
)
def test_expressions_of_a_statement(statement: Statement, shown: str) -> None:
    assert " ".join(map(text, expressions(statement))) == shown


@pytest.mark.parametrize(
    ("statement", "changed", "used", "variables"),
    list(
        zip(
            EVERY,
            ["", "b", "ab", "ca", "g", "g", "ab", "", "", ""],
            ["a", "bc", "ab", "ac", "g", "ag", "ab", "", "", ""],
            ["v", "", "", "", "", "m", "", "", "", ""],
            strict=True,
        )
    ),
)
def test_what_a_statement_changes_uses_and_assigns(
    statement: Statement, changed: str, used: str, variables: str
) -> None:
    assert "".join(b.name for b in written(statement)) == changed
    assert "".join(sorted(b.name for b in used_by(statement))) == used
    assert "".join(v.name for v in assigned(statement)) == variables


def test_loop_assigns_its_counter() -> None:
    assert list(assigned(NESTED[0])) == [I]


def test_loads_are_listed_once_also_inside_indices() -> None:
    index = Apply(INT64, "cast", (load(A, I),))
    twice = load(B, index)
    block: list[Statement] = [Store(C, (index,), add(twice, twice)), When(GO, [Assign(V, twice)])]
    assert [text(x) for x in loads(block)] == ["a[i]", "b[cast<int64>(a[i])]"]


def test_statement_is_known_by_itself_and_not_by_what_it_says() -> None:
    first, second = Fail(1), Fail(1)
    assert first == second and position([first, second], second) == 1


@pytest.mark.parametrize(
    ("buffer", "index", "shown"),
    [
        (A, (I,), "i"),
        (A, (index_const(0),), ""),
        (Buffer("s", FLOAT32, (2, N)), (I, index_const(0)), "i n"),
        (Buffer("s", FLOAT32, (2, N)), (index_const(0), I), "i"),
        (Buffer("s", FLOAT32, (2, N, M)), (I, I, I), "i i i mul(m, n) m"),
    ],
)
def test_element_is_made_of_its_indices_and_the_strides_they_need(
    buffer: Buffer, index: tuple[Expr, ...], shown: str
) -> None:
    parts = [text(part) for part in memory_parts(Load(FLOAT32, buffer, index))]
    assert " ".join(parts) in (shown, shown.replace("mul(m, n)", "mul(n, m)"))


def test_copy_shares_expressions_but_no_statement() -> None:
    block = copy_block([*EVERY, *NESTED])
    assert text_of(block) == text_of([*EVERY, *NESTED])
    old, new = (list(all_statements(b)) for b in ([*EVERY, *NESTED], block))
    assert not {id(s) for s in old} & {id(s) for s in new}
    assert next(expressions(new[0])) is next(expressions(old[0]))


def test_copied_program_has_calls_of_its_own() -> None:
    program = Program([N], [A], [G], [When(GO, [CALL])], [CALL])
    other = copy_program(program)
    (call,) = other.calls
    assert isinstance(other.body[0], When) and call is other.body[0].then[0] and call is not CALL
    other.scratch.clear()
    assert program.scratch == [G] and str(program).startswith("scalar n: int64\nbuffer a: float32[4]\nscratch g")


def test_buffers_are_renamed_wherever_statements_use_them() -> None:
    names = {A: Buffer("x", FLOAT32, (4,)), B: Buffer("y", FLOAT32, (4,)), G: Buffer("z", FLOAT32, (N,), True)}
    block = copy_block([*EVERY, For(I, N, [Store(A, (I,), load(B, Apply(INT64, "cast", (load(A, I),))))])])
    rename_buffers(block, names)
    used = {b.name for s in all_statements(block) for b in used_by(s)}
    assert used == {"x", "y", "z", "c"}
    assert text_of(block[-1:]) == "for i < n:\n  x[i] = y[cast<int64>(x[i])]"
    assert [b.name for b in written(block[3])] == ["c", "x"]


def test_replacement_goes_into_every_expression_once() -> None:
    shown: list[str] = []

    def part(expr: Expr) -> Expr | None:
        shown.append(text(expr))
        return index_const(5) if expr is I else ONE if isinstance(expr, Load) and expr.buffer is C else None

    block = copy_block(EVERY)
    Replacement(part).block(block)
    lines = text_of(block).split("\n")
    assert lines[:2] == ["v = a[5]", "b[5] = add(v, 1.0)"] and lines[6] == "matmul(a[5], b[0], 3, n)"
    assert shown.count("i") == 1 and "c[5]" in shown, "a load is shown with its index replaced"


def test_replacement_that_changes_nothing_gives_the_very_expression() -> None:
    value = add(load(A, I), ONE)
    assert Replacement(lambda part: None).expr(value) is value
    assert Replacement(lambda part: ONE if part is V else None).expr(value) is value


def test_condition_and_extent_are_replaced() -> None:
    block = copy_block([For(I, N, [When(GO, [])]), While([], GO, [Reserve(G, N)])])
    Replacement({N: M, GO: TRUE}.get).block(block)
    assert text_of(block) == "for i < m:\n  if True:\nwhile:\n  stop unless True\n  reserve g, m"
    assert ONCE.once


def test_positions_of_stores_loads_and_kernels() -> None:
    store = Store(B, (I,), add(load(A, index_const(2)), load(B, N)))
    call = Call("vector_matmul", [(A, (I,)), (B, (N,))], (3, 2, 1))
    shown = [[text(index) for (index,) in positions_in(s, buffer)] for s in (store, call) for buffer in (A, B)]
    assert shown == [["2"], ["i", "n"], ["i"], ["n"]]


def test_kernel_writes_the_first_of_its_buffers_alone() -> None:
    call = Call("vector_matmul", [(A, (I,)), (B, (N,)), (C, (N,))], (3, 2, 1))
    assert [b.name for b in written_parts(call)] == ["a"]
    assert [b.name for b in written_parts(EVERY[1])] == ["b"]


def test_uses_count_variables_by_what_assigns_them_and_buffers_by_statements() -> None:
    counts = count_uses([EVERY[0], EVERY[0], EVERY[1]])
    assert (counts[V], counts[A], counts[B], counts[C], counts[N]) == (2, 2, 1, 1, 0)
