"""Processes that fork while other threads work: the child finds free locks and whole modules."""

from __future__ import annotations

import importlib
import os
import threading
import weakref
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import Any, Protocol

from whorl.ir.collector import collector_paused
from whorl.phases import Phase, phase

_unforkable = threading.RLock()
_waited_for: list[AbstractContextManager[Any]] = []
_acquired: list[AbstractContextManager[Any]] = []
"""Locks that the fork under way holds; one that is added meanwhile is not among them."""


class Renewable(Protocol):
    """What holds locks, or waits for other threads."""

    def renew(self) -> None:
        """Become what it is without the other threads, of which the child of a fork has none."""
        ...


_renewable: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_in_children(owner: Renewable) -> None:
    """Call `renew` in the child of every fork, as long as the owner lives."""
    _renewable.add(owner)


@contextmanager
def delay_forks() -> Generator[None]:
    """Forks wait until what is inside is done: no child has to do with the half of it."""
    with _unforkable:
        yield


def import_whole(name: str) -> ModuleType:
    """A module, imported now if need be; the child of a fork could never finish the import of another thread."""
    with _unforkable, phase(Phase.IMPORT), collector_paused():
        return importlib.import_module(name)


def wait_at_forks(lock: AbstractContextManager[Any]) -> None:
    """Forks wait for a lock from now on, and the child finds it free. A thread that forks may hold it."""
    _waited_for.append(lock)


def _take() -> None:
    _unforkable.acquire()
    for lock in tuple(_waited_for):
        lock.__enter__()
        _acquired.append(lock)


def _leave() -> None:
    while _acquired:
        _acquired.pop().__exit__(None, None, None)
    _unforkable.release()


def _renew_all() -> None:
    _leave()
    for owner in list(_renewable):
        owner.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_leave, after_in_child=_renew_all)
