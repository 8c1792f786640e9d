"""What is said of ops whose rows do not fit under each other."""

import pytest

from whorl.ir.graph import REGISTRY
from whorl.passes.vectorize.rules.refusals import REASONS


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Unique", "results of rows may differ in length"),
        ("Range", "results of rows may differ in length"),
        ("SequenceErase", "a sequence has no axis for rows"),
        ("OptionalHasElement", "an optional has no axis for rows"),
        ("ZipMap", "a map has no axis for rows"),
        ("Gradient", "the graph that it derives is not among its inputs"),
    ],
)
def test_reason_names_what_is_in_the_way(name, why):
    assert REASONS[REGISTRY[name]] == why
