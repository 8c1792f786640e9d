"""Memory that one tensor takes over from another: the rule that nothing reads the old one later, and its enforcement.

Lowering gives a tensor that is written over another one a buffer of its own and says `Take`. So each read names the
contents that it means, and whether a read comes too late is a question about names, which this file answers for every
path through branches and loops. Only then do both become one buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from whorl.errors import VerifyError
from whorl.ir.native.expressions import Buffer
from whorl.kernel.program import For, Program, Statement, Swap, Take, When, While
from whorl.kernel.walk import all_statements, blocks, rename_buffers, used_by


def merge_takes(program: Program) -> None:
    """Check that no sources memory is read under its old name, and let all names of one memory be one buffer."""
    takes = [s for s in all_statements(program.body) if isinstance(s, Take)]
    if not takes:
        return
    verify_ownership(program)
    declared = {*program.buffers, *program.scratch}
    sources = {s.buffer: s.source for s in takes if s.buffer not in declared}
    roots = {buffer: _root(buffer, sources) for buffer in sources}
    for take in takes:
        if take.buffer in declared and roots.get(take.source, take.source) is not take.buffer:
            raise VerifyError(f"{take.buffer.name!r} takes memory that is not its own from {take.source.name!r}")
    rename_buffers(program.body, roots)
    for block in _all_blocks(program.body):
        block[:] = [s for s in block if not isinstance(s, Take)]


def _root(buffer: Buffer, sources: dict[Buffer, Buffer]) -> Buffer:
    """The buffer whose memory this was first."""
    while buffer in sources:
        buffer = sources[buffer]
    return buffer


def _all_blocks(block: list[Statement]) -> list[list[Statement]]:
    return [block, *(inner for s in all_statements(block) for inner in blocks(s))]


def verify_ownership(program: Program) -> None:
    """Raise VerifyError where a statement uses a buffer whose memory has been sources over."""
    _Walk().block(program.body)


class _Walk(Struct):
    """The state between two statements: buffers that may share memory, and those whose contents are lost."""

    sharers: dict[Buffer, frozenset[Buffer]] = field(default_factory=dict[Buffer, frozenset[Buffer]])
    lost: frozenset[Buffer] = frozenset()

    def join(self, other: _Walk) -> bool:
        """What may hold on either path; whether that is more than what might hold here."""
        before = self.sharers, self.lost
        both = {*self.sharers, *other.sharers}
        self.sharers = {b: self.sharing(b) | other.sharing(b) for b in both}
        self.lost |= other.lost
        return (self.sharers, self.lost) != before

    def sharing(self, buffer: Buffer) -> frozenset[Buffer]:
        return self.sharers.get(buffer, frozenset())

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Take(buffer, source):
                self.use(source)
                self.share(buffer, {source, *self.sharing(source)})
                self.lost = self.lost | self.sharing(buffer)
            case Swap(a, b):
                self.use(b)
                self.lost = self.lost | self.sharing(a)
                with_a, with_b = self.sharing(a) - {b}, self.sharing(b) - {a}
                self.share(a, with_b)
                self.share(b, with_a)
            case When(then=then, other=other):
                self.read(statement)
                second = _Walk(dict(self.sharers), self.lost)
                self.block(then)
                second.block(other)
                self.join(second)
            case For() | While():
                self.loop(statement)
            case _:
                self.read(statement)

    def loop(self, loop: For | While) -> None:
        """The body, until one more iteration finds nothing that those before it did not."""
        while True:
            after = _Walk(dict(self.sharers), self.lost)
            after.read(loop)
            for inner in blocks(loop):
                after.block(inner)
            if not self.join(after):
                return

    def share(self, buffer: Buffer, sharers: Iterable[Buffer]) -> None:
        """A buffer with contents, in memory that these may share, and in no other."""
        for old in self.sharing(buffer):
            self.sharers[old] = self.sharing(old) - {buffer}
        self.sharers[buffer] = frozenset(sharers) - {buffer}
        for sharer in self.sharers[buffer]:
            self.sharers[sharer] = self.sharing(sharer) | {buffer}
        self.lost -= {buffer}

    def read(self, statement: Statement) -> None:
        for buffer in used_by(statement):
            self.use(buffer)

    def use(self, buffer: Buffer) -> None:
        if buffer in self.lost:
            names = ", ".join(sorted(repr(b.name) for b in self.sharing(buffer)))
            raise VerifyError(f"{buffer.name!r} is used where its memory may hold {names}")
