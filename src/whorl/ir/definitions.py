"""What a user registered of operators: their types, meaning and native form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from whorl.ir.native.builder import NativeBuilder
    from whorl.ir.native.view import Operands, View
    from whorl.ir.types import TensorType, Type

Infer = Callable[..., "Type | tuple[Type, ...]"]
"""The types of the outputs, from those of the inputs (None for an omitted one) and the attributes as keywords."""
Compute = Callable[..., Any]
"""The outputs, from the arrays of the inputs (None for an omitted one) and the attributes as keywords."""
Lower = Callable[["NativeBuilder", "Operands", "Sequence[TensorType]"], "Sequence[View] | None"]
"""The native form, as `Op.lower`."""


class Definition(Struct, frozen=True):
    """What a user registered of an operator."""

    domain: str
    name: str
    infer: Infer | None
    run: Compute
    lower: Lower | None
    pure: bool
    repeatable: bool = False
    """Of one that is not pure: it may run again where a run fails half way."""


DEFINITIONS: dict[tuple[str, str], Definition] = {}
"""The operators that are registered in this process, by domain and name."""
