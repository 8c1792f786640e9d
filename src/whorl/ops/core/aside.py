"""Long computations in a thread of their own, while the caller's thread polls limits and receives signals.

NumPy cannot be interrupted while it computes. Past a limit the caller returns at once; the thread that it abandons
ends at the next step of Python code, or with the call of NumPy that it is in. The end of the process waits for
such threads for a while: libraries of linear algebra may hang when they are closed in the middle of a product.
"""

from __future__ import annotations

import atexit
import contextvars
import ctypes
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

PERIOD = 0.01
"""Seconds from one poll of the limits to the next."""


_LONGEST = 10.0
"""Seconds that the end of the process waits for abandoned threads."""
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


class _Abandoned(BaseException):
    """Ends a thread whose result is no longer needed."""


class _Computation:
    """A call under way: its result or error, once it is done."""

    def __init__(self, function: Callable[..., object], arguments: Sequence[object]) -> None:
        self.function, self.arguments = function, arguments
        self.context = contextvars.copy_context()
        self.result: object = None
        self.error: BaseException | None = None
        self.done = threading.Event()

    def __call__(self) -> None:
        try:
            self.result = self.context.run(self.function, *self.arguments)
        except _Abandoned:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def run_aside(
    function: Callable[..., Any], arguments: Sequence[Any], check: Callable[[], None], ends: bool = True
) -> Any:
    """The result of a function that runs on another thread; raises its error, or that of `check` or a signal's handler.

    `ends`: nothing that the function changes outlives it, so that an abandoned call may be ended anywhere. Where the
    system starts no more threads, the caller's own runs it, and `check` is called after it.
    """
    computation = _Computation(function, arguments)
    thread = threading.Thread(target=computation, name="whorl-aside", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        result = function(*arguments)
        check()
        return result
    try:
        while not computation.done.wait(PERIOD):
            check()
    except BaseException:
        if ends:
            _end(thread)
        raise
    if computation.error is not None:
        raise computation.error
    return computation.result


def _end(thread: threading.Thread) -> None:
    """Raise an exception in a thread at its next step of Python code."""
    if thread.ident is not None and thread.is_alive():
        _threads.add(thread)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Abandoned))


@atexit.register
def _wait() -> None:
    """Wait for the threads that still compute."""
    deadline = time.monotonic() + _LONGEST
    for thread in list(_threads):
        thread.join(max(0.0, deadline - time.monotonic()))
