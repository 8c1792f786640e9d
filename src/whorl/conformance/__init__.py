"""The public control-flow conformance suite: cases with expectations from first principles, for any engine.

The names are loaded when they are first used: a worker process imports this package and needs none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whorl.conformance.case import Case as Case
    from whorl.conformance.cases import load_cases as load_cases
    from whorl.conformance.runner import Result as Result
    from whorl.conformance.runner import run as run
    from whorl.conformance.suite import run_and_report as run_and_report
    from whorl.conformance.suite import write_page as write_page

_HOMES = {
    "Case": "case",
    "Result": "runner",
    "load_cases": "cases",
    "run": "runner",
    "run_and_report": "suite",
    "write_page": "suite",
}

__all__ = ["Case", "Result", "load_cases", "run", "run_and_report", "write_page"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'whorl.conformance' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"whorl.conformance.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
