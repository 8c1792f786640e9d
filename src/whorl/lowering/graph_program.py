"""The program of a region, and what of it a run needs besides machine code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.ir import dims
from whorl.ir.constants import FixedArray, as_array
from whorl.ir.dims import Dim
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.types import TensorType
from whorl.kernel.program import Program
from whorl.lowering.arena import Arena

MOST_ELEMENTS = 1 << 58
"""Elements that memory may be asked for; below it, no product of lengths overflows."""

Keys = tuple[str, ...] | tuple[int, ...]
"""The keys of a map in the order of its values."""


ROWS, RAGGED = -1, -2
"""How a sequence among the outputs lies there: as rows of one; as its elements, then the table of their shapes."""


def sequence_of(elements: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
    """The tensors that lie one after the other; a row of the table has where one begins, then its lengths."""
    rows = table.tolist()
    if table.shape[1] == 2:
        return [elements[first : first + length].copy() for first, length in rows]
    return [elements[first : first + math.prod(shape)].reshape(shape).copy() for first, *shape in rows]


class GraphProgram(Struct, frozen=True):
    """The program of a region, and where its values lie among the program's buffers.

    Buffers, in order: the inputs, by `inputs` their positions among the region's arguments; `constants`, whose contents
    are the same in every run; the outputs, those in `grown` left out, which lie in memory that grows. `arena` says
    where scratch buffers begin. The first scalars are the lengths of inputs that have `names`, then `forms` over them.
    `shapes` are the lengths of buffers for which memory is there before a run, where these are no numbers. The pairs of
    `agreeing` are lengths that must be the same, those of `positive` must not be 0. `decisions` are conditions over
    lengths, each with the answer that the program is made for. `sequences` are results that are sequences: the output
    where one begins, and how many outputs are its elements, or `ROWS`, as those of an input are, or `RAGGED`.
    `strings` are those for which inputs, constants and outputs have numbers, `maps` the results that are lists of maps,
    with the keys of each row.
    """

    program: Program
    inputs: tuple[int, ...]
    constants: tuple[FixedArray, ...]
    outputs: tuple[TensorType, ...]
    arena: Arena
    may_fail: bool
    grown: dict[int, Grown] = field(default_factory=lambda: dict[int, Grown]())
    names: tuple[str, ...] = ()
    forms: tuple[Dim, ...] = ()
    shapes: dict[Buffer, tuple[Dim, ...]] = field(default_factory=lambda: dict[Buffer, tuple[Dim, ...]]())
    agreeing: tuple[tuple[Dim, Dim], ...] = ()
    positive: tuple[Dim, ...] = ()
    sequences: tuple[tuple[int, int], ...] = ()
    decisions: tuple[tuple[Dim, bool], ...] = ()
    strings: Strings | None = None
    maps: tuple[tuple[int, Keys], ...] = ()

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The constants; those that are deferred are computed now."""
        return tuple(map(as_array, self.constants))

    def fits(self, lengths: Mapping[str, int]) -> bool:
        """Whether the program is made for runs where names are these lengths."""
        try:
            numbers = [(dims.evaluate(a, lengths), dims.evaluate(b, lengths)) for a, b in self.agreeing]
            return all(a == b for a, b in numbers) and all(dims.evaluate(n, lengths) > 0 for n in self.positive)
        except ValueError:  # what is divided by a length that is 0 is no length
            return False

    def decides_alike(self, lengths: Mapping[str, int]) -> bool:
        """Whether runs where names are these lengths take the branches that the program has."""
        try:
            return all(bool(dims.evaluate(form, lengths)) == answer for form, answer in self.decisions)
        except ValueError:
            return False

    def scalars(self, lengths: Mapping[str, int]) -> dict[Expr, int]:
        """The first scalars, where names are these lengths."""
        numbers = [*(lengths[name] for name in self.names), *(dims.evaluate(form, lengths) for form in self.forms)]
        return dict(zip(self.program.scalars, numbers, strict=False))


class Grown(Struct, frozen=True):
    """An output of which only the run knows the shape: its scratch buffer, its lengths among the scalars by axis."""

    scratch: int
    lengths: dict[int, int]


class Strings(Struct, frozen=True):
    """The strings of a program in the order of their numbers, the empty one first, and where strings come and go.

    `inputs` and `outputs` are positions among those of the region, or of its program.
    """

    texts: tuple[str, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def of(self, inputs: Sequence[int]) -> Strings:
        """The same for a program that has some of the region's inputs."""
        return Strings(self.texts, tuple(k for k, n in enumerate(inputs) if n in self.inputs), self.outputs)
