"""The optimiser as a whole: its steps in order, what strict checks, and what a program remembers."""

from __future__ import annotations

import pytest
from kernel.carried import NEXT, NOW, N, keep, looped, optimised, store_row

from whorl.debug import Debug
from whorl.errors import VerifyError
from whorl.kernel import optimise as module
from whorl.kernel.optimise import STEPS, optimise
from whorl.kernel.program import Program, Statement, Swap
from whorl.lowering.builder import KernelBuilder


def test_statements_that_are_alike_are_reported_apart() -> None:
    first, second = (Swap(NOW, NEXT) for _ in range(2))
    body: list[Statement] = [first, second]
    program = Program([], [NOW, NEXT], [], body)
    optimise(program)
    assert program.body == [first, second]


def copied_row(k: KernelBuilder) -> None:
    scratch = k.temporary(NOW.dtype, (N,))
    store_row(k, lambda j: k.load(NOW, (j,)), scratch)
    store_row(k, lambda j: k.load(scratch, (j,)))
    keep(k)


def test_step_that_breaks_a_rule_is_caught_where_strict_is_requested_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(program: Program) -> None:
        program.scratch.append(NOW)

    monkeypatch.setattr(module, "STEPS", (*STEPS, spoil))
    monkeypatch.setattr(module, "debug", lambda: Debug(is_strict=True))
    with pytest.raises(VerifyError, match="a buffer is declared twice"):
        optimise(looped(copied_row))
    monkeypatch.setattr(module, "debug", Debug)
    optimise(looped(copied_row))


@pytest.mark.parametrize("is_remembered", [True, False])
def test_program_remembers_what_it_was_where_both_are_run(is_remembered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    program = looped(copied_row)
    before = str(program)
    monkeypatch.setattr(module, "debug", lambda: Debug(by_programs=is_remembered))
    optimise(program)
    assert str(program) != before
    assert (str(program.origin) == before) if is_remembered else program.origin is None


def test_optimised_program_does_not_change() -> None:
    program = looped(copied_row)
    optimise(program)
    once = str(program)
    optimise(program)
    assert str(program) == once and optimised(copied_row) == once
