"""The cases, one theme a file."""

from __future__ import annotations

from importlib import import_module

from whorl.conformance.case import Case

THEMES = (
    "modes",
    "conditions",
    "carried",
    "shapes",
    "collected",
    "captured",
    "names",
    "element_types",
    "numbers",
    "sequences",
    "optionals",
    "scan",
    "scan_8",
    "branches",
    "nested_branches",
    "nested",
    "bodies",
    "functions",
    "random_ops",
    "versions",
    "errors",
    "invalid_models",
    "programs",
    "recurrences",
)
"""The modules of this package that hold cases, in the order of the report."""


def load_themes() -> dict[str, list[Case]]:
    """Every case, by theme; the files are read when this is called."""
    return {theme: list(import_module(f"{__name__}.{theme}").CASES) for theme in THEMES}


def load_cases() -> list[Case]:
    """Every case, theme by theme."""
    return [case for cases in load_themes().values() for case in cases]
