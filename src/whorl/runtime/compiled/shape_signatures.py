"""Chooses the program of a loop by the shapes of its operands; lengths seen to vary become dynamic.

The first programs of a loop have all lengths fixed. From the ninth combination on, lengths of which three values were
seen become integers of the next program, those that were always equal one. The number of slices that a loop scans is
never fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from whorl.lowering.loops import FREE
from whorl.runtime.compiled.specialise import Free

EXACT = 8
"""Programs for lengths as they are, before those that were seen to vary are left open."""
VARIED = 3
"""Values of a length from which it counts as one that varies."""
MOST = 64
"""Programs for one loop."""
Shapes = Sequence[tuple[Any, tuple[int, ...]]]
"""Element type and shape of each operand."""


@dataclass
class Form:
    """Programs that leave the same lengths open."""

    free: Free
    programs: dict[tuple, Any] = field(default_factory=dict)

    def key(self, flags: tuple, shapes: Shapes) -> tuple:
        """What a program depends on: all but the open lengths, of which those with one name are equal."""
        if not self.free:
            return (flags, *shapes)
        sizes: dict[str, int] = {}
        kept = []
        for n, (dtype, shape) in enumerate(shapes):
            lengths = list(shape)
            for axis, length in enumerate(shape):
                name = self.free.get((n, axis))
                if name is not None and sizes.setdefault(name, length) == length:
                    lengths[axis] = -1
            kept.append((dtype, tuple(lengths)))
        return (flags, *kept)


class Forms:
    """The programs of one loop."""

    def __init__(self) -> None:
        self.forms: list[Form] = []
        self.met: list[Shapes] = []

    def find(self, flags: tuple, shapes: Shapes) -> Any:
        """The program for these operands; None if there is none yet."""
        for form in self.forms:
            found = form.programs.get(form.key(flags, shapes))
            if found is not None:
                return found
        return None

    def add(self, free: Free, flags: tuple, shapes: Shapes, program: Any) -> None:
        """Keep a program that leaves these lengths open."""
        form = next((f for f in self.forms if f.free == free), None)
        if form is None:
            form = Form(free)
            self.forms.append(form)
        form.programs[form.key(flags, shapes)] = program

    @property
    def programs(self) -> list[Any]:
        return [program for form in self.forms for program in form.programs.values()]

    def open_lengths(self, shapes: Shapes) -> Free:
        """Names for the lengths that varied so far, one for those that were always equal; none at first."""
        self.met.append(shapes)
        alike = [s for s in self.met if [(t, len(shape)) for t, shape in s] == [(t, len(shape)) for t, shape in shapes]]
        if len(alike) <= EXACT:
            return {}
        names: dict[tuple[int, ...], str] = {}
        free = {}
        for n, (_, shape) in enumerate(shapes):
            for axis in range(len(shape)):
                history = tuple(s[n][1][axis] for s in alike)
                if len(set(history)) >= VARIED:
                    free[n, axis] = names.setdefault(history, f"{FREE}{len(names)}")
        return free
