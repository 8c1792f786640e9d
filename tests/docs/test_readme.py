"""The numbers of README.md that other pages hold, and the links of all pages."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"\*\*(?P<count>\d+) (?:cases that ONNX's text decides|open cases)\*\*.*\n\| pass \|(?P<passed>.*)\|"
)
LINK = re.compile(r"\]\((?!https?:|reference/|gallery/|measured.svg)(?P<target>[^)#]+)")
"""Links between files; what the site makes, such as the reference, is checked as part of it."""
NAMED = re.compile(r"`(?P<path>(?:docs|tests|bench|examples|src)/[\w./-]+\.\w+)`")


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("| ").split("|")]


def test_readme_has_the_conformance_counts_of_the_generated_page() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    page = (CHECKOUT / "docs" / "conformance.md").read_text(encoding="utf-8")
    actual = {block["count"]: cells(block["passed"]) for block in BLOCK.finditer(page)}
    shown = {
        match["count"]: cells(match["passed"])
        for match in re.finditer(
            r"^\| control flow, (?P<count>\d+) cases .*? \|(?P<passed>.*)\|$", readme, re.MULTILINE
        )
    }
    assert len(actual) == 2
    assert shown == actual


@pytest.mark.parametrize(
    ("row", "failures"),
    [("`onnx.backend.test`", "conformance"), ("node tests", "archive")],
)
def test_readme_counts_every_case_that_is_no_known_failure(row: str, failures: str) -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(rf"^\| {re.escape(row)}.*, (\d+) cases \| (\d+) \|", readme, re.MULTILINE)
    lines = (CHECKOUT / "tests" / failures / "known_failures.txt").read_text(encoding="utf-8").splitlines()
    known = [line for line in lines if line.strip() and not line.startswith("#")]
    assert int(shown[1]) == int(shown[0]) - len(known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    linked = [page.parent / match["target"] for match in LINK.finditer(text)]
    named = [CHECKOUT / match["path"] for match in NAMED.finditer(text) if "*" not in match["path"]]
    assert not [str(path) for path in (*linked, *named) if not path.exists()]
