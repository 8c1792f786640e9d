"""What an error suggests where a name is not known."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def suggest(name: object, known: Iterable[str]) -> str:
    """`did you mean 'Gather'?`, or nothing where no name is near; a caller's name may be any object."""
    import difflib

    near = difflib.get_close_matches(str(name), known, 1)
    return f"did you mean {near[0]!r}?" if near else ""


def choose(name: object, known: Collection[str]) -> str:
    """The name that may have been meant, or all that there are."""
    return suggest(name, known) or f"choose from {', '.join(known) or 'none'}"
