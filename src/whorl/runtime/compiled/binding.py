"""Binds the shapes of a run to the names of dims: what a program depends on, and what it takes as it comes.

Lengths have names: those that the model gives them, or names of their own where the model has none, or where lengths
contradict the names. Only 0 and 1 are literal in a pattern where the model has no name for them, because empty tensors
and broadcasting make other programs. A program that was made with the names, but takes for granted that something has
elements or does not broadcast, does not fit where it is not so, and the lengths are literal there, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim, Linear, Unknown
from whorl.ir.infer import names_in_type
from whorl.ir.types import AnyShape, Known, TensorType, Type, lengths_of, tensor
from whorl.lowering.graph_program import MOST_ELEMENTS

LEAST, NEVER = 2, 1 << 63
"""The least length that has a name of its own; one beyond all lengths, from which on none has."""
Shape = tuple[int, ...]
MOST_BOUND = 256
"""Signatures for which a bound program is remembered."""
MOST_SPECIALISED = 16
"""Elements of an integer input that a program may be specialised to."""
MOST_VARIANTS = 8
"""Programs of one pattern, for runs whose lengths decide branches otherwise; the last one branches as it runs."""
Pattern = tuple[tuple[Dim, ...] | bytes | int | None, ...]
"""The shapes of the inputs, with names for lengths, then the contents of inputs that the program is specialised to.

