"""The suite as commands: the table and JSON of a backend, and its exit code."""

import json

import pytest

from whorl.conformance import run_and_report, write_page
from whorl.conformance.clauses import CLAUSES
from whorl.errors import RunError


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


def test_page_compares_backends(monkeypatch, tmp_path):
    monkeypatch.setattr("whorl.conformance.suite.run", lambda backend: [])
    write_page(tmp_path / "page.md", ["mine", "yours"])
    assert "\n|  | mine | yours |\n" in (tmp_path / "page.md").read_text(encoding="utf-8")
