"""The fields of ops, and of structs within them: names and defaults."""

from __future__ import annotations

import functools
from typing import Any

from msgspec import NODEFAULT, Struct


@functools.cache
def defaults(cls: type[Struct]) -> dict[str, Any]:
    """The default of each field, in their order; `msgspec.NODEFAULT` where a value must be given."""
    names, values = cls.__struct_fields__, cls.__struct_defaults__
    return dict(zip(names, (NODEFAULT,) * (len(names) - len(values)) + values, strict=True))
