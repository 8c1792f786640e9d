"""What `check` finds: one record."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One finding: a stable code, `error`, `warning` or `note`, the place, what it is, and what to do."""

    code: str
    severity: str
    where: str
    message: str
    fix: str
