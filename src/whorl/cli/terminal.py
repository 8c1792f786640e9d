"""Colours, where the output is a terminal that has them and NO_COLOR is not set."""

from __future__ import annotations

import os
import sys
from typing import TextIO

COLOURS = {"bad": "31", "good": "32", "doubtful": "33", "hint": "36"}
RESET = "\033[0m"


def has_colours(stream: TextIO) -> bool:
    """Whether a stream shows colours: a terminal that is not dumb, on Windows one that says so, without NO_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return False
    return os.name != "nt" or bool(os.environ.get("WT_SESSION") or os.environ.get("TERM"))


def paint(text: str, meaning: str, stream: TextIO | None = None) -> str:
    """A text in the colour of what it means, for a stream (standard output where None is named)."""
    return f"\033[{COLOURS[meaning]}m{text}{RESET}" if text and has_colours(stream or sys.stdout) else text
