"""The context of a run: exceptions of what machine code calls reach the caller, once."""

from __future__ import annotations

import ctypes

import pytest

from whorl.codegen import callers as cells
from whorl.runtime.compiled.context import RunContext

POLL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def poll_now(context: RunContext) -> int:
    context.block[cells.NEXT] = 0
    return POLL(context.block[cells.POLL])(context.address)


def test_context_without_an_error_raises_nothing() -> None:
    RunContext().raise_error()


def test_error_of_the_check_is_raised_once() -> None:
    def check() -> None:
        raise TimeoutError("over")

    context = RunContext()
    context.set_check(check)
    assert poll_now(context) == 0
    with pytest.raises(TimeoutError, match="over"):
        context.raise_error()
    context.raise_error()


def test_check_is_retained_alive_by_the_context() -> None:
    calls: list[int] = []
    context = RunContext()
    context.set_check(lambda: calls.append(1))
    assert poll_now(context) > 0
    assert calls == [1]


def test_threads_are_set_once_unless_there_is_a_pool_or_one_is_missed(monkeypatch) -> None:
    passed: list[int] = []
    monkeypatch.setattr("whorl.runtime.compiled.context.set_threads", lambda block, threads: passed.append(threads))
    monkeypatch.setattr("whorl.runtime.compiled.context.has_pool", lambda: False)
    context = RunContext()
    for threads in (2, 2, 1, 1, 2):
        context.set_threads(threads)
    assert passed == [2, 1, 2]
    context.block[cells.IS_MISSED] = 1
    context.set_threads(2)
    context.block[cells.IS_MISSED], context.block[cells.POOL] = 0, 8
    context.set_threads(2)
    context.block[cells.POOL] = 0
    context.set_threads(2)
    assert passed == [2, 1, 2, 2, 2]
    monkeypatch.setattr("whorl.runtime.compiled.context.has_pool", lambda: True)
    context.set_threads(2)
    context.set_threads(1)
    context.set_threads(1)
    assert passed == [2, 1, 2, 2, 2, 2, 1]
