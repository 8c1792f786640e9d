"""What an error suggests where a name is not known."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable


def suggest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'Gather'?`, or nothing where no name is near."""
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else ""


def choose(name: str, known: Collection[str]) -> str:
    """The name that may have been meant, or all that there are."""
    return suggest(name, known) or f"choose from {', '.join(known) or 'none'}"
