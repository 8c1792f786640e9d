"""A case: one expectation, and either open or decided by sentences."""

import pytest

from whorl.conformance import Case, load_cases
from whorl.conformance.case import nodes_of

CASES = {case.name: case for case in load_cases()}


def test_case_without_expectation_is_refused():
    with pytest.raises(ValueError, match="empty: give exactly one of expected, error and check"):
        Case("empty", (1,), "Nothing.", "main () => () {}")


@pytest.mark.parametrize(("ambiguous", "decided_by"), [(False, ()), (True, ("for",))])
def test_case_is_open_or_decided(ambiguous, decided_by):
    with pytest.raises(ValueError, match="odd: a case is open, or sentences decide it"):
        Case("odd", (1,), "Nothing.", "", error=True, ambiguous=ambiguous, decided_by=decided_by)


@pytest.mark.parametrize(
    ("changed", "text"),
    [({"rules": (99,)}, r"no such rule \[99\]"), ({"decided_by": ("it",)}, r"no such sentence \['it'\]")],
)
def test_unknown_name_is_refused(changed, text):
    fields = {"rules": (1,), "doc": "Nothing.", "model": "", "error": True, "decided_by": ("for",)} | changed
    with pytest.raises(ValueError, match=f"odd: {text}"):
        Case("odd", **fields)


def test_nodes_include_functions_and_bodies():
    ops = {node.op_type for node in nodes_of(CASES["functions_with_loops_depth_5"].proto)}
    assert {"level1", "Loop", "Identity"} <= ops


def test_control_ops_have_the_versions_of_the_model():
    assert CASES["scan_8_reverse"].control_ops == ("Scan-8",)
    assert CASES["scan_in_loop"].control_ops == ("Loop-16", "Scan-16")
