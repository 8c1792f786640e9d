"""Functions of the C API called as libraries call them: by their slots, with addresses."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

from whorl.api.kernel_libraries.failures import check_status
from whorl.api.kernel_libraries.interface import FUNCTIONS
from whorl.api.kernel_libraries.table import api

__all__ = ["answer", "c_char_p", "c_int", "c_int64", "c_size_t", "c_uint32", "c_void_p", "call", "function"]


def function(slot: int, result: Any, *parameters: Any) -> Any:
    """What is in a slot."""
    return ctypes.CFUNCTYPE(result, *parameters)(api().functions[slot])


def call(slot: int, *arguments: Any) -> None:
    """Call a function that gives a status. Errors: RunError where it is a failure."""
    name, parameters = FUNCTIONS[slot]
    check_status(function(slot, c_void_p, *parameters)(*arguments), name)


def answer(slot: int, kind: Any, *arguments: Any) -> Any:
    """What a function writes through its last parameter."""
    result = kind()
    call(slot, *arguments, ctypes.byref(result))
    return result.value
