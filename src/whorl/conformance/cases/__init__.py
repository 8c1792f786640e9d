"""The cases, one theme a file."""

from __future__ import annotations

from types import ModuleType

from whorl.conformance.case import Case
from whorl.conformance.cases import (
    bodies,
    branches,
    captured,
    carried,
    collected,
    element_types,
    errors,
    functions,
    modes,
    nested,
    numbers,
    programs,
    random_ops,
    scan,
    scan_8,
    sequences,
    versions,
)

THEMES: tuple[ModuleType, ...] = (
    modes,
    carried,
    collected,
    captured,
    element_types,
    numbers,
    sequences,
    scan,
    scan_8,
    branches,
    nested,
    bodies,
    functions,
    random_ops,
    versions,
    errors,
    programs,
)


def load_cases() -> list[Case]:
    """Every case, theme by theme."""
    return [case for theme in THEMES for case in theme.CASES]
