"""The suite on whorl, and the suite itself: its cases, its comparison, its runner and its page."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from whorl.conformance import load_cases, run, run_and_report
from whorl.conformance.case import Case
from whorl.conformance.cases import THEMES
from whorl.conformance.clauses import CLAUSES
from whorl.conformance.compare import difference
from whorl.conformance.report import case_cells, row
from whorl.conformance.rules import RULES
from whorl.conformance.values import f32, f64, i64, words
from whorl.errors import RunError

CASES = {case.name: case for case in load_cases()}
PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
PATIENCE = 60.0
"""Seconds for one case: several processes compile at once, and a machine has other things to do."""
VERSIONS = {"Loop": {1, 11, 13, 16, 19, 21, 23, 24, 25}, "If": {1, 11, 13, 16, 19, 21, 23, 24, 25}}
VERSIONS |= {"Scan": {8, 9, 11, 16, 19, 21, 23, 24, 25}, "SequenceMap": {17}}


@pytest.fixture(scope="session")
def results():
    return {result.case: result for result in run("whorl", timeout=PATIENCE)}


@pytest.mark.parametrize("name", CASES)
def test_case_passes_on_whorl(results, name):
    assert (results[name].status, results[name].message) == ("pass", "")


def test_names_are_unique_and_plain():
    names = [case.name for case in load_cases()]
    assert len(names) == len(set(names)) >= 160
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


def test_every_rule_has_cases():
    assert set(RULES) >= set(range(1, 16))
    assert {rule for case in CASES.values() for rule in case.rules} == set(RULES)


def test_every_version_of_every_op_has_cases():
    ops = {op for case in CASES.values() for op in case.control_ops}
    assert ops == {f"{name}-{version}" for name, versions in VERSIONS.items() for version in versions}


def test_every_file_of_cases_is_a_theme():
    folder = Path(__file__).parents[2] / "src" / "whorl" / "conformance" / "cases"
    assert {file.stem for file in folder.glob("*.py")} - {"__init__"} == set(THEMES)


@pytest.mark.parametrize("name", [case.name for case in CASES.values() if not case.ambiguous and not case.error])
def test_model_that_is_not_open_satisfies_the_checker(name):
    onnx.checker.check_model(CASES[name].proto, full_check=True)


def test_page_lists_every_case():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if (first := re.match(r"\| (\w+) \|", line)) and first[1] in CASES]
    expected = [row(case_cells(case)) for case in CASES.values()]
    assert [" | ".join(line.split(" | ")[:5]) + " |" for line in listed] == expected, (
        "python -m whorl.conformance --page docs/conformance.md"
    )


def test_page_states_the_number_of_cases():
    assert f"\n{len(CASES)} small models" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("expected", "got", "text"),
    [
        ([f32([1, np.nan])], [f32([1, np.nan])], ""),
        ([f32(1)], [f64(1)], "output 0: dtype float64, expected float32"),
        ([f32([1])], [f32(1)], "output 0: shape [], expected [1]"),
        ([f32(0.0)], [f32(-0.0)], "output 0: -0., expected 0."),
        ([i64(1), i64(2)], [i64(1), i64(3)], "output 1: 3, expected 2"),
        ([i64(1)], [], "0 outputs, expected 1"),
        ([None], [None], ""),
        ([None], [i64(1)], "output 0: 1, expected None"),
        ([[i64(1)]], [[i64(1), i64(2)]], "output 0: 2 items, expected 1"),
        ([[i64(1), i64(2)]], [[i64(1), i64(3)]], "output 0: item 1: 3, expected 2"),
        ([i64([1])], [[i64(1)]], "output 0: a sequence of 1, expected [1]"),
        ([words(["a", "b"])], [np.array(["a", "b"])], ""),
        ([words("a")], [words("b")], "output 0: 'b', expected 'a'"),
    ],
)
def test_difference_is_said_in_words(expected, got, text):
    assert difference(expected, got) == text


def test_difference_within_tolerance_is_none():
    assert difference([f32(1)], [f32(1.00001)], 1e-4) == ""
    assert difference([f32(1)], [f32(1.00001)]) != ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "status"),
    [
        ("crashes", "crash"),
        ("hangs", "timeout"),
        ("lies", "wrong"),
        ("lacks", "unsupported"),
        ("refuses", "error"),
        ("prints", "error"),
    ],
)
def test_broken_engine_gets_its_status(engine, status):
    timeout = 1.0 if engine == "hangs" else 20.0
    (result,) = run(f"conformance.broken_engines:{engine}", ["swap_2_trips"], timeout)
    assert (result.case, result.status) == ("swap_2_trips", status)


@pytest.mark.slow
def test_crash_after_another_case_is_tried_again_in_a_fresh_process():
    found = run("conformance.broken_engines:crashes_when_used", ["swap_*_trips"], workers=1)
    assert {result.status for result in found} == {"wrong"}


def test_error_case_needs_its_control_to_run():
    case = CASES["error_scan_lengths_differ"]
    (result,) = run("conformance.broken_engines:refuses", cases=[case])
    assert (result.status, result.message) == ("error", "with inputs that are right: ValueError: not this one")
    (result,) = run("conformance.broken_engines:refuses", cases=[replace(case, control=None)])
    assert result.status == "pass"
    (result,) = run("conformance.broken_engines:lies", cases=[case])
    assert (result.status, result.message) == ("wrong", "gave values where an error is due")


def test_unknown_backend_is_an_error():
    with pytest.raises(RunError, match="'nonesuch' cannot be loaded: no backend 'nonesuch'; there are whorl,"):
        run("nonesuch")
    with pytest.raises(RunError) as caught:
        run("nonesuch.engine:load")
    assert str(caught.value) == (
        "the backend 'nonesuch.engine:load' cannot be loaded: No module named 'nonesuch'\n"
        "  fix: install it, or put its folder on PYTHONPATH"
    )


def test_case_without_expectation_is_refused():
    with pytest.raises(ValueError, match="empty: give exactly one of expected, error and check"):
        Case("empty", (1,), "Nothing.", "main () => () {}")


@pytest.mark.slow
def test_report_is_table_and_json(capsys, tmp_path):
    file = tmp_path / "results.json"
    assert run_and_report("whorl", file, ["while_limit_*"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "pass         3"
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["backend"] == "whorl"
    assert document["counts"]["pass"] == 3
    assert document["results"][0] | {"seconds": 0} == {
        "case": "while_limit_1",
        "backend": "whorl",
        "status": "pass",
        "message": "",
        "seconds": 0,
        "rules": [1, 4],
        "ambiguous": False,
        "clauses": [
            {"source": "Loop", "text": CLAUSES["while"].text},
            {"source": "Loop", "text": CLAUSES["carried"].text},
            {"source": "Loop", "text": CLAUSES["stacked"].text},
        ],
    }


def test_report_of_a_wrong_engine_fails(capsys):
    assert run_and_report("conformance.broken_engines:lies", only=["while_limit_1"]) == 1
    assert "while_limit_1  wrong              1 outputs, expected 2" in capsys.readouterr().out


def test_report_without_cases_is_an_error():
    with pytest.raises(RunError, match="no case is named like nix"):
        run_and_report("whorl", only=["nix*"])
