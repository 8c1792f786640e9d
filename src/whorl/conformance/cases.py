"""The cases, theme by theme, from the suite's data files."""

from __future__ import annotations

from typing import Any

from whorl.conformance.case import Case
from whorl.conformance.checks import make_check
from whorl.conformance.files import read_json, read_model
from whorl.conformance.values import decode

THEMES: tuple[str, ...] = tuple(read_json("suite")["themes"])
"""The names of the files that hold cases, in the order of the report."""


def load_themes() -> dict[str, list[Case]]:
    """Every case, by theme; the files are read when this is called."""
    return {theme: [make_case(theme, row) for row in read_json(theme)["cases"]] for theme in THEMES}


def load_cases() -> list[Case]:
    """Every case, theme by theme."""
    return [case for cases in load_themes().values() for case in cases]


def make_case(theme: str, row: dict[str, Any]) -> Case:
    """The case that an entry of a theme's file describes."""
    return Case(
        row["name"],
        rules=tuple(row["rules"]),
        doc=row["shows"],
        model=read_model(theme, row["model"]),
        inputs={name: decode(value) for name, value in row["inputs"].items()},
        expected=[decode(value) for value in row["expected"]] if "expected" in row else None,
        error=row.get("error", False),
        check=make_check(row["check"]) if "check" in row else None,
        control={name: decode(value) for name, value in row["control"].items()} if "control" in row else None,
        tolerance=row.get("tolerance", 0.0),
        repeat=row.get("repeat", 1),
        sessions=row.get("sessions", 1),
        may_refuse=row.get("may_refuse", False),
        ambiguous=row.get("open", False),
        decided_by=tuple(row.get("decided_by", ())),
    )
