"""A second entry of a program: some of its cells hold NumPy arrays, whose memory it finds out itself.

Asking an array for its address from Python takes longer than a small program. The address is the first field after the
object's head, which NumPy's binary interface promises to C code (`PyArrayObject_fields.data`).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import FUNCTION

ARRAYS_FUNCTION = "whorl_run_arrays"


@functools.cache
def address_offset() -> int | None:
    """Where in an array object the address of its memory lies; None where this Python keeps it elsewhere."""
    offset = object.__basicsize__
    probe = np.empty(3)
    if np.ndarray.__basicsize__ < offset + ctypes.sizeof(ctypes.c_void_p):
        return None
    found = ctypes.c_void_p.from_address(id(probe) + offset).value
    return offset if found == probe.ctypes.data else None


def with_arrays_entry(source: str, cells: Sequence[int], offset: int) -> str:
    """The source with a function that puts the addresses of the arrays in `cells` in their place, then runs."""
    lines = [f"define i64 @{ARRAYS_FUNCTION}(ptr noundef %cells) nounwind {{"]
    for n in cells:
        lines += [
            f"  %cell{n} = getelementptr inbounds i64, ptr %cells, i64 {n}",
            f"  %array{n} = load ptr, ptr %cell{n}",
            f"  %field{n} = getelementptr inbounds i8, ptr %array{n}, i64 {offset}",
            f"  %memory{n} = load ptr, ptr %field{n}",
            f"  store ptr %memory{n}, ptr %cell{n}",
        ]
    lines += [f"  %status = call i64 @{FUNCTION}(ptr %cells) noinline", "  ret i64 %status", "}"]
    return source + "\n".join(lines) + "\n"
