"""A pytest plugin: the suite's data files are test files, run on the engine that an option names.

pytest -p whorl.conformance.pytest_plugin --conformance-backend my_package.my_module:load --pyargs whorl.conformance
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from whorl.conformance.case import Case
from whorl.conformance.cases import THEMES, make_case
from whorl.conformance.files import FOLDER, read_json
from whorl.conformance.runner import Bench

BENCH = pytest.StashKey[Bench]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "control-flow conformance suite")
    group.addoption("--conformance-backend", metavar="NAME", help="an engine's name, or module:function for your own")
    group.addoption("--conformance-open", action="store_true", help="also run the cases that ONNX's text leaves open")
    group.addoption(
        "--conformance-timeout", type=float, default=10.0, metavar="SECONDS", help="for one question to the engine"
    )
    group.addoption(
        "--conformance-known-failures",
        type=Path,
        metavar="FILE",
        help="lines `case: reason` of cases that must fail; one that passes is a failure, so the list only shrinks",
    )


def pytest_configure(config: pytest.Config) -> None:
    backend = config.getoption("conformance_backend")
    if backend is not None:
        timeout: float = config.option.conformance_timeout
        config.stash[BENCH] = Bench(backend, timeout)


def pytest_unconfigure(config: pytest.Config) -> None:
    if BENCH in config.stash:
        config.stash[BENCH].close()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if BENCH in parent.config.stash and file_path.parent == FOLDER and file_path.stem in THEMES:
        return ThemeFile.from_parent(parent, path=file_path)
    return None


class ThemeFile(pytest.File):
    """The cases of one theme."""

    def collect(self) -> Iterator[pytest.Item]:
        failures = read_failures(self.config.getoption("conformance_known_failures"))
        for row in read_json(self.path.stem)["cases"]:
            case = make_case(self.path.stem, row)
            if case.ambiguous and not self.config.getoption("conformance_open"):
                continue
            item = CaseItem.from_parent(self, name=case.name, case=case)
            if case.name in failures:
                item.add_marker(pytest.mark.xfail(strict=True, reason=failures[case.name]))
            yield item


class CaseItem(pytest.Item):
    """One case; the engine runs it in a process of its own."""

    def __init__(self, *, case: Case, **fields: object) -> None:
        super().__init__(**fields)  # type: ignore[arg-type]  pytest passes on what `from_parent` was called with
        self.case = case

    def runtest(self) -> None:
        result = self.config.stash[BENCH].judge(self.case)
        if result.status == "unsupported":
            pytest.skip(result.message)
        if result.status != "pass":
            pytest.fail(f"{result.status}: {result.message}\n{self.case.doc}", pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def read_failures(path: Path | None) -> dict[str, str]:
    """Case -> reason, from a list with a line for each; `#` begins a comment."""
    if path is None:
        return {}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    return {name.strip(): reason.strip() for name, _, reason in (line.partition(":") for line in lines)}
