"""Long computations in a thread of their own, while the caller's thread looks at limits and hears signals.

NumPy answers nobody while it computes. Where a limit is passed, the caller goes on at once; the thread that it leaves
behind ends at the next step of Python code, or with the call of NumPy that it is in. The end of the process waits for
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
"""Seconds from one look at limits to the next."""


_LONGEST = 10.0
"""Seconds that the end of the process waits for threads that are left behind."""
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


class _LeftBehind(BaseException):
    """Ends a thread whose result nobody waits for."""


class _Computation:
    """A call under way: its result or error, once it is done."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        self.function, self.arguments = function, arguments
        self.context = contextvars.copy_context()
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = threading.Event()

    def __call__(self) -> None:
        try:
            self.result = self.context.run(self.function, *self.arguments)
        except _LeftBehind:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def run_aside(
    function: Callable[..., Any], arguments: Sequence[Any], check: Callable[[], None], ends: bool = True
) -> Any:
    """What a function gives, or raises, unless `check`, which is called meanwhile, or a signal's handler raises.

    `ends`: nothing that the function changes outlives it, so it may be ended anywhere where nobody needs it any more.
    """
    computation = _Computation(function, arguments)
    thread = threading.Thread(target=computation, name="whorl-aside", daemon=True)
    thread.start()
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
    """Let a thread meet an exception at its next step of Python code."""
    if thread.ident is not None and thread.is_alive():
        _threads.add(thread)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_LeftBehind))


@atexit.register
def _wait() -> None:
    """Wait for what still computes."""
    deadline = time.monotonic() + _LONGEST
    for thread in list(_threads):
        thread.join(max(0.0, deadline - time.monotonic()))
