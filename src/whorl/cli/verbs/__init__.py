"""The verbs of the command line, one a file: a new verb is a new file here.

Its docstring is the help, `add_arguments(parser)` adds its options, `execute(arguments)` returns the exit code. A verb
is imported when it is first asked for: `whorl run` waits for no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import ModuleType

from whorl.ir.forking import import_whole

FIRST = "run", "show", "check", "convert", "opt", "optimize", "deloop", "compile", "compare", "bench"
"""The verbs that the help lists first; others follow by name."""


class Verbs(Mapping[str, ModuleType]):
    """The verbs by name, in the order of the help."""

    def __init__(self) -> None:
        files = (entry.removesuffix(".py") for entry in os.listdir(__path__[0]) if entry.endswith(".py"))
        self._files = {file.replace("_", "-"): file for file in sorted(files, key=_rank) if file != "__init__"}

    def __getitem__(self, name: str) -> ModuleType:
        return import_whole(f"{__name__}.{self._files[name]}")

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def summary(self, name: str) -> str:
        """The first line of a verb's docstring, read without importing it."""
        with open(os.path.join(__path__[0], f"{self._files[name]}.py"), encoding="utf-8") as file:
            return file.readline().strip().strip('"')


def _rank(name: str) -> tuple[int, str]:
    return FIRST.index(name) if name in FIRST else len(FIRST), name


VERBS = Verbs()