The number of a variant comes last, but for the first one.
"""
Signature = tuple[Shape | bytes | None, ...]
"""The shapes of the inputs, then the contents of those inputs whose elements the program is specialised to."""


class Binding(Struct, frozen=True):
    """The shapes of inputs over names, and the length that each name has in this run.

    The elements of some inputs have names, too: `counts` by the inputs' numbers; None where none has in any run.
    """

    shapes: tuple[tuple[Dim, ...], ...]
    lengths: Mapping[str, int]
    counts: Mapping[int, Linear] | None = None

    @property
    def is_unusual(self) -> bool:
        """Whether a name is 0 or 1."""
        return any(length < LEAST for length in self.lengths.values())

    def pattern(self, arrays: Sequence[np.ndarray], specialised: Sequence[int]) -> Pattern:
        """The key of a program: shapes over names, and the elements of the inputs that programs are specialised to."""
        counts = () if self.counts is None else (tuple(self.counts),)
        return (*self.shapes, *counts, *[contents_of(arrays[n]) for n in specialised])

    def facts(self, dtypes: Sequence[np.dtype]) -> list[Known]:
        """The types of the inputs, and the names of their elements."""
        facts = [Known(TensorType(d, s)) for d, s in zip(dtypes, self.shapes, strict=True)]
        for n, name in (self.counts or {}).items():
            facts[n] = counted(TensorType(dtypes[n], self.shapes[n]), name)
        return facts


def counted(type: Type, name: Dim) -> Known:
    """The type of an input whose one element has a name like a length."""
    return Known(type, np.full((1,) * len(lengths_of(tensor(Known(type)))), name, object))


def variants(pattern: Pattern) -> Iterator[Pattern]:
    """The patterns of all programs for the pattern of the first one."""
    yield pattern
    for number in range(1, MOST_VARIANTS):
        yield (*pattern, number)


def first_variant(pattern: Pattern) -> Pattern:
    """The pattern of the first of the programs that this one is among."""
    return pattern[:-1] if pattern and isinstance(pattern[-1], int) else pattern


def is_last_variant(pattern: Pattern) -> bool:
    """Whether the program is for all runs that no other variant is for."""
    return bool(pattern) and pattern[-1] == MOST_VARIANTS - 1


class Template(Struct, frozen=True):
    """Shapes over names, each dim a number or a name alone, and which lengths of inputs have these shapes.

    Positions are those among the lengths of all inputs. Lengths are `literals`, or those of names, at `firsts`, of
    which others are `repeats`.
    """

    shapes: tuple[tuple[Dim, ...], ...]
    ranks: list[int]
    literals: list[tuple[int, int]]
    firsts: dict[str, int]
    repeats: list[tuple[int, int]]

    @classmethod
    def of(cls, shapes: tuple[tuple[Dim, ...], ...]) -> Template | None:
        """The template of shapes; None where a dim is neither."""
        literals: list[tuple[int, int]] = []
        firsts: dict[str, int] = {}
        repeats: list[tuple[int, int]] = []
        for position, dim in enumerate(chain.from_iterable(shapes)):
            if isinstance(dim, int):
                literals.append((position, dim))
            elif (name := plain_name(dim)) is None:
                return None
            elif name in firsts:
                repeats.append((position, firsts[name]))
            else:
                firsts[name] = position
        return cls(shapes, [*map(len, shapes)], literals, firsts, repeats)

    def bind(self, shapes: Sequence[Shape]) -> Binding | None:
        """The binding of inputs that have the shapes, all names being lengths of which none is unusual."""
        if [*map(len, shapes)] != self.ranks:
            return None
        lengths = [*chain.from_iterable(shapes)]
        for position, length in self.literals:
            if lengths[position] != length:
                return None
        for position, first in self.repeats:
            if lengths[position] != lengths[first]:
                return None
        named = {name: lengths[position] for name, position in self.firsts.items()}
        return Binding(self.shapes, named) if min(named.values(), default=LEAST) >= LEAST else None


class Binder:
    """Binds runs to the dims of declared types.

    `counts` are inputs whose one element says how many rows a loop collects, and has a name like a length. A number
    that is none has none: what is divided by a name is not 0.
    Invariant: runs that have the same shapes over names differ in the lengths of the names alone. `template` is that of
    the last run to which nothing that the types say but a name gave another form.
    """

    def __init__(self, types: Sequence[TensorType], counts: Sequence[int] = ()) -> None:
        self.types, self.counts = types, count_names(types, counts)
        self.template: Template | None = None
        self.own: list[list[Linear]] = [
            [dims.name(f"d{n}.{axis}") for axis in range(_rank(type))] for n, type in enumerate(types)
        ]

    def bind(self, arrays: Sequence[np.ndarray], least: int = 0, own: int = LEAST) -> Binding:
        """What these inputs have in common with others of other lengths, names that the model gives being `least`.

        Lengths for which the model has no name have names of their own from `own` on.
        """
        template = self.template if least == 0 and own == LEAST else None
        known = None if template is None else template.bind([x.shape for x in arrays])
        if known is not None:
            return known
        lengths: dict[str, int] = {}
        contradicted = self._find_names(arrays, lengths)
        for name in contradicted:
            del lengths[name]
        named = dict(lengths)
        shapes = tuple(self._shape(n, x.shape, named, lengths, (least, own)) for n, x in enumerate(arrays))
        read = {name for shape in shapes for dim in shape for name in dims.names_in(dim)}
        lengths = {name: length for name, length in lengths.items() if name in read}
        if self.counts:
            values = {n: int(arrays[n].item()) for n in self.counts if arrays[n].size == 1}
            values = {n: value for n, value in values.items() if max(least, 1) <= value <= MOST_ELEMENTS}
            lengths |= {str(self.counts[n]): value for n, value in values.items()}
            return Binding(shapes, lengths, {n: self.counts[n] for n in values})
        binding = Binding(shapes, lengths)
        if least == 0 and not contradicted and not binding.is_unusual and self._follows_types(shapes):
            self.template = Template.of(shapes)
        return binding

    def _follows_types(self, shapes: Sequence[Sequence[Dim]]) -> bool:
        """Whether all dims are those of the types, but for what these leave open."""
        for type, shape in zip(self.types, shapes, strict=True):
            declared = type.shape
            if isinstance(declared, AnyShape) or len(declared) != len(shape):
                continue
            if any(d != n and not isinstance(d, Unknown) for d, n in zip(declared, shape, strict=True)):
                return False
        return True

    def _find_names(self, arrays: Sequence[np.ndarray], lengths: dict[str, int]) -> set[str]:
        """The lengths of names that stand alone in a type; the names that two lengths contradict."""
        contradicted: set[str] = set()
        for x, type in zip(arrays, self.types, strict=True):
            if isinstance(type.shape, AnyShape) or len(type.shape) != x.ndim:
                continue
            for dim, length in zip(type.shape, x.shape, strict=True):
                if (name := plain_name(dim)) is not None and lengths.setdefault(name, length) != length:
                    contradicted.add(name)
        return contradicted

    def _shape(
        self, number: int, shape: Shape, named: Mapping[str, int], lengths: dict[str, int], leasts: tuple[int, int]
    ) -> tuple[Dim, ...]:
        """The shape of an input over names; a new name is added to `lengths`."""
        declared, (least, first) = self.types[number].shape, leasts
        if isinstance(declared, AnyShape) or len(declared) != len(shape):
            declared = (UNKNOWN,) * len(shape)
        own = self.own[number]
        own += [dims.name(f"d{number}.{axis}") for axis in range(len(own), len(shape))]
        result: list[Dim] = []
        for axis, (dim, length) in enumerate(zip(declared, shape, strict=True)):
            if dim == length or length < least:
                result.append(length)
                continue
            names = dims.names_in(dim)
            is_bound = bool(names) and all(named.get(name, -1) >= least for name in names)
            if is_bound and dims.evaluate(dim, named) == length:
                result.append(dim)
            elif length < first:
                result.append(length)
            else:
                result.append(own[axis])
                lengths[str(own[axis])] = length
        return tuple(result)


def count_names(types: Sequence[Type], counts: Sequence[int]) -> dict[int, Linear]:
    """Names of the elements of inputs that say how often a loop runs, other ones than those that types have."""
    known = set[str]().union(*map(names_in_type, types))
    mark = "."
    while any(f"n{number}{mark}" in known for number in counts):
        mark += "."
    return {number: dims.name(f"n{number}{mark}") for number in counts}


def _rank(type: TensorType) -> int:
    return 0 if isinstance(type.shape, AnyShape) else len(type.shape)


def plain_name(dim: Dim) -> str | None:
    """The name that a dim is, if it is nothing else."""
    match dim:
        case Linear(terms=((str() as name, 1),), constant=0):
            return name
        case _:
            return None


def signature_of(arrays: Sequence[np.ndarray], specialised: Sequence[int]) -> Signature:
    """The shapes of inputs, and the contents of some."""
    shapes = tuple([x.shape for x in arrays])
    return (*shapes, *[contents_of(arrays[n]) for n in specialised]) if specialised else shapes


def contents_of(array: np.ndarray) -> bytes | None:
    """The elements of an input that programs are specialised to; None for one that is too large."""
    return array.tobytes() if array.size <= MOST_SPECIALISED else None
