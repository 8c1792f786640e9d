"""Large states that go through all iterations part by part."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from kernel.carried import GO, NEXT, NOW, OUT, STOP, I, N, optimised

from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import TRUE, Buffer, Const, Var
from whorl.kernel import tiles
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program, While
from whorl.kernel.tiles import cut_into_parts
from whorl.kernel.verify import verify_program
from whorl.lowering.builder import KernelBuilder


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


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of 16 elements are large, and parts have 8."""
    for name, value in (("LARGE", 64), ("PART", 32), ("SMALLEST", 4)):
        monkeypatch.setattr(tiles, name, value)


def stepped(length: int, steps: int, stop: int, first: int = 0, what: str = "") -> tuple[str, list[np.ndarray], list]:
    """`while go and i < stop: x = x / 2 + i`, cut into parts: its text, and what it gives, which is what it gave."""
    k = KernelBuilder()
    x, rows = Buffer("x", FLOAT32, (length,)), Buffer("rows", FLOAT32, (steps, length))
    loop = While([], k.apply("and", GO, k.compare("lt", I, STOP)))
    with k.into(loop.body):
        number = k.let(k.cast(I, FLOAT32))
        with k.nest((length,), parallel=what != "in order") as (j,):
            value = k.let(k.add(k.mul(k.load(x, (j,)), k.const(0.5, FLOAT32)), number))
            k.store(x, (j,), value)
            k.store(rows, (j, I) if what == "other axis" else (I, j), value)
        if what == "second nest":
            with k.nest((length,)) as (j,):
                k.store(rows, (I, j), k.load(x, (j,)))
        k.assign(I, k.add(I, k.const(2 if what == "by two" else 1)))
        k.assign(GO, k.compare("lt", I, k.const(2)) if what == "condition" else TRUE)
    program = Program([I, STOP, GO], [x, rows], k.scratch, [*k.block, loop])
    arrays = [np.arange(length, dtype=np.float32), np.zeros((steps, length), np.float32)]
    before = interpret(copy.deepcopy(program), [first, stop, True], [a.copy() for a in arrays])
    cut_into_parts(program)
    verify_program(program)
    after = interpret(program, [first, stop, True], arrays)
    for a, b in zip(before.arrays, after.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    assert before.scalars == after.scalars
    return str(program), after.arrays, after.scalars


@pytest.mark.parametrize("length", [16, 17, 23, 64])
@pytest.mark.parametrize(("first", "stop"), [(0, 3), (1, 3), (2, 2), (3, 0), (0, 0)])
@pytest.mark.usefixtures("small_parts")
def test_parts_give_every_bit_whatever_iterations_are_left(length: int, first: int, stop: int) -> None:
    text, _, (i, _, go) = stepped(length, 3, stop, first)
    assert "part" in text and i == max(first, stop) and go


@pytest.mark.parametrize("length", [0, 1, 15])
@pytest.mark.usefixtures("small_parts")
def test_small_tensor_is_not_cut(length: int) -> None:
    assert "part" not in stepped(length, 3, 3)[0]


@pytest.mark.parametrize("what", ["in order", "second nest", "by two", "condition"])
@pytest.mark.usefixtures("small_parts")
def test_loop_that_does_more_than_step_through_one_nest_is_not_cut(what: str) -> None:
    assert "part" not in stepped(16, 4, 3, what=what)[0]


@pytest.mark.usefixtures("small_parts")
def test_row_along_another_axis_is_cut_with_its_state() -> None:
    text, (_, rows), _ = stepped(16, 16, 3, what="other axis")
    assert "part" in text and rows[1, 0] != 0
