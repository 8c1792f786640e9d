"""What a function of a node computes: arguments first, each seeing those before it, then a named function or a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from whorl.errors import UnsupportedError
from whorl.mdf.expressions.arrays import Evaluator
from whorl.mdf.expressions.syntax import Expression, parse
from whorl.mdf.functions.operators import spread_arguments
from whorl.mdf.functions.standard import STANDARD
from whorl.mdf.model import Datum, Function

Named = dict[str, Datum]
Special = Callable[[Named, Mapping[str, Datum]], Datum]
"""A function that is no expression: from all names that it may see, and its arguments as the file has them."""


class Compiles(Protocol):
    """Makes functions of texts; it knows where they stand and which ids they may read."""

    location: str

    def text(self, text: Datum) -> Evaluator: ...

    def value(self, expression: Expression) -> Evaluator: ...

    def among(self, names: Mapping[str, Datum]) -> Compiles: ...


class Calls:
    """Finds the meaning of named functions; `find` knows those that are no expressions."""

    def __init__(self, find: Callable[[str], Special | None]) -> None:
        self.find = find

    def function(self, name: str | None, text: Datum, args: Mapping[str, Datum], compile: Compiles) -> Evaluator:
        """What `name` computes of `args`, or where it is no known name, the expression that it or `text` is."""
        args = spread_arguments(name, args)
        inner = compile.among(args)
        arguments = [(id, inner.text(argument)) for id, argument in args.items()]
        if name in STANDARD:
            defaults, expression = STANDARD[name]
            known = {id: default for id, default in defaults.items() if default is not None}
            return with_arguments(arguments, inner.value(expression), known)
        named = name or (text if isinstance(text, str) and text.startswith("onnx_ops.") else None)
        special = self.find(named) if named else None
        if special is not None:
            return with_special(arguments, special, args)
        body = text if text is not None else name
        if body is None:
            raise UnsupportedError("a function needs a name or a value", compile.location)
        if text is None and isinstance(name, str) and "::" in name:
            raise UnsupportedError(f"there is no function {name!r}", compile.location)
        return with_arguments(arguments, inner.text(body), {})


def with_arguments(arguments: list[tuple[str, Evaluator]], body: Evaluator, defaults: Named) -> Evaluator:
    def value(names: Mapping[str, Datum]) -> Datum:
        inside = {**defaults, **names}
        for id, argument in arguments:
            inside[id] = argument(inside)
        return body(inside)

    return value


def with_special(arguments: list[tuple[str, Evaluator]], special: Special, args: Mapping[str, Datum]) -> Evaluator:
    def value(names: Mapping[str, Datum]) -> Datum:
        inside = dict(names)
        for id, argument in arguments:
            inside[id] = argument(inside)
        return special(inside, args)

    return value


def reads(function: Function, location: str, known: frozenset[str]) -> set[str]:
    """The names that a function needs from its node."""
    value = function.value
    if isinstance(value, str) and value.startswith("onnx_ops."):
        value = value.partition("(")[2].rpartition(")")[0]
    args = spread_arguments(function.function, function.args)
    texts = [text for text in (*args.values(), value) if isinstance(text, str)]
    names = {name for text in texts for name in parse(text, location, known).names}
    return names - set(function.args)
