"""Chooses a compiled loop by operand shapes: lengths that are no numbers in the model are taken at run time.

Lengths of one name are one integer of the program. 0 and 1 are part of what a program is made for, because broadcasting
and empty tensors make other programs of them, and so is a length that the model fixes. The number of slices that a loop
scans is never fixed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from whorl.ir.dims import UNKNOWN, Dim, Linear
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.lowering.loops import FREE
from whorl.runtime.compiled.binding import LEAST

MOST_PROGRAMS = 64
"""Programs of one loop that are kept; the oldest goes first."""
OperandShapes = Sequence[tuple[Hashable, tuple[int, ...]]]
"""Element type and shape of each operand."""
DynamicDims = Mapping[tuple[int, int], str]
"""Names of lengths that a program takes at run time, by operand (carried, scanned, captured) and axis.

The axes of a scanned operand are those of its slices.
"""
Key = tuple[Hashable, ...]
P = TypeVar("P")


class _Programs(Struct, Generic[P]):
    """Programs with the same dynamic dims, by all other dims."""

    dynamic: DynamicDims
    by_key: dict[Key, P] = field(default_factory=dict[Key, P])

    def key(self, flags: Hashable, shapes: OperandShapes) -> Key:
        """What a program depends on. Dynamic dims of one name must be equal, so one that differs stays in the key."""
        if not self.dynamic:
            return (flags, *shapes)
        sizes: dict[str, int] = {}
        key: list[Hashable] = [flags]
        for n, (dtype, shape) in enumerate(shapes):
            lengths = list(shape)
            for axis, length in enumerate(shape):
                name = self.dynamic.get((n, axis))
                is_free = name is not None and (length >= LEAST or not name.startswith(FREE))
                if is_free and sizes.setdefault(str(name), length) == length:
                    lengths[axis] = -1
            key.append((dtype, tuple(lengths)))
        return tuple(key)


class ProgramsByShape(Generic[P]):
    """The programs of one loop; the group that was added last is asked first."""

    def __init__(self) -> None:
        self.groups: list[_Programs[P]] = []

    def find(self, flags: Hashable, shapes: OperandShapes) -> P | None:
        """The program for these operands; None if there is none yet."""
        for group in self.groups:
            program = group.by_key.get(group.key(flags, shapes))
            if program is not None:
                return program
        return None

    def add(self, dynamic: DynamicDims, flags: Hashable, shapes: OperandShapes, program: P) -> None:
        """Remember a program that has these dynamic dims."""
        group = next((each for each in self.groups if each.dynamic == dynamic), None)
        if group is None:
            group = _Programs[P](dynamic)
            self.groups.insert(0, group)
        if len(self.all) >= MOST_PROGRAMS:
            oldest = next(each for each in reversed(self.groups) if each.by_key)
            del oldest.by_key[next(iter(oldest.by_key))]
        group.by_key[group.key(flags, shapes)] = program

    @property
    def all(self) -> list[P]:
        return [program for group in self.groups for program in group.by_key.values()]


def choose_dynamic_dims(types: Sequence[Type], shapes: OperandShapes) -> dict[tuple[int, int], str]:
    """Names for the lengths that operands of these declared types have in a run, those that no type fixes."""
    declared = [_declared(type, shape) for type, (_, shape) in zip(types, shapes, strict=True)]
    axes = [
        (n, axis, dim, shape[axis])
        for n, (own, (_, shape)) in enumerate(zip(declared, shapes, strict=True))
        for axis, dim in enumerate(own)
    ]
    sizes: dict[str, set[int]] = {}
    for _, _, dim, length in axes:
        sizes.setdefault(str(dim), set()).add(length)
    names: dict[str, str] = {}
    dynamic: dict[tuple[int, int], str] = {}
    for n, axis, dim, length in axes:
        if length >= LEAST and dim != length:
            is_shared = isinstance(dim, Linear) and len(sizes[str(dim)]) == 1
            own = f"{FREE}{n}.{axis}"
            dynamic[n, axis] = names.setdefault(str(dim), own) if is_shared else own
    return dynamic


def _declared(type: Type, shape: tuple[int, ...]) -> tuple[Dim, ...]:
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or len(type.shape) != len(shape):
        return (UNKNOWN,) * len(shape)
    return type.shape
