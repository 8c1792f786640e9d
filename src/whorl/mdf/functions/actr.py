"""The ACT-R functions of MDF: chunks and productions are objects with texts, matched by patterns with variables.

Goals and productions are changed in place, as in modeci_mdf: a model keeps its goal by holding the same object twice.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from whorl.errors import RunError
from whorl.mdf.model import Datum

Chunk = dict[Datum, str]
"""The contents of a buffer by slot: places, or names where the text has them."""
_TEST = re.compile(r"(?P<negated>!?)(?P<variable>\?\w+)|(?P<unlike>!?)(?P<text>[\w.-]+)")
_SLOT = re.compile(r"(\??[\w.]+):(.+)")


def chunk_to_string(chunk: Mapping[str, Datum]) -> str:
    """The texts of a chunk without its name."""
    return " ".join(str(value) for key, value in _object(chunk).items() if key != "name")


def pattern_to_string(pattern: Mapping[str, Datum]) -> str:
    """The texts of a pattern after the first, with `?` before a variable and `!` for what must not be."""
    return " ".join(map(str, list(_object(pattern).values())[1:])).replace("-=", "!?").replace("=", "?")


def change_goal(pattern: Mapping[str, Datum], curr_goal: Datum) -> dict[str, Datum]:
    """The goal with the slots of a pattern, written into it: a goal is changed wherever it is held."""
    if not isinstance(curr_goal, dict):
        return {}
    curr_goal.update(_object(pattern))
    curr_goal.pop("buffer", None)
    return curr_goal


def retrieve_chunk(pattern: Datum, dm_chunks: Sequence[Datum], types: Mapping[str, Sequence[str]]) -> dict[str, Datum]:
    """The first chunk of a declarative memory that matches a pattern, by the slots of its type."""
    tests = _tests({None: pattern_to_string(pattern)}) if _object(pattern) else []
    if not tests:
        return {}
    for chunk in map(_chunk, map(chunk_to_string, _items(dm_chunks))):
        if _bindings(tests, {None: chunk}) is not None:
            slots = types.get(chunk[0])
            if slots is None or len(slots) < len(chunk) - 1:
                raise RunError(f"chunk type {chunk[0]!r} does not name {len(chunk) - 1} slots")
            return {"ISA": chunk[0], **{slots[k - 1]: chunk[k] for k in range(1, len(chunk))}}
    return {}


def match_production(production: dict[str, Datum], context: Mapping[str, Datum]) -> bool:
    """Whether the left side of a production matches the buffers; what its variables are bound to is put into it."""
    bindings = _matched(production, context)
    if bindings is None:
        return False
    production["bindings"] = bindings
    return True


def pattern_matching_function(productions: Sequence[Datum], goal: Datum, retrieval: Datum) -> list[dict[str, Datum]]:
    """The productions that match goal and retrieval; what their variables are bound to is put into them."""
    chunk = _chunk(chunk_to_string(retrieval)) if _object(retrieval) else None
    context = {"goal": _chunk(chunk_to_string(goal)), "retrieval": chunk}
    return [production for production in _items(productions) if match_production(production, context)]


def conflict_resolution_function(productions: Sequence[Datum]) -> dict[str, Datum]:
    """One of the productions, drawn by Python's generator; nothing where there are none."""
    result = _items(productions)
    return random.choice(result) if result else {}


def update_buffer(production: Datum, buffer: str) -> dict[str, Datum]:
    """What a production writes into a buffer, its variables replaced."""
    if not _object(production):
        return {}
    bindings = production.get("bindings", {})
    pattern = next((part for part in reversed(production["rhs"]) if part["buffer"] == buffer), {})
    return {key: bindings.get(value.replace("=", ""), value) for key, value in pattern.items()}


def update_goal(production: Datum) -> dict[str, Datum]:
    """What a production writes into the goal."""
    return update_buffer(production, "goal")


def update_retrieval(production: Datum) -> dict[str, Datum]:
    """What a production asks of the declarative memory."""
    return update_buffer(production, "retrieval")


def check_termination(production: Datum) -> bool:
    """Whether no production was chosen."""
    return isinstance(production, Mapping) and not production


ACTR: dict[str, Callable[..., Datum]] = {
    function.__name__: function
    for function in (
        chunk_to_string,
        pattern_to_string,
        change_goal,
        retrieve_chunk,
        match_production,
        pattern_matching_function,
        update_buffer,
        update_goal,
        update_retrieval,
        conflict_resolution_function,
        check_termination,
    )
}
"""The functions by name."""


def _object(value: Datum) -> Mapping[str, Datum]:
    """A chunk or pattern; a port to which nothing came holds a number, which counts as empty."""
    return value if isinstance(value, Mapping) else {}


def _items(values: Datum) -> list[Datum]:
    return [value for value in values if isinstance(value, Mapping)] if getattr(values, "ndim", 1) else []


# ---- patterns ----------------------------------------------------------------------------------------------------


class _Test(Struct, frozen=True):
    """A condition on one slot of one buffer: a text or a variable, which it must be or must not be."""

    buffer: str | None
    slot: Datum
    text: str
    is_variable: bool
    is_negated: bool

    def is_met(self, chunk: Chunk, bindings: dict[str, str]) -> bool:
        """Whether a chunk fulfils it; a variable met for the first time is bound."""
        slot = bindings[self.slot[1:]] if isinstance(self.slot, str) and self.slot.startswith("?") else self.slot
        result = chunk[slot]
        if self.is_variable and not self.is_negated:
            return bindings.setdefault(self.text, result) == result
        expected = bindings[self.text] if self.is_variable else self.text
        return (result == expected) != self.is_negated


def _chunk(text: str) -> Chunk:
    chunk: Chunk = {}
    for position, word in enumerate(text.split()):
        slot, separator, rest = word.partition(":")
        chunk[slot if separator else position] = rest if separator else word
    return chunk


def _tests(patterns: Mapping[str | None, str]) -> list[_Test]:
    """The conditions of patterns by buffer; those that only read variables come last."""
    result = [test for buffer, pattern in patterns.items() for test in _word_tests(buffer, pattern)]
    return sorted(result, key=lambda test: test.is_variable and test.is_negated)


def _word_tests(buffer: str | None, pattern: str) -> Iterator[_Test]:
    for position, word in enumerate(pattern.split()):
        named = _SLOT.fullmatch(word)
        slot: Datum = int(named[1]) if named and named[1].isdigit() else named[1] if named else position
        rest = named[2] if named else word
        while rest and rest != "?":
            match = _TEST.match(rest)
            if match is None:
                raise RunError(f"pattern {pattern!r} has {rest!r}, which is no text and no variable")
            is_variable = match["variable"] is not None
            text = match["variable"][1:] if is_variable else match["text"]
            yield _Test(buffer, slot, text, is_variable, bool(match["negated"] or match["unlike"]))
            rest = rest[match.end() :]


def _bindings(tests: list[_Test], chunks: Mapping[str | None, Chunk | None]) -> dict[str, str] | None:
    """What the variables are bound to where all conditions hold, else None."""
    bindings: dict[str, str] = {}
    for test in tests:
        chunk = chunks.get(test.buffer)
        try:
            if chunk is None or not test.is_met(chunk, bindings):
                return None
        except KeyError:
            return None
    return bindings


def _matched(production: Mapping[str, Datum], context: Mapping[str, Datum]) -> dict[str, str] | None:
    patterns: dict[str | None, str] = {part["buffer"]: pattern_to_string(part) for part in production["lhs"]}
    chunks: dict[str | None, Chunk | None] = {**context}
    return _bindings(_tests(patterns), chunks)
