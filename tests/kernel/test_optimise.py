"""What is done to programs before they become machine code: they still compute the same, with less memory traffic."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Buffer, Const, Expr, Var
from whorl.kernel import tiles
from whorl.kernel.interpret import interpret
from whorl.kernel.optimise import optimise
from whorl.kernel.program import Program, Statement, Swap, While
from whorl.kernel.verify import verify_program
from whorl.lowering.builder import KernelBuilder

N, STEPS = 32, 3
I, STOP, GO = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)
NOW, NEXT = Buffer("x.now", FLOAT32, (N,)), Buffer("x.next", FLOAT32, (N,))
FIXED = Buffer("c.in", FLOAT32, (N, 4))
SQUARE = Buffer("a.in", FLOAT32, (N, N))
OUT = Buffer("out", FLOAT32, (None, N))
Body = Callable[[KernelBuilder], None]


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
    found = interpret(program, [0, STEPS, True], arrays)
    assert found.status == 0 and found.scalars[0] == STEPS
    return found.arrays[0], found.arrays[4]


def optimised(body: Body) -> str:
    """The text of the optimised loop, which is verified and computes what the loop as it was does."""
    program = looped(body)
    before = outcome(copy.deepcopy(program))
    optimise(program)
    verify_program(program)
    for a, b in zip(before, outcome(program), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    return str(program)


def store_row(k: KernelBuilder, value: Callable[[Expr], Expr], target: Buffer = OUT) -> None:
    with k.nest((N,)) as (j,):
        index = (I, j) if target is OUT else (j,)
        k.store(target, index, k.let(value(j)))


def keep(k: KernelBuilder) -> None:
    store_row(k, lambda j: k.load(NOW, (j,)), NEXT)


def test_scratch_that_is_copied_is_computed_in_place() -> None:
    def body(k: KernelBuilder) -> None:
        scratch = k.temporary(FLOAT32, (N,))
        store_row(k, lambda j: k.add(k.load(NOW, (j,)), k.load(NOW, (j,))), scratch)
        store_row(k, lambda j: k.load(scratch, (j,)))
        keep(k)

    text = optimised(body)
    assert "scratch" not in text and "swap" not in text
    assert text.count("for ") == 1


def test_scratch_that_is_read_when_the_row_has_changed_is_kept() -> None:
    def body(k: KernelBuilder) -> None:
        scratch = k.temporary(FLOAT32, (N,))
        store_row(k, lambda j: k.load(FIXED, (j, k.const(0))), scratch)
        store_row(k, lambda j: k.load(scratch, (j,)))
        store_row(k, lambda j: k.add(k.load(OUT, (I, j)), k.const(1.0, FLOAT32)))
        store_row(k, lambda j: k.add(k.load(scratch, (j,)), k.load(NOW, (j,))), NEXT)

    assert "scratch s0" in optimised(body)


def test_elementwise_carried_value_changes_in_place() -> None:
    def body(k: KernelBuilder) -> None:
        store_row(k, lambda j: k.mul(k.load(NOW, (j,)), k.load(FIXED, (j, k.const(1)))), NEXT)

    text = optimised(body)
    assert "swap" not in text and "x.next[" not in text


@pytest.mark.parametrize("late", [False, True])
def test_carried_value_that_is_read_elsewhere_keeps_two_buffers(late: bool) -> None:
    def body(k: KernelBuilder) -> None:
        back = lambda j: k.load(NOW, (k.sub(k.const(N - 1), j),))  # noqa: E731
        store_row(k, lambda j: k.load(NOW, (j,)) if late else k.add(k.load(NOW, (j,)), back(j)), NEXT)
        if late:
            store_row(k, back)

    text = optimised(body)
    assert "swap x.now, x.next" in text


def test_short_reductions_become_expressions_of_transposed_tensors() -> None:
    def body(k: KernelBuilder) -> None:
        def total(j: Expr) -> Expr:
            x = k.load(NOW, (j,))
            step = lambda acc, r: k.apply("sum", acc, k.mul(x, k.load(FIXED, (j, *r))))  # noqa: E731
            return k.reduce([4], k.const(0.0, FLOAT32), step)

        with k.nest((N,)) as (j,):
            k.store(OUT, (I, j), total(j))
        keep(k)

    text = optimised(body)
    assert "c.in.across0[a0, a1] = c.in[a1, a0]" not in text
    assert text.count("for ") == 1


def test_long_reductions_read_transposed_tensors() -> None:
    def body(k: KernelBuilder) -> None:
        with k.nest((N,)) as (j,):
            step = lambda acc, r: k.apply("sum", acc, k.load(SQUARE, (j, *r)))  # noqa: E731
            k.store(OUT, (I, j), k.reduce([N], k.const(0.0, FLOAT32), step))
        keep(k)

    text = optimised(body)
    assert "a.in.across0[a0, a1] = a.in[a1, a0]" in text
    assert text.index("across0[a0") < text.index("while")


def test_rows_are_taken_several_at_a_time() -> None:
    def body(k: KernelBuilder) -> None:
        store_row(k, lambda j: k.const(0.0, FLOAT32))
        with k.loop(N) as r, k.loop(N, parallel=True) as j:
            k.store(OUT, (I, j), k.apply("maximum", k.load(OUT, (I, j)), k.load(SQUARE, (r, j))))
        keep(k)

    text = optimised(body)
    assert "i1 < 2:" in text
    assert text.count("maximum(") == 16


def test_rows_whose_total_is_read_after_it_was_stored_stay() -> None:
    def body(k: KernelBuilder) -> None:
        totals = k.temporary(FLOAT32, (N,))
        store_row(k, lambda j: k.const(0.0, FLOAT32), totals)
        store_row(k, lambda j: k.const(0.0, FLOAT32))
        with k.loop(N) as r, k.loop(N, parallel=True) as j:
            k.store(totals, (j,), k.add(k.load(totals, (j,)), k.load(SQUARE, (r, j))))
            k.store(OUT, (I, j), k.add(k.load(OUT, (I, j)), k.load(totals, (j,))))
        keep(k)

    assert f"for i2 < {N}:" in optimised(body)


@pytest.mark.parametrize("part", [8, 12])
def test_large_states_go_through_all_iterations_part_by_part(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "LARGE", 64)
    monkeypatch.setattr(tiles, "PART", 4 * part)
    monkeypatch.setattr(tiles, "SMALLEST", part - 2)

    def body(k: KernelBuilder) -> None:
        with k.nest((N,)) as (j,):
            value = k.let(k.mul(k.load(NOW, (j,)), k.const(0.5, FLOAT32)))
            k.store(NEXT, (j,), value)
            k.store(OUT, (I, j), value)

    text = optimised(body)
    assert f"< {-(-N // part)}:" in text
    assert text.index("for ") < text.index("while")


@pytest.mark.parametrize("what", ["other place", "total", "early exit"])
def test_states_whose_elements_meet_are_not_cut(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "LARGE", 64)
    monkeypatch.setattr(tiles, "PART", 32)
    monkeypatch.setattr(tiles, "SMALLEST", 4)

    def body(k: KernelBuilder) -> None:
        with k.nest((N,)) as (j,):
            other = k.sub(k.const(N - 1), j) if what == "other place" else j
            value = k.let(k.mul(k.load(NOW, (other,)), k.const(0.5, FLOAT32)))
            k.store(NEXT, (j,), value)
        if what == "total":
            first = k.let(k.load(NOW, (k.const(0),)))
            k.assign(Var(FLOAT32, "held", False), first)
        if what == "early exit":
            k.assign(GO, k.compare("lt", k.load(NOW, (k.const(0),)), Const(FLOAT32, 100.0)))

    text = optimised(body)
    assert "part" not in text


BLOCK, OTHER, ROW = Buffer("b", FLOAT32, (3, 5, 4)), Buffer("o", FLOAT32, (3, 5, 4)), Buffer("r", FLOAT32, (3, 1, 4))


@pytest.mark.parametrize("what", ["whole", "broadcast", "turned", "counted"])
def test_loops_over_memory_in_order_are_joined(what: str) -> None:
    k = KernelBuilder()
    with k.nest((3, 5, 4)) as (a, b, c):
        value = k.load(BLOCK, (a, b, c))
        if what == "broadcast":
            value = k.add(value, k.load(ROW, (a, k.const(0), c)))
        if what == "counted":
            value = k.mul(value, k.cast(a, FLOAT32))
        if what == "turned":
            value = k.load(BLOCK, (a, b, k.sub(k.const(3), c)))
        k.store(OTHER, (a, b, c), value)
    program = Program([], [BLOCK, OTHER, ROW], k.scratch, k.block)
    arrays = [np.random.default_rng(0).standard_normal(b.shape).astype(np.float32) for b in program.buffers]
    before = interpret(copy.deepcopy(program), [], [x.copy() for x in arrays]).arrays[1]
    optimise(program)
    verify_program(program)
    np.testing.assert_array_equal(interpret(program, [], arrays).arrays[1], before)
    loops = {"whole": 1, "counted": 2}.get(what, 3)
    assert str(program).count("for ") == loops


def test_statements_that_are_alike_are_told_apart() -> None:
    first, second = (Swap(NOW, NEXT) for _ in range(2))
    body: list[Statement] = [first, second]
    program = Program([], [NOW, NEXT], [], body)
    optimise(program)
    assert program.body == [first, second]
