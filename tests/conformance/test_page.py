"""docs/conformance.md says what the engines do: the versions that are pinned, and the statuses of a run."""

import re
from pathlib import Path

import pytest
from dependencies import require_all

from whorl.conformance import load_cases, run
from whorl.conformance.backends import BACKENDS, PACKAGES, backend_version
from whorl.conformance.clauses import CLAUSES
from whorl.conformance.report import BY_CPU, clause_cells, row
from whorl.conformance.runner import Result

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "conformance.md").read_text(encoding="utf-8")
CASES = {case.name: case for case in load_cases()}
ENGINES = [engine for engine in BACKENDS if engine != "whorl"]
RENEW = "make conformance"
PATIENCE = 60.0
"""Seconds for a case whose status differs, which gets a second, less hurried try."""


HANG = 3.0
"""Seconds for a case that takes more than ten, says the page."""


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def shown(engine: str) -> dict[str, str]:
    """The status of each case on the page."""
    rows = [cells(line) for line in PAGE.splitlines() if line.startswith("| ")]
    position = list(BACKENDS).index(engine) - len(BACKENDS)
    return {row[0]: row[position] for row in rows if row[0] in CASES}


def agrees(engine: str, result: Result, page: dict[str, str]) -> bool:
    allowed = {"pass", "wrong"} if result.case in BY_CPU.get(engine, ()) else {page[result.case]}
    return result.status in allowed


def version_on_page(engine: str) -> str:
    (version,) = re.findall(rf"^\|  \|.*\| {engine} (\S+) \|", PAGE, re.MULTILINE)
    return version


@pytest.mark.parametrize("engine", ENGINES)
def test_page_is_of_the_versions_that_are_pinned(engine):
    pins = dict(re.findall(r"^(\S+)==(\S+)$", (CHECKOUT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    assert version_on_page(engine) == pins[PACKAGES.get(engine, engine)], RENEW


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_page_has_the_statuses_of_a_run(engine):
    package = PACKAGES.get(engine, engine)
    pytest.importorskip(package, reason=f"{package} is not installed")
    if backend_version(engine) != version_on_page(engine) and not require_all():
        pytest.skip(f"the page is of {engine} {version_on_page(engine)}, {backend_version(engine)} is installed")
    page = shown(engine)
    hanging = [CASES[name] for name, status in page.items() if status == "timeout"]
    others = [CASES[name] for name, status in page.items() if status != "timeout"]
    results = [*run(engine, cases=others), *run(engine, timeout=HANG, cases=hanging)]
    other = [result.case for result in results if not agrees(engine, result, page)]
    again = run(engine, timeout=PATIENCE, workers=1, cases=[CASES[name] for name in other])
    assert {result.case: result.status for result in again if not agrees(engine, result, page)} == {}, RENEW


def test_page_quotes_every_sentence():
    lines = PAGE.splitlines()
    assert [name for name, clause in CLAUSES.items() if row(clause_cells(name, clause)) not in lines] == []
