"""Where an array object has the address of its memory, which machine code reads itself.

It is the first field after the object's head: NumPy's binary interface promises so to C code
(`PyArrayObject_fields.data`).
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

ARRAYS_FUNCTION = "whorl_run_arrays"
"""The entry of a program that takes arrays as objects."""


@functools.cache
def address_offset() -> int | None:
    """Where in an array object the address of its memory lies; None where this Python keeps it elsewhere."""
    offset = object.__basicsize__
    probe = np.empty(3)
    if np.ndarray.__basicsize__ < offset + ctypes.sizeof(ctypes.c_void_p):
        return None
    address = ctypes.c_void_p.from_address(id(probe) + offset).value
    return offset if address == probe.ctypes.data else None
