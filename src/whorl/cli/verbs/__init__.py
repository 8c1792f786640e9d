"""The verbs of the command line, one a file: a new verb is a new file here.

Its docstring is the help, `add_arguments(parser)` adds its options, `execute(arguments)` returns the exit code.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

FIRST = "run", "show", "check", "convert", "opt", "optimize", "deloop", "compile", "compare", "bench"
"""The verbs that the help lists first; others follow by name."""


def _rank(name: str) -> tuple[int, str]:
    return FIRST.index(name) if name in FIRST else len(FIRST), name


_NAMES = sorted((module.name for module in pkgutil.iter_modules(__path__)), key=_rank)
VERBS: dict[str, ModuleType] = {
    name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}") for name in _NAMES
}
