"""A thread that compiles while the interpreter serves."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


def in_background(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Let the thread do some work after what it was given before."""
    return _thread().submit(work, *arguments)


@functools.cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "whorl-compiler")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thread.cache_clear)
