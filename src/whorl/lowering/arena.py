"""Scratch memory of a program in one block: buffers that are never needed at the same time lie in the same place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whorl.kernel.program import (
    Assign,
    Buffer,
    Call,
    Expr,
    For,
    Load,
    Program,
    Reserve,
    RunOp,
    Statement,
    Store,
    Swap,
    When,
    While,
)
from whorl.kernel.verify import parts_in_order

ALIGNMENT = 64


@dataclass(frozen=True)
class Arena:
    """The bytes that scratch memory takes, and where in it each scratch buffer begins."""

    size: int
    offsets: tuple[int, ...]


@dataclass
class _Life:
    """A buffer's bytes, and the first and last statement of the program that use it."""

    size: int
    first: int
    last: int

    def meets(self, other: _Life) -> bool:
        return self.first <= other.last and other.first <= self.last


def plan_arena(program: Program) -> Arena:
    """Places for the scratch buffers: the largest first, each at the lowest offset that is free all its life.

    A statement with statements inside counts as one: what a loop uses lives as long as the loop.
    """
    lives = _lives(program)
    order = sorted(range(len(lives)), key=lambda n: -lives[n].size)
    offsets = [0] * len(lives)
    placed: list[int] = []
    for n in order:
        offset = 0
        for other in sorted((m for m in placed if lives[m].meets(lives[n])), key=lambda m: offsets[m]):
            if offset + lives[n].size <= offsets[other]:
                break
            offset = max(offset, offsets[other] + lives[other].size)
        offsets[n] = offset
        placed.append(n)
    return Arena(max((offsets[n] + lives[n].size for n in placed), default=0), tuple(offsets))


def _lives(program: Program) -> list[_Life]:
    never = len(program.body)
    lives = {b: _Life(_rounded(b), never, -1) for b in program.scratch}
    for n, statement in enumerate(program.body):
        for buffer in used_buffers([statement]):
            if buffer in lives:
                life = lives[buffer]
                life.first, life.last = min(life.first, n), max(life.last, n)
    for a, b in swapped_pairs(program.body):
        if a in lives and b in lives:
            lives[a].first = lives[b].first = min(lives[a].first, lives[b].first)
            lives[a].last = lives[b].last = max(lives[a].last, lives[b].last)
    return [lives[b] for b in program.scratch]


def _rounded(buffer: Buffer) -> int:
    """The bytes of a buffer as it lies in the arena; those that grow lie elsewhere."""
    if buffer.grows:
        return 0
    size = math.prod(length for length in buffer.shape if isinstance(length, int)) * buffer.dtype.itemsize
    return -(-size // ALIGNMENT) * ALIGNMENT


def swapped_pairs(statements: Sequence[Statement]) -> list[tuple[Buffer, Buffer]]:
    """Buffers that trade places, in any block."""
    found: list[tuple[Buffer, Buffer]] = []
    for statement in statements:
        if isinstance(statement, Swap):
            found.append((statement.a, statement.b))
        for block in _blocks(statement):
            found += swapped_pairs(block)
    return found


def used_buffers(statements: Sequence[Statement]) -> set[Buffer]:
    """The buffers that statements, and those inside them, read or write."""
    found: set[Buffer] = set()
    seen: set[Expr] = set()
    for statement in statements:
        match statement:
            case Store(buffer) | Reserve(buffer):
                found.add(buffer)
            case Swap(a, b):
                found |= {a, b}
            case RunOp(_, inputs, outputs):
                found.update(b for b in inputs if b is not None)
                found.update(outputs)
            case Call(_, places):
                found.update(buffer for buffer, _ in places)
        for expr in _expressions(statement):
            if expr not in seen:
                new = parts_in_order(expr)
                seen.update(new)
                found.update(part.buffer for part in new if isinstance(part, Load))
        for block in _blocks(statement):
            found |= used_buffers(block)
    return found


def _expressions(statement: Statement) -> Iterator[Expr]:
    match statement:
        case Assign(_, value):
            yield value
        case Store(_, index, value):
            yield from (*index, value)
        case For(_, extent) | Reserve(_, extent):
            yield extent
        case When(condition) | While(_, condition):
            yield condition
        case Call(_, places):
            for _, index in places:
                yield from index


def _blocks(statement: Statement) -> Iterator[list[Statement]]:
    match statement:
        case For():
            yield statement.body
        case When():
            yield statement.then
            yield statement.other
        case While():
            yield statement.head
            yield statement.body
