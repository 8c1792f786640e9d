"""Statuses: failures of functions that libraries call, and of functions of libraries."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from whorl.api.kernel_libraries.objects import Status, hold, release, resolve
from whorl.errors import RunError, WhorlError

FAIL, NOT_IMPLEMENTED = 1, 9
CAUGHT = WhorlError, ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError


def with_status(function: Callable[..., object]) -> Callable[..., int | None]:
    """A function that gives a status instead of an exception, which must not reach C."""

    def call(*arguments: Any) -> int | None:
        try:
            function(*arguments)
        except CAUGHT as error:
            text = error.message if isinstance(error, WhorlError) else str(error)
            return hold(Status(FAIL, text.encode()))
        return None

    return call


def refuse(slot: int) -> Callable[[], int]:
    """A function of the API that is not here."""

    def call() -> int:
        return hold(Status(NOT_IMPLEMENTED, f"whorl has no function {slot} of onnxruntime's C API".encode()))

    return call


def check_status(handle: int | None, title: str) -> None:
    """Raise what a library says. Errors: RunError."""
    if handle is not None:
        text = resolve(handle, Status).text.value.decode("utf-8", "replace")
        release(handle)
        raise RunError(f"{title}: {text}")


def create_status(code: int, text: bytes | None) -> int:
    """A handle of a failure."""
    return hold(Status(code, text or b""))


def code_of(handle: int | None) -> int:
    """The code of a status, 0 for success."""
    return 0 if handle is None else resolve(handle, Status).code


def text_of(handle: int | None) -> int | None:
    """The address of a status's text."""
    return None if handle is None else ctypes.addressof(resolve(handle, Status).text)
