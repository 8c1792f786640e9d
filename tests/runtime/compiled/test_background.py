"""Compiling in threads: results, limits meanwhile, and credit."""

from __future__ import annotations

import threading

import pytest

from whorl.codegen.target import charge, compiled_bytes
from whorl.runtime.compiled.background import await_compiled, compile_aside, compile_in_background, spend
from whorl.runtime.credit import LOWERING, Credit


def test_background_work_has_a_result() -> None:
    assert compile_in_background(lambda: 42).result() == 42


def test_work_aside_charges_the_thread_that_waits() -> None:
    before = compiled_bytes()

    def work() -> str:
        charge(100)
        return "code"

    assert compile_aside(work, lambda: None) == "code"
    assert compiled_bytes() - before == 100


def test_limit_ends_the_wait_and_the_work_goes_on() -> None:
    go_on, done = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(10)
        done.set()

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        compile_aside(work, check)
    go_on.set()
    assert done.wait(10)


def test_limit_ends_the_wait_for_another_threads_work() -> None:
    done = threading.Event()

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await_compiled(done, check)
    done.set()
    await_compiled(done, check)


def test_credit_pays_for_bytes_and_nodes_even_after_an_error() -> None:
    credit = Credit(0)
    before = credit.left
    with pytest.raises(ValueError), spend(credit, nodes=2):
        charge(50)
        raise ValueError
    assert before - credit.left == 50 + 2 * LOWERING
