"""Lengths that a run computes before its program: forms over the lengths that have names, as LLVM IR."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from whorl.ir.dims import Call, Dim, Linear
from whorl.llvm.function import Function
from whorl.llvm.value import Index, Value
from whorl.lowering.arena import ALIGNMENT, Arena
from whorl.lowering.graph_program import MOST_ELEMENTS, GraphProgram


class LengthsOfRun:
    """Numbers of dims over names that have values in a function."""

    def __init__(self, f: Function, names: Mapping[str, Index]) -> None:
        self.f, self.names = f, dict(names)
        self.divisors: list[Index] = []
        """What is divided by; where one is 0, the dims that divide by it are no lengths."""

    def number(self, dim: Dim) -> Index:
        """A dim as an index."""
        f = self.f
        if not isinstance(dim, Linear):
            return f.index(int(dim))  # type: ignore[arg-type]
        total = f.index(dim.constant)
        for atom, factor in dim.terms:
            value = self.names[atom] if isinstance(atom, str) else self._call(atom)
            total = total + value * factor
        return total

    def _call(self, atom: Call) -> Index:
        f = self.f
        args = [self.number(arg) for arg in atom.args]
        match atom.kind:
            case "floor":
                return self._floor(*args)
            case "mod":
                return args[0] - self._floor(*args) * args[1]
            case "mul":
                return functools.reduce(lambda x, y: x * y, args)
            case "min":
                return functools.reduce(f.least, args)
            case "max":
                return functools.reduce(f.most, args)
            case "less":
                return f.index(f.convert("zext", args[0] < args[1], "i64"))
            case _:
                return f.index(f.convert("zext", args[0].equals(args[1]), "i64"))

    def _floor(self, a: Index, b: Index) -> Index:
        """The quotient rounded down; of a division by 0, any number."""
        f = self.f
        self.divisors.append(b)
        safe = f.choose(b.equals(0), f.index(1), b)
        quotient = f.index(f.binary("sdiv", a, safe))
        rest = f.index(f.binary("srem", a, safe))
        is_above = (rest.equals(0) ^ True) & (f.index(rest ^ safe) < 0)
        return f.choose(is_above, quotient - 1, quotient)

    def magnitude(self, dim: Dim) -> Value:
        """A double that is no less than what a dim and its products may come to, however large."""
        f = self.f
        if not isinstance(dim, Linear):
            return f.number(abs(int(dim)), "double")  # type: ignore[arg-type]
        total = f.number(abs(dim.constant), "double")
        for atom, factor in dim.terms:
            value = f.convert("sitofp", self.names[atom], "double") if isinstance(atom, str) else self._bound(atom)
            total = total + value * abs(factor)
        return total

    def _bound(self, atom: Call) -> Value:
        args = [self.magnitude(arg) for arg in atom.args]
        match atom.kind:
            case "floor":
                return args[0]
            case "mod":
                return args[1]
            case "mul":
                return functools.reduce(lambda x, y: x * y, args)
            case "min":
                return functools.reduce(lambda x, y: self.f.intrinsic("minnum", x, y), args)
            case "max":
                return functools.reduce(lambda x, y: self.f.intrinsic("maxnum", x, y), args)
            case _:
                return self.f.number(1, "double")


def are_too_large(lengths: LengthsOfRun, graph: GraphProgram) -> Value:
    """Whether memory of a run or a length in it is more than any machine has, so that its number may have wrapped."""
    f = lengths.f
    forms = {form for slot in graph.arena.slots for form in slot} | set(graph.forms)
    result = f.number(0, "i1")
    for form in sorted(forms, key=str):
        result = result | (lengths.magnitude(form) > float(MOST_ELEMENTS))
    return result


def fits(lengths: LengthsOfRun, graph: GraphProgram) -> Value:
    """Whether a program is made for these lengths."""
    f, result = lengths.f, lengths.f.number(1, "i1")
    for a, b in graph.agreeing:
        result = result & lengths.number(a).equals(lengths.number(b))
    for form in graph.positive:
        result = result & (f.index(0) < lengths.number(form))
    for form in graph.forms:
        lengths.number(form)
    for divisor in lengths.divisors:
        result = result & (divisor.equals(0) ^ True)
    return result


def has_conditions(graph: GraphProgram) -> bool:
    """Whether there are lengths that a program is not made for."""
    divides = any("floor(" in str(form) or "mod(" in str(form) for form in graph.forms)
    return bool(graph.agreeing or graph.positive or divides)


def lay_out(lengths: LengthsOfRun, arena: Arena) -> tuple[Index, Sequence[Index]]:
    """The bytes of scratch memory, and the offset of each buffer in it."""
    f = lengths.f
    size, starts = f.index(arena.size), list[Index]()
    for slot in arena.slots:
        starts.append(size)
        count = functools.reduce(f.most, [lengths.number(form) for form in slot])
        size = size + f.index((count + (ALIGNMENT - 1)) & -ALIGNMENT)
    offsets = [f.index(offset) for offset in arena.offsets]
    for buffer, slot in arena.members:
        offsets[buffer] = starts[slot]
    return size, offsets
