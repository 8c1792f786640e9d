"""The runner: whorl passes every case, and an engine that fails in any way gets its status."""

import pytest
from msgspec.structs import replace

from whorl.conformance import load_cases, run
from whorl.conformance.runner import Result, counts, matches
from whorl.errors import RunError

CASES = {case.name: case for case in load_cases()}
PATIENCE = 60.0
"""Seconds for one case: several processes compile at once, and a machine has other things to do."""


@pytest.fixture(scope="session")
def results():
    return {result.case: result for result in run("whorl", timeout=PATIENCE)}


@pytest.mark.parametrize("name", CASES)
def test_case_passes_on_whorl(results, name):
    assert (results[name].status, results[name].message) == ("pass", "")


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
    results = run("conformance.broken_engines:crashes_when_used", ["swap_*_trips"], workers=1)
    assert {result.status for result in results} == {"wrong"}


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


def test_names_match_by_patterns():
    assert matches("while_limit_1", None)
    assert matches("while_limit_1", ["for_*", "while_*"])
    assert not matches("while_limit_1", ["while"])


def test_counts_have_every_status():
    results = [Result("a", "whorl", "pass"), Result("b", "whorl", "crash"), Result("c", "whorl", "pass")]
    assert counts(results) == {"pass": 2, "wrong": 0, "error": 0, "crash": 1, "timeout": 0, "unsupported": 0}
