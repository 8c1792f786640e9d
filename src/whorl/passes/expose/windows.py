"""Which iterations are recorded: spans of the iteration numbers of the loops around a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct


class Span(Struct, frozen=True):
    """The iterations `start`, `start + step`, ... before `stop`, or without an end."""

    start: int = 0
    stop: int | None = None
    step: int = 1


Window = Mapping[str, Sequence[Span]]
"""By the path of a loop, spans of its iterations, of which one has to have an iteration; other loops have all."""


def only(iterations: Mapping[str, int]) -> dict[str, tuple[Span, ...]]:
    """The window of one iteration of each of some loops."""
    return {path: (Span(number, number + 1),) for path, number in iterations.items()}
