"""`whorl conformance`: the suite's command; what the suite itself does is tested with the suite."""

import json

import pytest

ONE = ("--only", "swap_2_trips")


def test_table_of_chosen_cases(whorl):
    report = whorl("conformance", *ONE)
    assert (report.code, report.err) == (0, "")
    assert report.out.splitlines()[0].split() == ["pass", "1"]


def test_patterns_may_be_repeated(whorl):
    report = whorl("conformance", *ONE, "--only", "swap_*", "--json")
    names = {result["case"] for result in report.document["results"]}
    assert "swap_2_trips" in names and len(names) > 1 and report.document["counts"]["pass"] == len(names)


def test_json_is_printed_or_written(whorl, tmp_path):
    report = whorl("conformance", *ONE, "--json")
    assert report.code == 0 and report.document["backend"] == "whorl"
    file = tmp_path / "results.json"
    report = whorl("conformance", *ONE, "--json", file)
    assert report.code == 0 and report.out.startswith("pass ")
    assert [result["status"] for result in json.loads(file.read_text())["results"]] == ["pass"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_failing_engine_ends_with_1(whorl, form):
    report = whorl("conformance", "--backend", "conformance.broken_engines:refuses", *ONE, *form)
    assert report.code == 1 and "ValueError: not this one" in report.out


def test_no_such_case_or_backend_is_an_error(whorl):
    report = whorl("conformance", "--only", "nothing_*", "--only", "none")
    assert (report.code, report.out) == (2, "")
    assert report.err == "whorl: no case is named like nothing_*, none\n  fix: patterns are as in while_*\n"
    assert whorl("conformance", "--only", "none", "--json").document["error"]["kind"] == "UsageError"
    report = whorl("conformance", "--backend", "abacus")
    assert report.code == 2 and report.err.startswith("whorl: there is no backend 'abacus'\n  fix: choose from whorl, ")


def test_cases_are_exported(whorl, tmp_path):
    report = whorl("conformance", *ONE, "--export", tmp_path / "cases")
    assert (report.code, report.out) == (0, f"1 cases in {tmp_path / 'cases'}\n")
    assert (tmp_path / "cases" / "decided" / "swap_2_trips" / "model.onnx").is_file()
    again = whorl("conformance", "--export", tmp_path / "cases")
    assert again.code != 0 and "is not empty" in again.err
