"""What the rules of the grammar make of a text: types, lengths and literals, and lines whose names are still names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.errors import LoadError
from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import BY_NAME
from whorl.ir.grammar import location_of
from whorl.ir.literals import HINT_FORM, is_endless, read_elements, unquote
from whorl.ir.types import UNRANKED, AnyShape, MapType, OptionalType, SequenceType, Shape, TensorType, Type

_VALUE = re.compile(rf'%(?P<hint>{HINT_FORM}|".*")(?:~0*(?P<number>[0-9]+))?')
_DIGITS = 20
_LARGEST = 1 << 63
_OF_TWO = ("floor", "mod", "less", "equal")
_CALLS = (*_OF_TWO, "mul", "min", "max")


class Name(Struct, frozen=True):
    """A value as a text names it: its name, what tells it from others of that name, the place."""

    hint: str
    number: int
    text: str
    location: str

    @property
    def key(self) -> tuple[str, int]:
        return self.hint, self.number


class Made(Struct, frozen=True):
    """A value where it is made."""

    name: Name
    type: Type
    known: np.ndarray | None


class Field(Struct, frozen=True):
    """`name = value`."""

    name: str
    value: Any
    location: str


class Compound(Struct, frozen=True):
    """`Name(field = value)` before anybody knows which class is meant; `{key = value}` where the name is empty."""

    name: str
    fields: tuple[Field, ...]
    location: str


class Line(Struct, frozen=True):
    """A node and its regions."""

    made: list[Made]
    op: Compound
    name: str
    inputs: list[Name | None]
    regions: list[RegionText]


class RegionText(Struct, frozen=True):
    """A region; only that of a module has names for its results, and types that were declared for them."""

    name: str
    arguments: list[Made]
    lines: list[Line]
    results: list[Name]


class Output(Struct, frozen=True):
    """`y: float32[N] = %y` after the `return` of a module."""

    name: str
    declared: Type | None
    value: Name


class ModuleText(Struct, frozen=True):
    """A module: its region, what callers call the results, and the sections after it."""

    main: RegionText
    outputs: list[Output]
    defaults: Compound
    metadata: Compound


class Syntax:
    """One method for each rule: what its parts have become goes in, one thing comes out."""

    def module(self, items: list[Any]) -> ModuleText:
        (name, arguments), *lines, outputs, defaults, metadata = items
        main = RegionText(name, arguments, lines, [output.value for output in outputs])
        empty = Compound("", (), "")
        return ModuleText(main, outputs, defaults or empty, metadata or empty)

    def region(self, items: list[Any]) -> RegionText:
        (name, arguments), *lines, results = items
        return RegionText(name, arguments, lines, results)

    def header(self, items: list[Any]) -> tuple[str, list[Made]]:
        return _name(items[0]), _present(items[1:])

    def results(self, items: list[Any]) -> list[Name]:
        return [_value(token) for token in _present(items)]

    def outputs(self, items: list[Any]) -> list[Output]:
        return _present(items)

    def output(self, items: list[Any]) -> Output:
        return Output(_name(items[0]), items[1], _value(items[2]))

    def node(self, items: list[Any]) -> Line:
        made, op, name, inputs, fields, *regions = items
        struct = Compound(str(op), fields.fields if fields else (), location_of(op))
        return Line(made, struct, _name(name), inputs, regions)

    def targets(self, items: list[Any]) -> list[Made]:
        return items

    def argument(self, items: list[Any]) -> Made:
        token, type, known = items
        name = _value(token)
        if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape) and dims.UNKNOWN in type.shape:
            raise LoadError(f"{name.text} has a dim without a name", name.location, "name it, or write * for all dims")
        return Made(name, type, None if known is None else _known(name, type, *known))

    def operands(self, items: list[Any]) -> list[Name | None]:
        return [_value(token) if token else None for (token,) in map(list, _present(items))]

    def operand(self, items: list[Any]) -> list[Any]:
        return items or [None]

    def known(self, items: list[Any]) -> tuple[tuple[int, ...] | None, list[Any]]:
        return items[0], _present(items[1:])

    def extent(self, items: list[Any]) -> tuple[int, ...]:
        return tuple(self.integer([token]) for token in _present(items))

    # ---- fields ----------------------------------------------------------------------------------------------

    def mapping(self, items: list[Any]) -> Compound:
        return Compound("", tuple(_present(items)), "")

    def pair(self, items: list[Any]) -> Field:
        return Field(_name(items[0]), items[1], location_of(items[0]))

    def struct(self, items: list[Any]) -> Compound:
        return Compound(str(items[0]), tuple(_present(items[1:])), location_of(items[0]))

    def several(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(items)

    def none(self, items: list[Any]) -> None:
        return None

    def true(self, items: list[Any]) -> bool:
        return True

    def false(self, items: list[Any]) -> bool:
        return False

    def integer(self, items: list[Any]) -> int:
        token = items[0]
        if len(token) > _DIGITS:
            raise LoadError(f"a number of {len(token)} digits fits no element type", location_of(token))
        return int(token)

    def negative_integer(self, items: list[Any]) -> int:
        return -self.integer(items)

    def number(self, items: list[Any]) -> float:
        token = items[0]
        value = float(token)
        if is_endless(token, value):
            raise LoadError(f"{str(token)[:_DIGITS]} is larger than any float", location_of(token), "write inf")
        return value

    def string(self, items: list[Any]) -> str:
        return _name(items[0])

    def dtype(self, items: list[Any]) -> np.dtype:
        return _dtype(items[0], "put it in double quotes if it is a text")

    def tensor(self, items: list[Any]) -> np.ndarray:
        token, shape, elements = items
        lengths = _lengths(shape)
        if lengths is None:
            raise LoadError("the shape of a tensor with elements has to be numbers", location_of(token))
        try:
            return read_elements(elements[1:-1], _dtype(token), lengths)
        except LoadError as error:
            raise error.at(location_of(elements)) from None

    # ---- types -----------------------------------------------------------------------------------------------

    def tensor_type(self, items: list[Any]) -> TensorType:
        token, shape = items
        for dim in () if isinstance(shape, AnyShape) else shape:
            if _is_huge(dim) or (isinstance(dim, int) and dim < 0):
                raise LoadError("an axis is longer than any memory or shorter than 0", location_of(token))
        return TensorType(_dtype(token), shape)

    def sequence_type(self, items: list[Any]) -> SequenceType:
        return SequenceType(items[0])

    def optional_type(self, items: list[Any]) -> OptionalType:
        return OptionalType(items[0])

    def map_type(self, items: list[Any]) -> MapType:
        return MapType(_dtype(items[0]), items[1])

    def unranked(self, items: list[Any]) -> AnyShape:
        return UNRANKED

    def shape(self, items: list[Any]) -> Shape:
        return tuple(_present(items))

    def unknown(self, items: list[Any]) -> Dim:
        return dims.UNKNOWN

    def dim_name(self, items: list[Any]) -> Dim:
        return dims.name(_name(items[0]))

    def negative(self, items: list[Any]) -> Dim:
        return items[0] * -1

    def plus(self, items: list[Any]) -> Dim:
        return items[0] + items[1]

    def minus(self, items: list[Any]) -> Dim:
        return items[0] - items[1]

    def times(self, items: list[Any]) -> Dim:
        return items[1] * self.integer(items)

    def call(self, items: list[Any]) -> Dim:
        token, *arguments = items
        if token not in _CALLS:
            raise LoadError(f"{str(token)!r} is no function of lengths", location_of(token), f"use {', '.join(_CALLS)}")
        if token in _OF_TWO and len(arguments) != 2:
            raise LoadError(f"{token} takes 2 lengths, not {len(arguments)}", location_of(token))
        result = dims.call(str(token), *arguments)
        if _is_huge(result):
            raise LoadError("a length is larger than any memory", location_of(token))
        return result


def _present(items: list[Any]) -> list[Any]:
    """The parts that the text has; lark puts None in the place of one that it has not."""
    return [item for item in items if item is not None]


def _name(token: Any) -> str:
    """The name or text that a token means, bare or in quotes; empty for no token."""
    if token is None or not token.startswith('"'):
        return str(token or "")
    try:
        return unquote(token)
    except LoadError as error:
        raise error.at(location_of(token)) from None


def _value(token: Any) -> Name:
    match = _VALUE.fullmatch(token)
    assert match is not None
    hint, number = match["hint"], match["number"] or "0"
    if hint.startswith('"'):
        hint = _name(token.update(value=hint))
    if len(number) > _DIGITS:
        raise LoadError(f"a number of {len(number)} digits after ~", location_of(token))
    return Name(hint, int(number), str(token), location_of(token))


def _dtype(token: Any, fix: str = "") -> np.dtype:
    if token not in BY_NAME:
        raise LoadError(f"{str(token)!r} is no element type", location_of(token), fix or f"use {', '.join(BY_NAME)}")
    return BY_NAME[token]


def _lengths(shape: Shape) -> tuple[int, ...] | None:
    """The shape as plain numbers."""
    lengths = () if isinstance(shape, AnyShape) else tuple(dim for dim in shape if isinstance(dim, int) and dim >= 0)
    return None if isinstance(shape, AnyShape) or len(lengths) < len(shape) else lengths


def _is_huge(dim: Dim) -> bool:
    """Whether a number in a length is beyond what 64 bits hold."""
    numbers = (dim.constant, *(k for _, k in dim.terms)) if isinstance(dim, Linear) else (dim,)
    return any(isinstance(number, int) and abs(number) >= _LARGEST for number in numbers)


def _known(name: Name, type: Type, extent: tuple[int, ...] | None, elements: list[Any]) -> np.ndarray:
    """What is known of a value's elements, in the shape of its type or in `extent`."""
    shape = extent if extent is not None else _lengths(type.shape) if isinstance(type, TensorType) else None
    if shape is None:
        fix = "write it in front of the elements, as in {[2] N, 4}"
        raise LoadError(f"the elements of {name.text} need a shape, which its type does not say", name.location, fix)
    flat = np.empty(len(elements), object)
    flat[:] = elements
    try:
        return flat.reshape(shape)
    except (ValueError, OverflowError):
        raise LoadError(
            f"the shape {list(shape)} does not fit the known elements of {name.text}", name.location
        ) from None
