"""The functions that expressions may call: one row each with name, meaning, arity, growth and native form."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.mdf.functions.builder import Operand
from whorl.mdf.model import Datum

MAX_ELEMENTS = 2**28
"""The largest array that a shape or an expression may ask for."""


class Formula(Struct, frozen=True):
    """A native form put together of other functions: lines `name = expression`, and an expression at the end."""

    arguments: str
    text: str


Native = Callable[..., Operand] | Formula
"""Adds the nodes of a call: of a builder and the operands. TypeError for arguments that have no such form."""
Elements = Callable[[Sequence[Datum]], float]
"""How many elements the result of a call has, from its arguments; a bound is enough."""


class Function(Struct, frozen=True):
    """One function. `positional` is how many arguments may go by position.

    `elements` belongs to functions that make arrays larger than their operands: a short expression must not take all
    memory. `limit_values` is NumPy's function where that of math raises for numbers outside its domain.
    """

    name: str
    meaning: Callable[..., Datum]
    positional: int
    native: Native | None = None
    elements: Elements | None = None
    limit_values: Callable[..., Datum] | None = None
    is_elementwise: bool = False

    def check_call(self, arguments: Sequence[object], keywords: Sequence[object]) -> None:
        """Refuse too many arguments by position, and results larger than any shape in a file. Errors: RunError."""
        if len(arguments) > self.positional:
            most = f"{len(arguments)} arguments by position, at most {self.positional} are taken"
            raise RunError(f"{self.name} has {most}")
        if self.elements is not None and self.elements([*arguments, *keywords]) > MAX_ELEMENTS:
            raise RunError(f"{self.name} would make more than {MAX_ELEMENTS} elements")


FUNCTIONS: dict[str, Function] = {}
"""By dotted name; builtin functions of Python have no module."""


def define(
    names: str,
    native: Native | None = None,
    *,
    math_name: str = "",
    positional: int = 0,
    elements: Elements | None = None,
    is_elementwise: bool = False,
) -> None:
    """Add functions of numpy, and what one of them is called in math. Ufuncs know their arity."""
    for name in names.split():
        meaning = operator.attrgetter(name)(np)
        arity, is_each = positional, is_elementwise
        if isinstance(meaning, np.ufunc):
            arity, is_each = meaning.nin, meaning.signature is None
        FUNCTIONS[f"numpy.{name}"] = Function(f"numpy.{name}", meaning, arity, native, elements, None, is_each)
        if math_name:
            define_math(math_name, native, limit_values=meaning)


def define_math(
    names: str,
    native: Native | None = None,
    *,
    limit_values: Callable[..., Datum] | None = None,
    is_elementwise: bool = True,
) -> None:
    """Add functions of math, which count their arguments themselves; Pythons differ in which they have."""
    for name in names.split():
        if hasattr(math, name):
            dotted, meaning = f"math.{name}", getattr(math, name)
            FUNCTIONS[dotted] = Function(dotted, meaning, 8, native, None, limit_values, is_elementwise)


def define_builtin(meaning: Callable[..., Datum], native: Native, name: str = "", is_elementwise: bool = False) -> None:
    """Add a builtin function of Python, or what stands for it."""
    name = name or meaning.__name__
    FUNCTIONS[name] = Function(name, meaning, 99, native, is_elementwise=is_elementwise)
