"""The reports: what the page, the table and the JSON say of results."""

import json
import re
from pathlib import Path

from whorl.conformance import Result, load_cases
from whorl.conformance.report import case_cells, is_conformant, row, table, to_json

CASES = {case.name: case for case in load_cases()}
PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
DECIDED, OPEN = "while_limit_1", "random_seed_repeats"


def test_page_lists_every_case():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if (first := re.match(r"\| (\w+) \|", line)) and first[1] in CASES]
    expected = [row(case_cells(case)) for case in CASES.values()]
    assert [" | ".join(line.split(" | ")[:5]) + " |" for line in listed] == expected, (
        "python -m whorl.conformance --page docs/conformance.md"
    )


def test_page_states_the_number_of_cases():
    assert f"\n{len(CASES)} small models" in PAGE.read_text(encoding="utf-8")


def result(case, status, message=""):
    return Result(case, "mine", status, message)


def test_table_counts_and_explains():
    results = [result(DECIDED, "pass"), result(OPEN, "wrong", "two\nlines")]
    assert table(results, CASES.values()).splitlines() == [
        "pass         1",
        "wrong        1",
        "error        0",
        "crash        0",
        "timeout      0",
        "unsupported  0",
        "random_seed_repeats  wrong        open  two lines",
    ]


def test_engine_is_conformant_where_decided_cases_pass_or_are_unsupported():
    assert is_conformant([result(DECIDED, "unsupported"), result(OPEN, "crash")], CASES.values())
    assert not is_conformant([result(DECIDED, "error")], CASES.values())


def test_json_has_rules_and_sentences_of_each_case():
    (entry,) = json.loads(to_json("mine", [result(OPEN, "pass")], CASES.values()))["results"]
    assert (entry["rules"], entry["ambiguous"], entry["clauses"]) == ([12], True, [])


def test_row_escapes_bars():
    assert row(["a|b", "c"]) == "| a\\|b | c |"
