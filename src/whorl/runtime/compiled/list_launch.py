"""Programs over lists of arrays that differ in shape, bound once for all lists: two numbers differ from run to run.

Those are how many arrays and how many elements a list has. All else that a program needs to know is in the table of
shapes, which it reads.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from whorl.debug import debug
from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.lowering.graph_program import GraphProgram
from whorl.runtime.compiled.binding import Binding, plain_name
from whorl.runtime.compiled.launch import SPARE_BYTES, SPARE_COUNT, BoundLaunch, Launch
from whorl.runtime.limits import Budget

Form = tuple[int, int, int, int]
"""The cell of a scalar that follows from the size of a list: a number, which size, and how many times that."""


class ListLaunch(BoundLaunch):
    """A launch for lists of any sizes from two on, or of one array; names in `sources` are sizes, by their numbers."""

    def __init__(self, launch: Launch, lengths: Mapping[str, int], sources: Mapping[str, int]) -> None:
        super().__init__(launch, lengths)
        self.needs_help = launch.needs_help
        self.poisons = debug().poisons
        self.makes_lists_alone = launch.takes_arrays and 0 < len(self.graph.outputs) == 2 * len(launch.grown_lists)
        forms = enumerate([*map(dims.name, self.graph.names), *self.graph.forms])
        self.forms: list[Form] = [
            _form(cell, form, lengths, sources) for cell, form in forms if dims.names_in(form) & sources.keys()
        ]
        program = self.graph.program
        self.cells = [*self.scalars.values(), *[0] * (len(program.scalars) - len(self.scalars))]
        self.pack = struct.Struct(f"{len(self.cells) + len(self.graph.inputs)}q").pack_into

    @classmethod
    def of(cls, bound: BoundLaunch, binding: Binding, numbers: Sequence[int | None]) -> ListLaunch | None:
        """That of a program bound to some lists; None where more follows from their sizes than scalars.

        `numbers` are those of the sizes that are the first lengths of inputs, None for inputs that are no lists. A
        length that the program was made for, 0 or 1, is not read.
        """
        sources: dict[str, int] = {}
        for number, shape in zip(numbers, binding.shapes, strict=True):
            if number is not None and not isinstance(shape[0], int):
                name = plain_name(shape[0])
                if name is None:
                    return None
                sources[name] = number
        if bound.has_calls or not _are_scalars(bound, {*sources}):
            return None
        return cls(bound.launch, binding.lengths, sources)

    def run_lists(self, arrays: Sequence[np.ndarray], sizes: Sequence[int], budget: Budget) -> list[Any] | None:
        """Outputs for the arrays of `graph.inputs`; None if the program failed."""
        if not self.makes_lists_alone:
            scalars = [(cell, number + sizes[source] * times) for cell, number, source, times in self.forms]
            return self.run(arrays, budget, scalars=scalars)
        launch = self.launch
        if launch.improving is not None:
            self.count(budget)
        try:
            memory = self.spare.pop() if self.spare else self._borrow()
        except (MemoryError, IndexError, ValueError):
            return None
        cells = self.cells.copy()
        for cell, number, source, times in self.forms:
            cells[cell] = number + sizes[source] * times
        self.pack(memory.block, 0, *cells, *map(id, arrays))
        # No period starts anew: a program that runs so long that it asks does so at once, then in periods.
        if budget is not memory.budget:
            memory.set_budget(budget)
        elif budget.threads != 1:
            memory.context.set_threads(budget.threads)
        if launch.entry(memory.address):
            memory.trim(is_stale=True)
            memory.context.raise_error()
            return None
        results: list[Any] = []
        for n in launch.grown_lists:
            results.append(memory.lists[n]())
        if self.poisons or memory.buffers.size > SPARE_BYTES:
            memory.trim(is_stale=False)
        if len(self.spare) < SPARE_COUNT and memory.size <= SPARE_BYTES:
            self.spare.append(memory)
        return results


def _form(cell: int, form: Dim, lengths: Mapping[str, int], sources: Mapping[str, int]) -> Form:
    """A form that has one of the sizes; other names have their lengths."""
    assert isinstance(form, Linear)
    ((name, times),) = [(atom, times) for atom, times in form.terms if isinstance(atom, str) and atom in sources]
    return cell, dims.evaluate(form, {**lengths, name: 0}), sources[name], times


def _are_scalars(bound: BoundLaunch, names: set[str]) -> bool:
    """Whether names are in scalars alone, each alone and times a number."""
    for form in bound.graph.forms:
        terms = form.terms if isinstance(form, Linear) else ()
        inside = [arg for atom, _ in terms if not isinstance(atom, str) for arg in atom.args]
        if sum(atom in names for atom, _ in terms) > 1 or any(dims.names_in(arg) & names for arg in inside):
            return False
    return not any(dims.names_in(dim) & names for dim in _other_dims(bound))


def _other_dims(bound: BoundLaunch) -> Iterator[Dim]:
    """All that a launch knows of lengths but scalars."""
    graph: GraphProgram = bound.graph
    yield from chain.from_iterable(shape for shape, _ in bound.launch.outputs)
    yield from chain.from_iterable(graph.arena.slots)
    yield from chain.from_iterable(graph.agreeing)
    yield from graph.positive
    yield from (dim for dim, _ in graph.decisions)
