"""Lengths of carried values that iterations change: those of the first iteration do not hold in later ones."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Value
from whorl.ir.types import UNRANKED, AnyShape, Shape, TensorType, Type

Changes = set[tuple[int, int | None]]
"""Indices of carried values with the axes whose lengths change; None for the rank."""


def changes_of(first: Sequence[Value], carried: Sequence[Value]) -> Changes:
    """The changes from the first iteration's values to the arguments of the body, whose types hold in all of them."""
    changes: Changes = set()
    for index, (value, argument) in enumerate(zip(first, carried, strict=True)):
        before, after = _shape(value), _shape(argument)
        if isinstance(before, AnyShape):
            continue
        if isinstance(after, AnyShape):
            changes.add((index, None))
            continue
        changes |= {(index, axis) for axis, (a, b) in enumerate(zip(before, after, strict=True)) if a != b}
    return changes


def without_changing(type: Type, index: int, changes: Changes) -> Type:
    """The type of a carried value with unknown lengths on the axes that change."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return type
    if (index, None) in changes:
        return TensorType(type.dtype)
    axes = enumerate(type.shape)
    return type.with_shape(tuple(UNKNOWN if (index, axis) in changes else dim for axis, dim in axes))


def _shape(value: Value) -> Shape:
    return value.type.shape if isinstance(value.type, TensorType) else UNRANKED
