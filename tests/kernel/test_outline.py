"""Programs of several nests have functions for them; loops that call the runtime, and small programs, do not."""

from __future__ import annotations

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Load, Var, index_const
from whorl.kernel.outline import FEW, SHORT, is_glue, only_calls_kernels, outline
from whorl.kernel.program import (
    Assign,
    Call,
    For,
    Poll,
    Program,
    Reserve,
    RunOp,
    Spread,
    Statement,
    Store,
    Swap,
    When,
    While,
)
from whorl.ops.elementwise.arithmetic import Add

X, Y = Buffer("x", FLOAT32, (100,)), Buffer("y", FLOAT32, (100,))
GO = Var(BOOL, "go", False)


def copying(number: int, source: Buffer = X, target: Buffer = Y) -> For:
    i = Var(INT64, f"i{number}")
    return For(i, index_const(100), [Store(target, (i,), Load(FLOAT32, source, (i,)))], parallel=True)


def copies(count: int) -> list[Statement]:
    return [copying(n) for n in range(count)]


def program(*body: Statement) -> Program:
    return Program([GO], [X, Y], [], list(body))


def test_program_of_few_nests_has_no_functions() -> None:
    assert outline(program(*copies(FEW - 1))) == {}


def test_equal_nests_are_one_function() -> None:
    made = outline(program(*copies(FEW), copying(FEW, Y, X)))
    assert len(made) == FEW + 1 and len(set(made.values())) == 1
    assert [nest.buffers for nest in made.values()][-2:] == [(X, Y), (Y, X)]


def test_nests_of_branches_are_functions_and_inner_ones_of_loops_over_time_are_not() -> None:
    inner = copying(50)
    branch, loop = When(GO, [copying(51)], [copying(52)]), While([], GO, [inner, Assign(GO, Const(BOOL, False))])
    made = outline(program(*copies(FEW), branch, loop))
    assert id(inner) not in made and id(loop) in made
    assert len(made) == FEW + 3


def test_nests_of_blocks_that_are_alike_are_functions_and_the_rest_is_glue() -> None:
    block = Var(INT64, "block", False)
    count = Assign(block, Apply(INT64, "add", (block, index_const(1))))
    blocks = While([], Apply(BOOL, "lt", (block, index_const(8))), [*copies(FEW), count], of_blocks=True)
    body = Program([GO], [X, Y], [], [Assign(block, index_const(0)), blocks])
    assert len(outline(body)) == FEW
    assert is_glue(body, outline(body))


def test_loop_that_the_runtime_has_a_part_in_is_no_function() -> None:
    loop = For(Var(INT64, "n"), index_const(3), [RunOp(Add(), [X, X], [Y])])
    body = program(*copies(FEW), loop)
    assert id(loop) not in outline(body)
    assert not is_glue(body, outline(body))


def test_loop_whose_memory_grows_is_a_function_that_knows_its_size() -> None:
    now, after = (Buffer(name, FLOAT32, (None,), grows=True) for name in ("now", "next"))
    loop = While([], GO, [Reserve(after, index_const(8)), Swap(now, after)])
    made = outline(Program([GO], [X, Y], [now, after], [*copies(FEW), loop]))[id(loop)]
    assert made.moved == made.grown == (after, now) and made.asks and made.ends


def test_variables_that_others_read_are_results() -> None:
    total, own = Var(FLOAT32, "total", False), Var(FLOAT32, "own", False)
    i = Var(INT64, "i")
    step = [Assign(var, Apply(FLOAT32, "sum", (var, Load(FLOAT32, X, (i,))))) for var in (total, own)]
    loop = For(i, index_const(100), [*step])
    start = [Assign(total, Const(FLOAT32, 0.0))]
    made = outline(program(*copies(FEW), *start, loop, Store(Y, (index_const(0),), total)))
    assert made[id(loop)].results == (total,)


def test_program_that_hardly_computes_is_glue() -> None:
    def computing(count: int, op: str) -> bool:
        value: Apply | Load = Load(FLOAT32, X, (index_const(0),))
        for _ in range(count):
            value = Apply(FLOAT32, op, (value,))
        body = program(*copies(FEW), Store(Y, (index_const(0),), value))
        return is_glue(body, outline(body))

    assert computing(FEW * SHORT, "neg")
    assert not computing(FEW * SHORT + 1, "neg")
    assert not computing(1, "exp")


def test_nest_that_says_what_a_kernel_runs_on_only_calls_it() -> None:
    first, count = Var(INT64, "first"), Var(INT64, "count")
    call = Call("packed_matmul", [(Y, (index_const(0),))], (1, 2, 3, 4))
    own: list[Statement] = [Assign(Var(INT64, "end"), Apply(INT64, "add", (first, count))), Poll(9), call]
    assert only_calls_kernels(Spread(first, count, index_const(8), index_const(1), own))
    assert not only_calls_kernels(Spread(first, count, index_const(8), index_const(1), [*own, copying(1)]))
    assert not only_calls_kernels(Spread(first, count, index_const(8), index_const(1), [For(first, count, own)]))
