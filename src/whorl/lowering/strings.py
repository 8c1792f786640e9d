"""Strings in machine code: a string is the number that it has in a table, and equal numbers are equal strings.

The strings of a region's constants and attributes get their numbers when it is lowered, those that only a run brings
get later ones, for that run alone. So tensors of strings are int64 from here on, and the numbers say nothing of order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec.structs import replace

from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import INT64, STRING
from whorl.ir.graph import Node, Op, Region, Value, walk, walk_regions
from whorl.ir.types import OptionalType, SequenceType, TensorType, Type
from whorl.lowering.expressions import Unsupported
from whorl.lowering.graph_program import Strings


class StringNumbers:
    """The numbers of strings; one that is new gets the next."""

    def __init__(self) -> None:
        self.known = {"": 0}

    def __call__(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))

    def of_array(self, texts: np.ndarray) -> np.ndarray:
        """The numbers of a tensor of strings."""
        return np.array([self(text) for text in texts.reshape(-1).tolist()], np.int64).reshape(texts.shape)


def number_strings(region: Region) -> Strings | None:
    """Put numbers in the place of all strings of a region; None where it has none.

    Raises Unsupported, with the region's own node, where an op reads more of strings than which are equal.
    """
    strings = set(filter(has_strings, _values(region)))
    if not strings:
        return None
    numbers = StringNumbers()
    for node in region.nodes:
        inner = [each for own in node.regions for each in walk(own)]
        try:
            for each in (node, *inner):
                if not strings.isdisjoint((*each.inputs, *each.outputs)):
                    each.op = _numbered_op(each, numbers)
        except Unsupported as reason:
            raise reason.at(node) from None
    for value in strings:
        value.type = _numbered(value.type)
    both = (_positions(value in strings for value in values) for values in (region.arguments, region.results))
    return Strings(tuple(numbers.known), *both)


def has_strings(value: Value | None) -> bool:
    """Whether a tensor, or what holds tensors, has strings for elements."""
    return value is not None and _numbered(value.type) is not value.type


def can_number_strings(op: Op) -> bool:
    """Whether an op may mean the same with numbers in the place of strings."""
    return op.polymorphic or type(op).numbered is not Op.numbered


def _values(region: Region) -> Iterator[Value]:
    for each in walk_regions(region):
        yield from each.arguments
        for node in each.nodes:
            yield from node.outputs


def _positions(answers: Iterable[bool]) -> tuple[int, ...]:
    return tuple(n for n, answer in enumerate(answers) if answer)


def _numbered_op(node: Node, numbers: StringNumbers) -> Op:
    if isinstance(node.op, Constant):
        return Constant(numbers.of_array(as_array(node.op.value)))
    result = node.op.numbered(node.inputs, numbers)
    if result is None:
        raise Unsupported(f"{node.op.name} reads what strings say")
    return result


def _numbered(type: Type) -> Type:
    """The type that a value has with numbers in the place of strings; the very same where it has none."""
    match type:
        case TensorType(dtype=dtype) if dtype == STRING:
            return type.with_dtype(INT64)
        case SequenceType(element) | OptionalType(element):
            inner = _numbered(element)
            return type if inner is element else replace(type, element=inner)
        case _:
            return type
