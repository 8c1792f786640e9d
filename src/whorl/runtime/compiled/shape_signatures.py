"""Chooses a compiled program by operand shapes; dims seen to vary become dynamic.

The first programs of a loop have all lengths fixed. From the ninth combination on, lengths of which three values were
seen become integers of the next program, those that were always equal one. The number of slices that a loop scans is
never fixed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from whorl.lowering.loops import FREE

MOST_STATIC = 8
"""Programs whose lengths are all fixed, before those that vary become dynamic."""
VARIED = 3
"""Values of a length from which it counts as one that varies."""
MOST_PROGRAMS = 64
"""Programs for one loop."""
OperandShapes = Sequence[tuple[Hashable, tuple[int, ...]]]
"""Element type and shape of each operand."""
DynamicDims = Mapping[tuple[int, int], str]
"""Names of lengths that a program takes at run time, by operand (carried, scanned, captured) and axis.

The axes of a scanned operand are those of its slices.
"""
Key = tuple[Hashable, ...]
P = TypeVar("P")


@dataclass
class _Programs(Generic[P]):
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
                if name is not None and sizes.setdefault(name, length) == length:
                    lengths[axis] = -1
            key.append((dtype, tuple(lengths)))
        return tuple(key)


class ProgramsByShape(Generic[P]):
    """The programs of one loop."""

    def __init__(self) -> None:
        self.groups: list[_Programs[P]] = []
        self.history: list[OperandShapes] = []

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
            self.groups.append(group)
        group.by_key[group.key(flags, shapes)] = program

    @property
    def all(self) -> list[P]:
        return [program for group in self.groups for program in group.by_key.values()]

    def choose_dynamic_dims(self, shapes: OperandShapes) -> dict[tuple[int, int], str]:
        """Names for the lengths that varied so far, one for those that were always equal; none at first."""
        self.history.append(shapes)
        ranks = [(dtype, len(shape)) for dtype, shape in shapes]
        alike = [each for each in self.history if [(dtype, len(shape)) for dtype, shape in each] == ranks]
        if len(alike) <= MOST_STATIC:
            return {}
        names: dict[tuple[int, ...], str] = {}
        dynamic: dict[tuple[int, int], str] = {}
        for n, (_, shape) in enumerate(shapes):
            for axis in range(len(shape)):
                values = tuple(each[n][1][axis] for each in alike)
                if len(set(values)) >= VARIED:
                    dynamic[n, axis] = names.setdefault(values, f"{FREE}{len(names)}")
        return dynamic
