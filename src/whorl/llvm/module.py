"""A module of LLVM IR: definitions by name, and which of them refer to which."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Protocol

from msgspec import Struct


class Machine(Struct, frozen=True):
    """What text depends on of the machine that it is written for."""

    vector_bytes: int
    """The width of vector registers."""
    has_half: bool
    """Whether float and half are converted in hardware."""
    dot_bytes: int = 0
    """The width of the widest vectors that add dot products of four bytes to int32 in hardware, as x86 does; else 0."""
    has_large_frames: bool = True
    """Whether a function may have some hundred kilobytes on the stack. On Windows it would call a routine of the
    compiler's library, and with musl threads have 128 KiB in all."""


class Effort(IntEnum):
    """How hard LLVM is to try."""

    GLUE = 0
    """Code that runs once and calls what takes the time."""
    WRITTEN = 1
    """Loops that are written as they are to run, after what is the same in all iterations: they are only simplified."""
    ROUTINES = 2
    """Loops that are written as they are to run, or whose iterations are side by side."""
    LOOPS = 3


class Source(Struct, frozen=True):
    """The text of a module that is compiled on its own."""

    text: str
    effort: Effort = Effort.LOOPS

    @property
    def is_glue(self) -> bool:
        return self.effort == Effort.GLUE


class Definition(Protocol):
    """A function, a constant, a declaration or a node of metadata."""

    @property
    def name(self) -> str: ...
    @property
    def references(self) -> Iterable[str]:
        """Names of other definitions in its text, each once, in the order of the text."""
        ...

    @property
    def is_routine(self) -> bool:
        """Whether it is compiled on its own, and linked to the programs that call it."""
        ...

    @property
    def effort(self) -> Effort:
        """How hard LLVM is to try where it is compiled on its own."""
        ...

    def text(self, is_alone: bool = False) -> str:
        """`is_alone`: as the one function that a module is for."""
        ...

    def declaration(self) -> str: ...


class Global(Struct, frozen=True):
    """A definition that is text: a constant, a declaration or a node of metadata."""

    name: str
    content: str
    references: tuple[str, ...] = ()
    is_routine: bool = False
    effort: Effort = Effort.ROUTINES

    def text(self, is_alone: bool = False) -> str:
        return self.content

    def declaration(self) -> str:
        return self.content


class Unit(Struct, frozen=True):
    """A function that is compiled on its own: the only one of a module, or a routine of a module that has many."""

    name: str
    module: Module
    references: tuple[str, ...] = ()
    is_routine: bool = True
    effort: Effort = Effort.ROUTINES

    def text(self, is_alone: bool = False) -> str:
        return self.declaration()

    def declaration(self) -> str:
        return self.module.definitions[self.name].declaration()

    def sources(self) -> dict[str, Source]:
        """Its text, and that of all routines that it needs, by their names."""
        if self.module.definitions[self.name].is_routine:
            return self.module.routine_sources([self.name])
        main, others = self.module.split()
        return {self.name: main} | others


class Module:
    """Definitions by name, in the order in which they were added; `comment` stands before them.

    Modules of equal keys have equal texts; without a key, nothing is known of that.
    """

    def __init__(self, machine: Machine, effort: Effort = Effort.LOOPS, key: str = "") -> None:
        self.machine = machine
        self.effort, self.key = effort, key
        self.comment = ""
        self.definitions: dict[str, Definition] = {}
        self.nodes: dict[str, str] = {}
        """Names of nodes of metadata by their content; those that are distinct are named by themselves."""
        self.sources: dict[str, Source] = {}
        """The texts of routines, once they are complete."""

    def __contains__(self, name: str) -> bool:
        return name in self.definitions

    def add(self, definition: Definition) -> None:
        if definition.name in self.definitions:
            raise ValueError(f"{definition.name} is defined twice")
        self.definitions[definition.name] = definition

    def add_text(self, name: str, content: str, *references: str) -> str:
        """Add a constant, a declaration or metadata unless there is one of this name; returns the name."""
        if name not in self.definitions:
            self.definitions[name] = Global(name, content, references)
        return name

    def declare(self, name: str, result: str, parameters: Iterable[str], attributes: str = "") -> str:
        """A function that is defined elsewhere; returns its name."""
        return self.add_text(name, f"declare {result} {name}({', '.join(parameters)}) {attributes}".rstrip())

    def add_metadata(self, content: str, *references: str) -> str:
        """A node of metadata, by the next number, unless it equals another; `!self` stands for it. Returns its name."""
        name = f"!{len(self.nodes)}"
        is_distinct = content.startswith("distinct ")
        known = self.nodes.setdefault(name if is_distinct else content, name)
        return self.add_text(known, f"{name} = {content.replace('!self', name)}", *references)

    def complete(self) -> None:
        """Write what is left to be written, before the text is read."""

    @property
    def quick(self) -> frozenset[str]:
        """The routines that give the same results where LLVM optimises nothing, and run once a run."""
        return frozenset()

    def __str__(self) -> str:
        self.complete()
        return self.comment + _lines(definition.text() for definition in self.definitions.values())

    def split(self) -> tuple[Source, dict[str, Source]]:
        """The text with routines declared only, and by their names the text of a module for each routine.

        A routine's module depends on the routine alone, not on the program around it: its text is the key by which
        object code is found again. So definitions follow in the order in which the routine refers to them.
        """
        self.complete()
        names = [name for name, definition in self.definitions.items() if definition.is_routine]
        program = (d.declaration() if d.is_routine else d.text() for d in self.definitions.values())
        return Source(self.comment + _lines(program), self.effort), self.routine_sources(names)

    def routine_sources(self, names: Iterable[str]) -> dict[str, Source]:
        """The texts of routines, and of those that they call, by their names."""
        sources: dict[str, Source] = {}
        pending = [*names]
        while pending:
            name = pending.pop(0)
            definition = self.definitions[name]
            if name in sources:
                continue
            if isinstance(definition, Unit):
                sources |= definition.sources()
                continue
            if name not in self.sources:
                self.sources[name] = Source(self._routine_text(definition), definition.effort)
            sources[name] = self.sources[name]
            pending += (n for n in self._needed(definition) if self.definitions[n].is_routine)
        return sources

    def _routine_text(self, routine: Definition) -> str:
        needed = map(self.definitions.__getitem__, self._needed(routine))
        others = (d.declaration() if d.is_routine else d.text() for d in needed)
        return _lines((routine.text(is_alone=True), *others))

    def _needed(self, routine: Definition) -> list[str]:
        """What a routine refers to, and what that refers to, but for other routines, which are compiled apart."""
        needed: dict[str, None] = {}
        pending = [*routine.references]
        while pending:
            name = pending.pop(0)
            definition = self.definitions[name]
            if name in needed or definition is routine:
                continue
            needed[name] = None
            pending += () if definition.is_routine else definition.references
        return list(needed)


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts) + "\n"
