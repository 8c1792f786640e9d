"""Cases of the control-flow suite, embedded: onnxruntime gives what the specification says."""

from collections import Counter

import numpy as np
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    NotImplemented,
    RuntimeException,
)

import whorl
from embed.running import embedded_session, plain_session
from whorl.conformance.cases import load_cases
from whorl.conformance.messages import Answer
from whorl.conformance.runner import verdict

HONOURED = {
    "for_ignores_body_condition_2_trips",
    "for_ignores_body_condition_6_trips",
    "for_always_false_body_condition",
    "neither_runs_until_the_body_fails",
    "omitted_condition_is_true_in_body",
}
"""Cases of loops without a condition: embedded ones heed what the body answers, as onnxruntime does."""


@pytest.mark.slow
def test_cases_with_tensors_at_the_border_give_what_is_expected(tmp_path):
    counts: Counter[str] = Counter()
    for case in load_cases()[::5]:
        if case.check or case.repeat > 1 or case.name in HONOURED or not is_loadable(case.data):
            continue
        try:
            session, made = embedded_session(case.data, tmp_path)
        except whorl.LoadError:
            continue
        if not made.library:
            assert all(region.reason for region in made.regions)
            counts["stays"] += 1
            continue
        if case.error:
            with pytest.raises(Exception, match="Status Message: "):
                session.run(None, dict(case.inputs))
            counts["error"] += 1
            continue
        answer = Answer("ran", runs=(tuple(session.run(None, dict(case.inputs))),))
        assert verdict(case, answer)[0] == "pass", case.name
        counts["pass"] += 1
    assert counts["pass"] > 2 * counts["stays"]
    assert counts["error"]


def is_loadable(data: bytes) -> bool:
    """Whether onnxruntime loads a model as it is."""
    try:
        plain_session(data)
    except (Fail, InvalidArgument, InvalidGraph, NotImplemented, RuntimeException):
        return False
    return True


@pytest.mark.parametrize("name", ["program_sieve", "collected_used_after_the_loop"])
def test_length_that_only_the_run_knows_broadcasts_where_it_is_one(tmp_path, name):
    (case,) = (case for case in load_cases() if case.name == name)
    session, made = embedded_session(case.data, tmp_path)
    assert made.library
    answer = Answer("ran", runs=(tuple(session.run(None, dict(case.inputs))),))
    assert verdict(case, answer)[0] == "pass"


@pytest.mark.parametrize("name", sorted(HONOURED - {"neither_runs_until_the_body_fails"}))
def test_condition_that_is_left_out_means_what_it_means_in_onnxruntime(tmp_path, name):
    (case,) = (case for case in load_cases() if case.name == name)
    session, _ = embedded_session(case.data, tmp_path)
    expected = plain_session(case.data).run(None, dict(case.inputs))
    for e, actual in zip(expected, session.run(None, dict(case.inputs)), strict=True):
        np.testing.assert_array_equal(actual, e)
