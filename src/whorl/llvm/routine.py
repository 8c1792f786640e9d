"""Routines: functions that are compiled once and linked to every program that calls them, and how they are stopped."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Index, Value

PARTS = 16
"""Parts into which a routine's work is divided where several cores take it."""
NO_POLLS = ("ptr null", f"i64 {1 << 62}")
"""The last two arguments of a polling routine that is to run to its end."""

_RANGE = ("first_part", "end_part")
_ATTRIBUTES = 'noinline nounwind "min-legal-vector-width"="512"'
"""Never copied into a caller: its code is large, and compiled once. Vectors stay as wide as they are written."""
_ASK = " memory(inaccessiblemem: readwrite) nounwind"
"""Asking changes nothing that the program knows of, so that its own values stay in registers."""

_AS_WRITTEN, _NO_UNROLL, _NO_VECTORS, _UNLIKELY = (f"!{(1 << 20) + n}" for n in range(4))
"""Nodes of metadata; their numbers are fixed, so that a routine has the same text in every module."""


def ask_to_go_on(f: Function, context: Value, function: Value) -> Index:
    """Ask the runtime whether to go on; it gives new fuel, or 0."""
    return f.index(f.call_pointer(function, "i64", context, attributes=_ASK))


class Routine(Function):
    """A routine over addresses and numbers, whose loops are compiled as they are written.

    It is weak, not internal, so that LLVM does not rebuild it for the numbers of one call. One that `polls` takes two
    arguments more, the context of polls and fuel, and gives the fuel that is left, or 0 where it was stopped.
    """

    is_routine = True

    def __init__(
        self,
        module: Module,
        name: str,
        pointers: Sequence[str],
        numbers: Sequence[str],
        polls: bool = False,
        divides: bool = False,
        effort: Effort = Effort.WRITTEN,
    ) -> None:
        """Pointers that are written come first, `_` before their name: no two pointers name the same memory.

        Those with `=` before their name may name one memory, in which each element is read before it is written.

        One that `divides` takes two numbers more: which of its `PARTS` to compute, from the first to before the last.
        """
        numbers = (*numbers, *_RANGE) if divides else numbers
        kinds = {"_": "ptr noalias", "=": "ptr"}
        parameters = {p.lstrip("_="): kinds.get(p[0], "ptr noalias readonly") for p in pointers}
        parameters |= dict.fromkeys(numbers, "i64")
        parameters |= {"context": "ptr", "fuel": "i64"} if polls else {}
        super().__init__(module, name, "i64" if polls else "void", parameters, "weak hidden", _ATTRIBUTES)
        self.effort = effort
        self.fuel = self.variable(self["fuel"]) if polls else None

    def share(self, count: Index | int) -> tuple[Index, Index]:
        """The range of so many things that these parts of the work are."""
        first, end = self.indices(*_RANGE)
        return first * count // PARTS, end * count // PARTS

    def share_of_group(
        self, before: Index | int, count: Index | int, share: tuple[Index, Index]
    ) -> tuple[Index, Index]:
        """The range of a group, before which others lie, in a range of all."""
        start, stop = (self.least(self.most(part - before, 0), count) for part in share)
        return start, stop

    def indices(self, *names: str) -> list[Index]:
        """Parameters that are numbers."""
        return [self.argument(name) for name in names]

    @contextmanager
    def loop(
        self, start: Index | int, stop: Index | int, step: Index | int = 1, attributes: str = ""
    ) -> Generator[Index]:
        nodes = f"distinct !{{{_AS_WRITTEN}, {_NO_UNROLL}, {_NO_VECTORS}}}"
        self.module.add_text(_AS_WRITTEN, f"{_AS_WRITTEN} = {nodes}", _NO_UNROLL, _NO_VECTORS)
        self.module.add_text(_NO_UNROLL, f'{_NO_UNROLL} = !{{!"llvm.loop.unroll.disable"}}')
        self.module.add_text(_NO_VECTORS, f'{_NO_VECTORS} = !{{!"llvm.loop.vectorize.enable", i1 false}}')
        with super().loop(start, stop, step, f", !llvm.loop {self.refer(_AS_WRITTEN)}") as index:
            yield index

    def poll(self, work: Index) -> None:
        """Count work; once the fuel is used up, ask whether to go on, else return."""
        assert self.fuel is not None
        self.module.add_text(_UNLIKELY, f'{_UNLIKELY} = !{{!"branch_weights", i32 1, i32 2000}}')
        left = self.load_index(self.fuel) - work
        self.store(left, self.fuel)
        with self.when(left < 0, f", !prof {self.refer(_UNLIKELY)}"):
            context = self["context"]
            more = ask_to_go_on(self, context, self.load("ptr", context))
            with self.leave_when(more.equals(0)):
                self.give(self.index(0))
            self.store(more, self.fuel)

    def end(self) -> None:
        """Return, with the fuel that is left; it is odd then, so never 0."""
        self.give(None if self.fuel is None else self.load_index(self.fuel) | 1)
