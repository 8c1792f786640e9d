"""Packages that tests need beyond whorl's own: where one is missing they skip, or fail if `WHORL_REQUIRE_ALL=1`.

Continuous integration sets the variable: there the `test` extra is installed, so a missing package is a mistake.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any

import pytest

VARIABLE = "WHORL_REQUIRE_ALL"


def require_all() -> bool:
    """Whether a missing dependency is a failure."""
    return os.environ.get(VARIABLE) == "1"


def import_or_fail(name: str, *_: Any, **__: Any) -> ModuleType:
    """In the place of `pytest.importorskip`: the package, or an ImportError."""
    return importlib.import_module(name)


def forbid_skips() -> None:
    """Let `pytest.importorskip` raise instead of skip, where every dependency is required."""
    if require_all():
        pytest.importorskip = import_or_fail
