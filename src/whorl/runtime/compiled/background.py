"""Threads that compile: while the interpreter serves, or while a run that waits looks at its limits."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from whorl.codegen.target import charge, compiled_bytes
from whorl.ops.core.aside import run_aside


def in_background(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Let the thread do some work after what it was given before."""
    return _thread().submit(work, *arguments)


@functools.cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "whorl-compiler")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thread.cache_clear)


def compile_aside(work: Callable[..., Any], arguments: Sequence[Any], check: Callable[[], None]) -> Any:
    """What compiling gives, unless `check` raises first; it then goes on all the same, for the runs to come."""
    result, size = run_aside(_measured, (work, arguments), check, ends=False)
    charge(size)
    return result


def _measured(work: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, int]:
    """What compiling gives, and how many bytes of IR this thread compiled for it."""
    before = compiled_bytes()
    return work(*arguments), compiled_bytes() - before
