"""Calls that a time limit and Ctrl-C can end anywhere, in the middle of a long computation too."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from whorl.errors import TimeLimitError
from whorl.ops.core.aside import run_aside
from whorl.runtime.limits import Limits

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


def call_within(
    timeout: float | None, what: str, function: Callable[[*Arguments], Result], *arguments: *Arguments
) -> Result:
    """The result of a call, whose side effects only it may see, since it can end halfway. Errors: TimeLimitError."""
    seconds = Limits(timeout=timeout).timeout
    deadline = None if seconds is None else time.monotonic() + seconds

    def check() -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeLimitError(f"{what} took longer than {seconds} s", fix="raise timeout")

    return run_aside(function, arguments, check)
