"""Operators of other standards as functions of a node: a format that knows them registers them, as ONNX's do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from whorl.ir.build import Builder
from whorl.mdf.model import Datum
from whorl.runtime.limits import Limits

Precision = Literal["given", "float64", "float32", "declared"]
"""What becomes of float32 and float64: stay as they are, are all float64, or are float32 inside and float64 outside.

"declared" lets them stay, too, and constants have the element types that they had in ONNX.
"""


class Operators(Protocol):
    """Operators by name. Arguments are as the file has them, `names` what they and their ids mean at the node."""

    def has(self, name: str) -> bool: ...

    def spread_arguments(self, name: str, args: Mapping[str, Datum]) -> Mapping[str, Datum]:
        """One argument for each part of a list that stands for a variadic input."""
        ...

    def call(
        self,
        name: str,
        names: Mapping[str, Datum],
        args: Mapping[str, Datum],
        precision: Precision,
        limits: Limits | None,
    ) -> Datum:
        """The result on arrays, a tuple where the operator has several. Errors: LoadError, RunError."""
        ...

    def emit(
        self, name: str, names: Mapping[str, Datum], args: Mapping[str, Datum], build: Builder, precision: Precision
    ) -> Datum:
        """The same where some names are values of a region that is written. Errors: LoadError, RunError."""
        ...


_REGISTERED: list[Operators] = []


def register_operators(operators: Operators) -> None:
    """Let functions of a node be these operators from now on."""
    _REGISTERED.append(operators)


def find_operators(name: str | None) -> Operators | None:
    """The operators among which a name is one; None where it is none."""
    return None if name is None else next((each for each in _REGISTERED if each.has(name)), None)


def spread_arguments(name: str | None, args: Mapping[str, Datum]) -> Mapping[str, Datum]:
    """The arguments of a function, where one that lists the parts of a variadic input is an argument for each part."""
    operators = find_operators(name)
    return args if operators is None or name is None else operators.spread_arguments(name, args)
