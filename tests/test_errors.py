"""Errors: what a text says, locations, and which classes catch which."""

import pickle

import pytest

from whorl import errors
from whorl.errors import LoadError, RunError, WhorlError, format_location, format_title

KINDS = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, WhorlError)]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (WhorlError("it failed"), "it failed"),
        (WhorlError("it failed", "Add 'a'"), "Add 'a': it failed"),
        (WhorlError("it failed", fix="do this"), "it failed\n  fix: do this"),
        (WhorlError("it failed", "Add 'a'", "do this"), "Add 'a': it failed\n  fix: do this"),
        (WhorlError(""), ""),
    ],
)
def test_text_has_location_message_and_fix(error, text):
    assert str(error) == text


@pytest.mark.parametrize("kind", KINDS)
def test_location_is_added_once_and_the_class_remains(kind):
    error = kind("it failed", fix="do this")
    located = error.at("Add 'a'")
    assert type(located) is kind and (located.message, located.where, located.fix) == (
        "it failed",
        "Add 'a'",
        "do this",
    )
    assert located.at("elsewhere") is located and error.where == ""


@pytest.mark.parametrize("kind", KINDS)
def test_error_survives_pickling(kind):
    error = pickle.loads(pickle.dumps(kind("it failed", "Add 'a'", "do this")))
    assert type(error) is kind and str(error) == "Add 'a': it failed\n  fix: do this"


def test_limits_are_run_errors_and_unsupported_models_cannot_be_loaded():
    limits = (errors.IterationLimitError, errors.TimeLimitError, errors.MemoryLimitError, errors.CancelledError)
    assert all(issubclass(limit, errors.LimitError) for limit in limits) and issubclass(errors.LimitError, RunError)
    assert issubclass(errors.UnsupportedError, LoadError) and not issubclass(LoadError, RunError)
    assert errors.RemovalError is errors.DeloopError


def test_location_goes_from_the_node_outwards():
    assert format_title("Gather", "read_row") == "Gather 'read_row'" and format_title("Gather", "") == "Gather"
    assert format_location("Gather 'g'") == "Gather 'g'"
    regions = "body of Loop 'l' (iteration 3)", "then_branch of If"
    assert (
        format_location("Gather 'g'", *regions) == "Gather 'g' in body of Loop 'l' (iteration 3) in then_branch of If"
    )
