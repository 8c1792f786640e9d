"""What `check` finds: one record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One finding: a stable code, `error`, `warning` or `note`, the place, what it is, and what to do."""

    code: str
    severity: str
    where: str
    message: str
    fix: str
