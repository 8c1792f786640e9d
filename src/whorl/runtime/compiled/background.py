"""Threads that compile: while the interpreter serves, or while a run that waits looks at its limits."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from whorl.codegen.target import charge, compiled_bytes
from whorl.ops.core.aside import PERIOD, run_aside
from whorl.phases import Phase, phase
from whorl.runtime.credit import Credit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from threading import Event

T = TypeVar("T")


def compile_in_background(work: Callable[[], T]) -> Future[T]:
    """Queue work for the one thread that compiles while the interpreter serves."""
    return _thread().submit(work)


@functools.cache
def _thread() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1, "whorl-compiler")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thread.cache_clear)


def compile_aside(work: Callable[[], T], check: Callable[[], None]) -> T:
    """The result of compiling, unless `check` raises first; compiling then goes on, for the runs to come."""
    with phase(Phase.WAITING):
        result, size = run_aside(_measure, (work,), check, ends=False)
    charge(size)
    return result


def await_compiled(done: Event, check: Callable[[], None]) -> None:
    """Wait for what another thread compiles, unless `check` raises first."""
    with phase(Phase.WAITING):
        while not done.wait(PERIOD):
            check()


def _measure(work: Callable[[], T]) -> tuple[T, int]:
    """The result of compiling, and how many bytes of IR this thread compiled for it."""
    before = compiled_bytes()
    return work(), compiled_bytes() - before


@contextmanager
def spend(credit: Credit, nodes: int = 0) -> Generator[None]:
    """Let a run's credit pay for what is compiled inside, and for lowering so many nodes."""
    before = compiled_bytes()
    try:
        yield
    finally:
        credit.spend(compiled_bytes() - before, nodes)
