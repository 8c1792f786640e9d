"""What WHORL_DEBUG asks for, to find mistakes in whorl itself: words between commas.

`dump:FOLDER` writes every kernel program, and every nest that programs share, as text and its LLVM IR after
optimisation. `programs` runs kernel programs by the interpreter of `kernel` instead of machine code. `guard` puts the
memory of every program against pages that nobody may touch, so that an access outside ends the process at once.
`poison` fills memory that has no contents yet, fresh or used before, with a pattern that no result has by chance.
`strict` raises what is otherwise recorded: a fault of whorl's own while it lowers or compiles, after which the
interpreter serves. `unoptimised` has LLVM optimise nothing. `spread` has several cores share all that they may,
however small. `perf` tells Linux's profiler the names of functions in memory.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from msgspec import Struct

from whorl.errors import RunError

WORDS = ("programs", "guard", "poison", "strict", "unoptimised", "spread", "perf")
POISON = 0x7FF5
"""Repeated, these 16 bits are NaN in float types of as many or more, out of range as indices, and neither 0 nor 1."""
POISONED_END = 1 << 23
"""Bytes at either end of a large array that are filled: to fill all of it takes longer than limits may."""
PERF_FOLDER = Path("/tmp")
"""Where perf looks for the names of functions in a process's memory."""
_NUMBERS = itertools.count()
_MARK = re.compile(r"; dumped as (\S+)\n")


class Debug(Struct, frozen=True):
    """What is asked for."""

    folder: Path | None = None
    by_programs: bool = False
    guarded: bool = False
    poisons: bool = False
    is_strict: bool = False
    is_unoptimised: bool = False
    spreads: bool = False
    names_code: bool = False

    @property
    def changes_runs(self) -> bool:
        return self.by_programs or self.guarded

    @property
    def needs_all_stages(self) -> bool:
        """Whether programs are needed as they were lowered, or other code than usual."""
        return self.changes_runs or self.is_unoptimised or self.spreads or self.folder is not None


@functools.cache
def debug() -> Debug:
    """What WHORL_DEBUG asked for when it was first looked at. Errors: RunError for a word it does not know."""
    words = [word for word in os.environ.get("WHORL_DEBUG", "").split(",") if word]
    folders = [Path(word.removeprefix("dump:")) for word in words if word.startswith("dump:")]
    unknown = [word for word in words if word not in WORDS and not word.startswith("dump:")]
    if unknown:
        raise RunError(f"WHORL_DEBUG asks for {unknown[0]!r}", fix=f"choose from dump:FOLDER, {', '.join(WORDS)}")
    return Debug(folders[0] if folders else None, *(word in words for word in WORDS))


def poison(array: np.ndarray) -> np.ndarray:
    """The same contiguous array, filled with a pattern where WHORL_DEBUG asks for it; a large one at both its ends."""
    if debug().poisons and array.nbytes:
        flat = array.reshape(-1).view(np.uint8)
        end = flat.size // 2 * 2
        half = min(end, POISONED_END)
        for part in (flat[:half], flat[end - half : end]):
            part.view("<u2")[:] = POISON
        flat[end:] = POISON & 0xFF
    return array


def dump_program(program: object, name: str = "") -> str:
    """Write a program to a file; returns the mark of the file, with which its LLVM IR begins, if WHORL_DEBUG dumps.

    Programs are numbered unless they have names of their own.
    """
    folder = debug().folder
    if folder is None:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{os.getpid()}-{name or next(_NUMBERS)}"
    (folder / f"{stem}.program").write_text(f"{program}\n", encoding="utf-8")
    return f"; dumped as {stem}\n"


def dump_module(source: str, module: object) -> None:
    """Write LLVM IR after optimisation beside the program that it was."""
    folder, mark = debug().folder, _MARK.match(source)
    if folder is not None and mark is not None:
        (folder / f"{mark[1]}.ll").write_text(f"{module}\n", encoding="utf-8")


def name_code(functions: Iterable[tuple[int, int, str]]) -> None:
    """Add functions, by address, size in bytes and name, to the file that perf reads, where WHORL_DEBUG asks for it."""
    if debug().names_code:
        with (PERF_FOLDER / f"perf-{os.getpid()}.map").open("a", encoding="utf-8") as file:
            file.writelines(f"{address:x} {size:x} {name}\n" for address, size, name in functions)
