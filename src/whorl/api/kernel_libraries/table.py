"""The functions that libraries call as a table of addresses, as `OrtGetApiBase` gives it."""

from __future__ import annotations

import atexit
import ctypes
import functools
import sys
from collections.abc import Callable
from ctypes import CFUNCTYPE, c_char_p, c_int, c_uint32, c_void_p
from typing import Any

from whorl.api.kernel_libraries import contexts, descriptions, failures, memory, tensors
from whorl.api.kernel_libraries.interface import (
    BUILD,
    CODE_OF_STATUS,
    DEVICE,
    FUNCTIONS,
    GET_API,
    GET_VERSION,
    RELEASE_ALLOCATOR,
    RELEASES,
    SLOTS,
    TEXT_OF_STATUS,
    TRAINING,
    VERSION,
    Api,
    Base,
)
from whorl.api.kernel_libraries.objects import release

_HANDLERS: dict[str, Callable[..., Any]] = {
    name: function
    for module in (tensors, descriptions, contexts, memory)
    for name, function in vars(module).items()
    if callable(function) and not name.startswith("_")
}


@functools.cache
def api() -> Api:
    """The table of functions."""
    table = Api()
    for slot, function in enumerate(_functions()):
        table.functions[slot] = ctypes.cast(function, c_void_p).value
    atexit.register(_keep_what_is_left, table)
    return table


def _keep_what_is_left(table: Api) -> None:
    """Let nothing be released any more, from Python's end on.

    Libraries release their domains as the process ends, when a function of Python's is memory that was freed.
    """
    harmless = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).labs
    for slot in RELEASES:
        table.functions[slot] = ctypes.cast(harmless, c_void_p).value


@functools.cache
def _functions() -> list[Any]:
    """The functions, which must live as long as their addresses."""
    return [_function(slot) for slot in range(SLOTS)]


def _function(slot: int) -> Any:
    others: dict[int, Callable[[], Any]] = {
        CODE_OF_STATUS: lambda: CFUNCTYPE(c_int, c_void_p)(failures.code_of),
        TEXT_OF_STATUS: lambda: CFUNCTYPE(c_void_p, c_void_p)(failures.text_of),
        RELEASE_ALLOCATOR: lambda: CFUNCTYPE(None, c_void_p)(_ignore),
        TRAINING: lambda: CFUNCTYPE(c_void_p, c_uint32)(_ignore),
        DEVICE: lambda: CFUNCTYPE(None, c_void_p, ctypes.POINTER(c_int))(memory.zero),
        BUILD: lambda: GET_VERSION(lambda: ctypes.addressof(VERSION)),
    }
    if slot in others:
        return others[slot]()
    if slot in RELEASES:
        return CFUNCTYPE(None, c_void_p)(release)
    if slot == 0:
        return CFUNCTYPE(c_void_p, c_int, c_char_p)(failures.create_status)
    if slot not in FUNCTIONS:
        return CFUNCTYPE(c_void_p)(failures.refuse(slot))
    name, parameters = FUNCTIONS[slot]
    return CFUNCTYPE(c_void_p, *parameters)(failures.with_status(_HANDLERS[name]))


def _ignore(_: int) -> None:
    return None


@functools.cache
def base() -> Base:
    """What a library is given when it registers its ops."""
    return Base(GET_API(_give_api), GET_VERSION(lambda: ctypes.addressof(VERSION)))


def _give_api(_: int) -> int:
    """The same table for every version that a library was made for: what it does not have says so when it is called."""
    return ctypes.addressof(api())
