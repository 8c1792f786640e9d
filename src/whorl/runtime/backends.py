"""The backends: what of a model is compiled, and when."""

from __future__ import annotations

import os

from msgspec import Struct

from whorl.errors import RunError


class Mode(Struct, frozen=True):
    """What compiles: a loop after so many interpreted iterations (None never), other nodes (`subgraphs`) at once.

    `waits`: a run waits for the compiler; else the interpreter serves until the code is there.
    """

    loops_after: int | None
    subgraphs: bool
    waits: bool

    @property
    def compiles(self) -> bool:
        return self.subgraphs or self.loops_after is not None


BACKENDS = {"native": Mode(0, True, True), "auto": Mode(500, True, False), "interpreter": Mode(None, False, True)}
"""The backends by name."""
ONCE = Mode(500, False, True)
"""For a program that runs once: only a long loop is worth compiling."""


def choose_mode(name: str | Mode | None, once: bool) -> Mode:
    """The backend named, else the one of the environment variable WHORL_BACKEND, else native code."""
    if isinstance(name, Mode):
        return name
    chosen = name or os.environ.get("WHORL_BACKEND")
    if not chosen:
        return ONCE if once else BACKENDS["native"]
    if chosen not in BACKENDS:
        raise RunError(f"there is no backend {chosen!r}", fix=f"choose from {', '.join(BACKENDS)}")
    return BACKENDS[chosen]
