"""The pages of docs/contributing: linked, with files that exist, and with diffs of the commits that they name."""

import re
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = sorted((CHECKOUT / "docs" / "contributing").glob("*.md"))
FILE = re.compile(r"\b(?:docs|tests|src)/[\w./-]+\.(?:py|md)\b")
DIFF = re.compile(r"from `git show (?P<commit>\w+) -- [^`]+`:\n\n```diff\n(?P<lines>.*?)```", re.DOTALL)
DIFFS = [
    pytest.param(actual["commit"], actual["lines"], id=f"{page.stem}-{actual['commit']}")
    for page in PAGES
    for actual in DIFF.finditer(page.read_text(encoding="utf-8"))
]


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False)


def test_contributing_links_each_page() -> None:
    linked = re.findall(r"\]\(docs/contributing/([\w-]+\.md)\)", (CHECKOUT / "CONTRIBUTING.md").read_text("utf-8"))
    assert sorted(linked) == [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_names_files_that_exist(page: Path) -> None:
    text = DIFF.sub("", page.read_text(encoding="utf-8"))
    assert FILE.search(text)
    assert not [path for path in FILE.findall(text) if not (CHECKOUT / path).exists()]


def test_each_how_to_has_a_diff() -> None:
    without = [page.stem for page in PAGES if not DIFF.search(page.read_text(encoding="utf-8"))]
    assert without == ["first-day"]


@pytest.mark.parametrize(("commit", "lines"), DIFFS)
def test_diff_is_that_of_the_commit(commit: str, lines: str) -> None:
    if git("cat-file", "-e", f"{commit}^{{commit}}").returncode:
        pytest.skip(f"the history of this checkout does not hold {commit}: it is shallow, or no clone")
    real = git("show", "--format=", commit).stdout.splitlines()
    changed = [line for line in lines.splitlines() if line.startswith(("+", "-"))]
    assert changed
    assert not [line for line in changed if line not in real]
