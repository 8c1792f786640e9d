"""The suite as commands: run a backend and report, or compare backends on a page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from whorl.conformance.cases import load_cases
from whorl.conformance.report import is_conformant, page, table, to_json
from whorl.conformance.runner import run
from whorl.errors import RunError


def run_and_report(
    backend: str, json_file: str | Path | None = None, only: Sequence[str] | None = None, timeout: float = 10.0
) -> int:
    """Run the suite on a backend, print a table, and write the results as JSON to a file where one is named.

    `only` are patterns of case names. Returns 1 if a case that ONNX's text decides is wrong or ends in an error, a
    crash or a timeout; unsupported cases do not count. Errors: RunError for an unknown backend or no chosen case.
    """
    cases = load_cases()
    results = run(backend, only, timeout)
    if not results:
        raise RunError(f"no case is named like {', '.join(only or ())}", fix="patterns are as in while_*")
    sys.stdout.write(table(results, cases) + "\n")
    if json_file is not None:
        Path(json_file).write_text(to_json(backend, results, cases), encoding="utf-8")
    return 0 if is_conformant(results, cases) else 1


def write_page(file: str | Path, backends: Sequence[str]) -> None:
    """Run the suite on several backends and write the page that compares them."""
    Path(file).write_text(page({backend: run(backend) for backend in backends}), encoding="utf-8")
