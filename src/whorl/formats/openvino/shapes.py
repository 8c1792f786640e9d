"""Shapes as IR writes them: `2,3`, `?`, `1..4`, `...` for any rank, nothing for a scalar."""

from __future__ import annotations

import math
import re

from whorl.formats.openvino.codes import problem
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.types import UNRANKED, Shape

_RANGE = re.compile(r"(\d*)\s*\.\.\s*(\d*)")
LARGEST = (1 << 63) - 1
"""The largest dim."""
MAX_RANK = 64
"""NumPy's."""
MAX_SIZE = 1 << 48
"""The elements that a tensor may have, empty axes left out."""


def shape_of(text: str, where: str) -> Shape:
    """A shape that may have unknown dims. Errors: LoadError OV405."""
    inner = text.strip()
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1].strip()
    if inner == "...":
        return UNRANKED
    parts = inner.split(",") if inner else []
    if len(parts) > MAX_RANK:
        raise problem("OV405", f"the shape has {len(parts)} dims, more than {MAX_RANK}", where)
    shape = tuple(_dim(part.strip(), text, where) for part in parts)
    if math.prod(dim for dim in shape if isinstance(dim, int) and dim) > MAX_SIZE:
        raise problem("OV405", f"the shape is {text[:80]!r}, which is impossible", where)
    return shape


def fixed_shape(text: str, where: str) -> tuple[int, ...]:
    """A shape without unknown dims. Errors: LoadError OV405."""
    shape = shape_of(text, where)
    if not isinstance(shape, tuple) or not all(isinstance(dim, int) for dim in shape):
        raise problem("OV405", f"the shape is {text[:80]!r}, a constant has a fixed one", where)
    return tuple(dim for dim in shape if isinstance(dim, int))


def _dim(part: str, text: str, where: str) -> Dim:
    if part in ("?", "-1"):
        return UNKNOWN
    if part.isdecimal() and len(part) < 19:
        return int(part)
    bounds = _RANGE.fullmatch(part)
    if bounds is not None:
        low, high = (int(bound) if bound and len(bound) < 20 else None for bound in bounds.groups())
        if low is not None and high is not None and low > high:
            raise problem("OV405", f"the shape is {text[:80]!r}, where {part!r} holds no number", where)
        return low if low is not None and low == high else UNKNOWN
    if not part.isdecimal() or len(part) > 19 or int(part) > LARGEST:
        raise problem(
            "OV405", f"the shape is {text[:80]!r}, where {part[:40]!r} is no dim", where, "write a number or ?"
        )
    return int(part)
