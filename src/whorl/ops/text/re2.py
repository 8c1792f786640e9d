"""Matching of RE2 regular expressions, in time linear in the text whatever the pattern.

A pattern becomes a graph of states. Matching follows all states at once and remembers the steps it has made, so it
is a deterministic automaton that is built while it runs.
"""

from __future__ import annotations

import functools

from msgspec import Struct

from whorl.ops.text.re2_syntax import (
    Accepts,
    Assertion,
    Chars,
    Choice,
    Parser,
    PatternError,
    Repeat,
    Sequence,
    Tree,
    is_word,
)

MAX_STATES = 100_000
_REMEMBERED_STEPS = 20_000


class State(Struct):
    """One state: a character to be read, an assertion to hold, or free steps to others."""

    accepts: Accepts | None = None
    assertion: str = ""
    following: tuple[int, ...] = ()


class Matcher:
    """A compiled pattern. State 0 is the accepting one."""

    def __init__(self, pattern: str) -> None:
        self.states = [State()]
        self.start = self._compile(Parser(pattern).parse(), 0)
        self.steps: dict[tuple[frozenset[int], str, str], frozenset[int]] = {}

    def fullmatch(self, text: str) -> bool:
        """Whether the pattern describes the whole text."""
        current, before = frozenset((self.start,)), ""
        for char in text:
            current = self._step(current, before, char)
            if not current:
                return False
            before = char
        return 0 in self._closure(current, before, "")

    def search(self, text: str, start: int) -> tuple[int, int] | None:
        """Where the first match at `start` or behind begins and ends, the longest of those that begin there."""
        match: tuple[int, int] | None = None
        current: dict[int, int] = {}
        for position in range(start, len(text) + 1):
            if match is None:
                current.setdefault(self.start, position)
            if not current:
                break
            before, after = text[position - 1 : position] if position else "", text[position : position + 1]
            reached = self._earliest(current, before, after)
            begin = reached.get(0)
            if begin is not None and (match is None or begin <= match[0]):
                match = begin, position
            current = {}
            for index, begin in reached.items():
                state = self.states[index]
                is_early = match is None or begin <= match[0]
                if after and is_early and state.accepts is not None and state.accepts(after):
                    current.setdefault(state.following[0], begin)
        return match

    def _earliest(self, current: dict[int, int], before: str, after: str) -> dict[int, int]:
        """The states reached without reading, with the earliest positions where ways to them begin, in their order."""
        reached: dict[int, int] = {}
        for begin in sorted({*current.values()}):
            same = frozenset(index for index, each in current.items() if each == begin)
            for index in self._closure(same, before, after):
                reached.setdefault(index, begin)
        return reached

    @property
    def may_match_nothing(self) -> bool:
        """Whether the empty text is a match, at least between some characters."""
        reached, pending = set[int](), [self.start]
        while pending:
            index = pending.pop()
            if index not in reached and self.states[index].accepts is None:
                reached.add(index)
                pending += self.states[index].following
        return 0 in reached

    # ---- building ----------------------------------------------------------------------------------------------

    def _add(self, state: State) -> int:
        if len(self.states) >= MAX_STATES:
            raise PatternError(f"needs more than {MAX_STATES} states")
        self.states.append(state)
        return len(self.states) - 1

    def _compile(self, tree: Tree, following: int) -> int:
        """The first state of a tree that goes on to `following`."""
        match tree:
            case Chars(accepts):
                return self._add(State(accepts=accepts, following=(following,)))
            case Assertion(kind):
                return self._add(State(assertion=kind, following=(following,)))
            case Sequence(parts):
                for part in reversed(parts):
                    following = self._compile(part, following)
                return following
            case Choice(parts):
                return self._add(State(following=tuple(self._compile(part, following) for part in parts)))
            case Repeat():
                return self._compile_repeat(tree, following)

    def _compile_repeat(self, tree: Repeat, following: int) -> int:
        if tree.most is None:
            loop = self._add(State())
            self.states[loop].following = (self._compile(tree.part, loop), following)
            following = loop
        else:
            end = following
            for _ in range(tree.most - tree.least):
                following = self._add(State(following=(self._compile(tree.part, following), end)))
        for _ in range(tree.least):
            following = self._compile(tree.part, following)
        return following

    # ---- matching ----------------------------------------------------------------------------------------------

    def _step(self, current: frozenset[int], before: str, char: str) -> frozenset[int]:
        key = current, before, char
        reached = self.steps.get(key)
        if reached is None:
            states = (self.states[k] for k in self._closure(current, before, char))
            reached = frozenset(s.following[0] for s in states if s.accepts is not None and s.accepts(char))
            if len(self.steps) >= _REMEMBERED_STEPS:
                self.steps.clear()
            self.steps[key] = reached
        return reached

    def _closure(self, current: frozenset[int], before: str, after: str) -> set[int]:
        """The states reached without reading, between two characters ("" at the ends of the text)."""
        reached: set[int] = set()
        pending = list(current)
        while pending:
            index = pending.pop()
            if index in reached:
                continue
            reached.add(index)
            state = self.states[index]
            if state.accepts is None and (not state.assertion or _is_satisfied(state.assertion, before, after)):
                pending.extend(state.following)
        return reached


def _is_satisfied(assertion: str, before: str, after: str) -> bool:
    match assertion:
        case "begin":
            return not before
        case "end":
            return not after
        case "line_begin":
            return before in ("", "\n")
        case "line_end":
            return after in ("", "\n")
        case _:
            pass
    at_boundary = (before != "" and is_word(before)) != (after != "" and is_word(after))
    return at_boundary == (assertion == "boundary")


@functools.lru_cache(maxsize=256)
def matcher(pattern: str) -> Matcher:
    """The compiled pattern; raises PatternError."""
    return Matcher(pattern)
